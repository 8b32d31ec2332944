package flow

import (
	"context"
	"math"
	"strings"
)

// tellNeeds writes into the warning about a limit with how much of it all rounds would run.
func (c *Core) tellNeeds(w *Warning) {
	if strings.HasSuffix(w.Limit, measureTime) {
		return
	}
	b := c.record.settings.Budget
	limit, concludes := b.soft(), false
	if strings.HasPrefix(w.Limit, limitHard) {
		limit, concludes = b.hard(), b.concludes()
	}
	needs, ok := c.forAll(concludes)
	switch {
	case !ok:
	case strings.HasSuffix(w.Limit, measureTokens):
		w.NeedsTokens = above(needs.tokens, limit.tokens)
	case strings.HasSuffix(w.Limit, measureCalls):
		w.NeedsCalls = above(needs.calls, limit.calls)
	default:
		w.Needs = above(needs.cost, limit.cost)
	}
}

// above returns what is needed, or 0 if it is no more than the limit: such a figure would help nobody.
func above[T int | Money](needs, limit T) T {
	if needs <= limit {
		return 0
	}
	return needs
}

// forAll returns about the limits with which all rounds would run, in two digits. They are the sum of two parts:
//   - What the conversation typically uses, and a quarter more. If its replies are longer than [TypicalReply] so far, it is as much more.
//   - What is reserved at the end of the rounds: the largest call and, if concludes is set, what is kept for the conclusion by then.
//
// false: the flow cannot be estimated, or has too many rounds.
func (c *Core) forAll(concludes bool) (amount, bool) {
	r := c.record
	rounds := max(1, r.settings.Rounds)
	if c.machine.flow.Estimate == nil || rounds > mostForeseen {
		return amount{}, false
	}
	start := *r.start
	start.Settings = *r.settings
	s, err := newWalk(context.Background(), c.machine, c.plans, &start, typical)
	if err != nil {
		return amount{}, false
	}
	spent := &r.spent.total
	more := 1.25 * max(1, float64(spent.Usage.Output)/float64(max(1, spent.Requests))/TypicalReply)
	var most amount // of one call
	reply := 0
	s.weigh = func(call *Call, growth int) {
		worst := s.core.worst(call, int(float64(growth)*more))
		most = amount{max(most.cost, worst.cost), max(most.tokens, worst.tokens), 1}
		reply = max(reply, s.longest(call))
	}
	if err := c.machine.flow.Estimate(s, rounds); err != nil {
		return amount{}, false
	}
	usual, used := s.sum(), r.used()
	whole := amount{usual.cost.scaled(more), int(float64(usual.tokens) * more), (5*usual.calls + 3) / 4}
	needs := amount{max(whole.cost, used.cost), max(whole.tokens, used.tokens), max(whole.calls, used.calls)}.plus(most)
	if concludes {
		said := 0 // in the whole conversation, in tokens
		for i := range s.out.Models {
			said += s.out.Models[i].Usage.Output
		}
		growth := typicalBytes * max(0, int(float64(said)*more)-spent.Usage.Output)
		needs = needs.plus(c.conclusion(growth+r.growth(longestReply(reply), ""), false))
	}
	return amount{needs.cost.up(2), int(Money(needs.tokens).up(2)), int(Money(needs.calls).up(2))}, true
}

// scaled multiplies an amount without overflow.
func (m Money) scaled(by float64) Money {
	if float64(m) >= math.MaxInt64/by {
		return math.MaxInt64
	}
	return Money(float64(m) * by)
}
