package window

import "sort"

// Summarize is the Manager that has the older half of a conversation summarised.
//
// From 80 % of the limit on, it requests a summary of the messages that no summary covers yet: of the
// older half of them, by tokens. The first summary covers the opening too, which is sent beside it as long as both
// fit. The messages that must be sent are never part of a summary. The next summary includes the last one, so no
// message is read twice for it. While nothing is left out, a half of less than 5 % of the limit is not worth a call
// that reads and writes the whole summary again; Summarize waits until the half has grown.
//
// What is sent depends on the summary:
//
//   - If a summary exists and all messages together are below 80 % of the limit, all messages are sent.
//     That can happen for a model with a larger window than the one that the summary was made for.
//   - Otherwise the opening, the summary, and the messages that it does not cover are sent.
//   - If no summary can be made, Summarize slides over the messages that the summary does not cover, as
//     [Sliding] does. The opening stays as long as it fits beside the summary and the messages that must be sent;
//     then the summary, which covers it, stays as long as it fits.
//   - A summary that does not fit beside the opening, and takes more than half of the room by itself, is neither used
//     nor continued.
//
// The zero value is ready to use.
type Summarize struct{}

// Plan implements [Manager].
func (Summarize) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	l := summarized(&p, limit)
	plan := slide(&p, limit, l)
	if p.Summarizer {
		plan.request(older(&p, limit, l, plan.Warning), level(l.all(&p), limit))
	}
	return plan
}

// worthPercent is the smallest part of the limit that is worth a summary, in percent.
const worthPercent = 5

// older returns the older half of the messages that a summary could cover, or nothing if it is too early
// for one. The opening, which is sent beside the first summary, does not count for the half.
func older(p *Problem, limit int, l lead, w Warning) Range {
	covered, last := max(p.Covered, 0), p.kept()
	from := max(covered, l.head)
	unused := covered > l.head && !l.summary
	if from >= last || unused || l.all(p) < share(limit, NearPercent) {
		return Range{}
	}
	rest := p.Size(from, p.Len())
	half := sort.Search(last-from, func(i int) bool { return p.Size(from, from+i) >= rest-rest/2 })
	to := from + half
	least := share(limit, worthPercent)
	if w == Dropped {
		least = 1
	}
	if p.Size(from, to) < max(least, 1) {
		return Range{}
	}
	return Range{From: covered, To: to}
}

// request adds a request for a summary to a plan that can also be sent without it. Nothing is lost yet, so
// the warning is only about how full the window is. If no summary is made, the caller asks for a plan
// again, and that plan has the graver warning.
func (plan *Plan) request(r Range, w Warning) {
	if plan.Fits && r != (Range{}) {
		plan.Summarize, plan.Warning = r, w
	}
}
