package window

import "sort"

// Summarize is the Manager that has the older half of a debate summarised.
//
// From 80 % of the limit on, it wishes a summary of the older half, by tokens, of the messages that no
// summary covers yet; never of the opening, nor of the newest message. The next summary takes in the
// last one, so no message is read for it twice. A half of less than 5 % of the limit is not worth a
// call that reads and writes the whole summary again, and waits until it has grown.
//
// Where a summary exists and all messages are below 80 % of the limit, as they may be for a model with
// a larger window than the one it was made for, it sends them all. Else it sends the opening, the
// summary, and what it does not cover. Where no summary can be made, it slides over the latter as
// [Sliding] does; the summary then stays for as long as it fits beside the opening and the newest
// message. A summary that does not even fit beside the opening is not used and not continued.
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
	plan := slide(&p, limit, 100, l)
	if p.Summarizer {
		plan.wish(older(&p, limit, l), level(l.all(&p), limit))
	}
	return plan
}

// worthPercent of the limit, at least, has what a summary is wished of.
const worthPercent = 5

// older yields the older half of what a summary can be made of, and nothing if it is too early for one.
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

// wish adds what should be summarised to a plan that can be sent without it too. Nothing is lost yet,
// so the warning says how full it is: if no summary is made, the plan that is asked for then says the rest.
func (plan *Plan) wish(r Range, w Warning) {
	if plan.Fits && r != (Range{}) {
		plan.Summarize, plan.Warning = r, w
	}
}
