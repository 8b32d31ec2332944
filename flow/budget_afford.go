package flow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
)

// need is what a budget must be able to reserve, at least, for a first round and a conclusion. The calls before may have
// cost nothing and said nothing.
type need struct {
	rounds amount // the largest reservation of the first round, and the number of its calls
	end    amount // the largest reservation of the conclusion, and the number of its calls
	// kept is the largest reservation of the first round beside which the conclusion is kept back, twice.
	kept  amount
	ended bool
	said  map[int]amount // the largest reservations of the round, by how long their replies can make the conversation
}

// add counts a call of the round, or of the conclusion.
func (n *need) add(s *Estimator, call *Call, one amount) {
	if s.replies != shortest || n.ended {
		return
	}
	n.rounds = n.rounds.most(one)
	if n.said == nil {
		n.said = make(map[int]amount)
	}
	said := s.core.record.growth(longestReply(s.longest(call)), call.By)
	n.said[said] = n.said[said].most(one)
}

// most returns the larger measure of each kind, but the sum of the calls.
func (u amount) most(v amount) amount {
	return amount{max(u.cost, v.cost), max(u.tokens, v.tokens), u.calls + v.calls}
}

// ends counts the calls of the conclusion, as the engine reserves them beside each call of the round.
func (n *need) ends(s *Estimator, end func()) {
	round, said := n.rounds, n.said
	n.rounds, n.said = amount{}, nil
	end()
	n.end, n.rounds, n.said = n.rounds, round, said
	n.ended = true
	again := len(s.core.record.Text(textAgain)) + text.ProblemBytes
	s.reserving = true
	for _, longer := range slices.Sorted(maps.Keys(said)) {
		before := s.sum()
		s.pending = longer
		end()
		s.again = again
		end()
		s.again = 0
		share := s.sum().less(before)
		one := said[longer].plus(share)
		n.kept = amount{max(n.kept.cost, one.cost), max(n.kept.tokens, one.tokens), round.calls + share.calls}
	}
	s.pending, s.reserving = 0, false
}

// CheckBudget returns an error for each limit of the budget that is too low: the calls of the first round and the conclusion
// cannot be reserved within it, however little the others use. The errors name the fields. ctx bounds the walk through the
// first round. The second result is the error of the walk.
func CheckBudget(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start) ([]error, error) {
	b := start.Settings.Budget
	if b == nil || m.flow.Estimate == nil {
		return nil, nil
	}
	s, err := walk(ctx, m, contexts, start, 1, shortest)
	if err != nil {
		return nil, err
	}
	n := &s.need
	hard := n.rounds.most(n.end)
	if b.concludes() && n.ended {
		hard = amount{max(hard.cost, n.kept.cost), max(hard.tokens, n.kept.tokens), max(hard.calls, n.kept.calls)}
	}
	var f Findings
	limits, low := b.limits(), make(map[string]bool)
	for field, limit := range order.ByKey(limits) { // hard before soft
		least := n.rounds
		if strings.HasPrefix(field, "budget.hard") {
			least = hard
		}
		same := strings.Replace(field, "soft", "hard", 1)
		if same != field && low[same] && limits[same] == limit {
			continue // it is no lower than the hard limit, about which all is said
		}
		if least.passed(limit).what != "" {
			low[field] = true
			least.cost = least.cost.up(4) // as many digits as are shown: the amount that is named is enough
			f.Addf(field, "is below what one round and the conclusion reserve: %s; raise it, or lower maxTokens", least.passed(limit).what)
		}
	}
	return f, nil
}

// limits returns the limits of a use, by their fields.
func (b *Budget) limits() map[string]amount {
	return map[string]amount{
		"budget.soft": {cost: b.Soft}, "budget.hard": {cost: b.Hard}, "budget.softTokens": {tokens: b.SoftTokens},
		"budget.hardTokens": {tokens: b.HardTokens}, "budget.softCalls": {calls: b.SoftCalls}, "budget.hardCalls": {calls: b.HardCalls},
	}
}

// Beyond says which limits of a budget the worst case passes, with the worst and the typical case. "": none.
func (e *Estimate) Beyond(b *Budget) string {
	if b == nil {
		return ""
	}
	worst := amount{e.Cost, e.Tokens, e.Calls}
	var passed []string
	for field, limit := range order.ByKey(b.limits()) {
		if worst.passed(limit).what != "" {
			passed = append(passed, field)
		}
	}
	if len(passed) == 0 {
		return ""
	}
	return fmt.Sprintf("the worst case, %s, %d tokens and %d calls, is above %s; the typical case is %s and %d tokens",
		e.Cost.Rounded(), e.Tokens, e.Calls, strings.Join(passed, " and "), e.Typical.Rounded(), e.TypicalTokens)
}

// mostForeseen bounds how many rounds the warning of a start looks at, since the walk takes time quadratic in them. If
// there are more, the warning says what the first ones may use.
const mostForeseen = 100

// foresee warns of limits that a conversation of this start may reach.
func (c *Core) foresee(start *Start) error {
	b := start.Settings.Budget
	if b == nil || c.machine.flow.Estimate == nil || b.soft() == (amount{}) && b.hard() == (amount{}) {
		return nil
	}
	e, err := EstimateStart(context.Background(), c.machine, c.plans, start, min(start.Settings.Rounds, mostForeseen))
	if err != nil {
		return nil //nolint:nilerr // a conversation that cannot be foreseen starts without the warning
	}
	if what := e.Beyond(b); what != "" {
		if rounds := start.Settings.Rounds; rounds > mostForeseen {
			what += fmt.Sprintf("; of %d rounds the first %d are counted", rounds, mostForeseen)
		}
		return c.warn(&Warning{Kind: WarnBudget, Evidence: what})
	}
	return nil
}
