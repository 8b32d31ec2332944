package window

// Hybrid is the Manager that slides or has summaries made, as the host wishes. It is the one to take
// where nothing else is said.
//
//   - Below 80 % of the limit everything is sent: all messages, or, if these are more and there is a
//     summary, the opening, the summary and what it does not cover.
//   - From 80 % on, where Problem.Auto and Problem.Summarizer are set, it wishes summaries as
//     [Summarize] does. Else it slides as [Sliding] does, only sooner: when 80 % of the limit is reached
//     rather than all of it, and down to 60 % of the limit. Where Fixed, the opening and the summary
//     leave so little that sliding at 80 % would give away half of it, it slides at the limit.
//   - From 90 % on, it wishes summaries where Problem.Summarizer is set, whether the host asked for them
//     or not. What it has left out by sliding counts in that, and becomes part of the summary.
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
		plan.wish(older(&p, limit, l), reached)
	}
	return plan
}
