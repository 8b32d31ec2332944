package window

// Hybrid is the Manager that slides, or has summaries made if the host program wants them. It is the one
// to use by default.
//
//   - Below 80 % of the limit, everything is sent. If all messages together pass 80 % and there is a
//     summary, everything is the opening, the summary, and the messages that it does not cover.
//   - From 80 % on, if Problem.Auto and Problem.Summarizer are set, Hybrid requests summaries as
//     [Summarize] does. Otherwise it slides as [Sliding] does, but earlier: at 80 % of the limit, down to
//     60 %. If Fixed, the opening and the summary leave so little room that sliding at 80 % would waste
//     half of it, it slides at the limit.
//   - From 90 % on, if Problem.Summarizer is set, Hybrid requests summaries whether the host program
//     wants them or not. Messages that sliding has left out count here too, and become part of the
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
	reached := level(l.all(&p), limit)
	if reached == "" {
		return slide(&p, limit, 100, l)
	}
	plan := slide(&p, limit, NearPercent, l)
	if p.Summarizer && (p.Auto || reached == High) {
		plan.request(older(&p, limit, l), reached)
	}
	return plan
}
