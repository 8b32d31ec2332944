package window

import "sort"

// Summarize is the Manager that has the older half of a conversation summarised.
//
// From 80 % of the limit on, it requests a summary of the messages that no summary covers yet: of the
// older half of them, by tokens. The opening and the newest message are never part of it. The next
// summary includes the last one, so no message is read twice for it. A half of less than 5 % of the limit
// is not worth a call that reads and writes the whole summary again; Summarize waits until the half has
// grown.
//
// What is sent depends on the summary:
//
//   - If a summary exists and all messages together are below 80 % of the limit, all messages are sent.
//     That can happen for a model with a larger window than the one that the summary was made for.
//   - Otherwise the opening is sent, the summary, and the messages that it does not cover.
//   - If no summary can be made, Summarize slides over the messages that the summary does not cover, as
//     [Sliding] does. The summary then stays as long as it fits beside the opening and the newest
//     message.
//   - A summary that does not even fit beside the opening is neither used nor continued.
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
		plan.request(older(&p, limit, l), level(l.all(&p), limit))
	}
	return plan
}

// worthPercent is the smallest part of the limit that is worth a summary, in percent.
const worthPercent = 5

// older returns the older half of the messages that a summary could cover, or nothing if it is too early
// for one.
func older(p *Problem, limit int, l lead) Range {
	from, newest := max(p.Covered, Opening), p.Len()-1
	unused := p.Covered > Opening && !l.summary
	if from >= newest || unused || l.all(p) < share(limit, NearPercent) {
		return Range{}
	}
	rest := p.Size(from, newest+1)
	half := sort.Search(newest-from, func(i int) bool { return p.Size(from, from+i) >= rest-rest/2 })
	to := from + half
	if p.Size(from, to) < max(share(limit, worthPercent), 1) {
		return Range{}
	}
	return Range{From: from, To: to}
}

// request adds a request for a summary to a plan that can also be sent without it. Nothing is lost yet, so
// the warning is only about how full the window is. If no summary is made, the caller asks for a plan
// again, and that plan has the graver warning.
func (plan *Plan) request(r Range, w Warning) {
	if plan.Fits && r != (Range{}) {
		plan.Summarize, plan.Warning = r, w
	}
}
