package window

// Hybrid is the Manager that slides, or has summaries made if the host program wants them. It is the one
// to use by default.
//
//   - As long as all messages fit, they are sent, from 80 % of the limit on with a warning. If they pass
//     80 % and there is a summary, the summary is sent in place of the messages that it covers, after the opening.
//   - From 80 % on, if Problem.Auto and Problem.Summarizer are set, Hybrid requests summaries as
//     [Summarize] does.
//   - From 90 % on, if Problem.Summarizer is set, Hybrid requests summaries whether the host program
//     wants them or not.
//   - What does not fit and cannot be summarised slides, as with [Sliding]. It becomes part of the next
//     summary.
//
// The zero value is ready to use.
type Hybrid struct{}

// Plan implements [Manager].
func (Hybrid) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	l := summarized(&p, limit)
	plan := slide(&p, limit, l)
	if reached := level(l.all(&p), limit); p.Summarizer && (p.Auto || reached == High) {
		plan.request(older(&p, limit, l, plan.Warning), reached)
	}
	return plan
}
