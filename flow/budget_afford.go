package flow

import (
	"context"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/order"
)

// steps are what the limits must hold at each call of a walk with usual replies. The calls of the conclusion are the last ones: how many
// they are is known after the first round.
type steps struct {
	last []step // not yet known to be of a round
	ends int    // how many calls the conclusion has
	// rounds is the largest use at a call of the rounds, with what is reserved for it, and spent the largest use before one. increase is
	// what a reply can add to what the conclusion reads, beyond a usual one.
	rounds, spent amount
	increase      increase
}

// step is a call of a walk.
type step struct {
	before   amount   // what was used before
	most     amount   // what is reserved for it
	ask      lastCall // of the conclusion
	increase increase // see steps
}

// add appends a step. Those that cannot be of the conclusion are added up.
func (s *steps) add(one step, marked bool) {
	s.last = append(s.last, one)
	for marked && len(s.last) > s.ends {
		first := s.last[0]
		s.last = s.last[1:]
		s.rounds = s.rounds.most(first.before.plus(first.most))
		s.spent = s.spent.most(first.before)
		s.increase = increase{bytes: max(s.increase.bytes, first.increase.bytes), tokens: max(s.increase.tokens, first.increase.tokens)}
	}
}

// most returns the larger measure of each kind.
func (u amount) most(v amount) amount {
	return amount{max(u.cost, v.cost), max(u.tokens, v.tokens), max(u.calls, v.calls)}
}

// step notes what the limits must hold at a call. ready is its request if a model is asked.
func (s *Estimator) step(call *Call, ready *prepared, growth int) {
	if s.usual == 0 {
		return
	}
	r := s.core.record
	one := step{before: s.sum(), most: amount{calls: 1}}
	said := r.replyOf(s.tokens(call), call.By)
	switch call.Performer {
	case ByPerson:
		one.most.calls = 0
		said = r.answerOf(call.MaxTokens, call.By)
	case ByModel:
		model, _ := r.Model(call.Model)
		limit := r.capOf(call, &model)
		_, exact := r.counter(call.Model)
		one.ask = lastCall{
			model: &model, input: s.input(ready, call.Model, growth), output: r.usualEnd(call, call.Model, limit),
			counts: s.counts && exact,
		}
		output := r.usual(call, call.Model, limit)
		one.most = amount{model.Bound(one.ask.input, output), one.ask.input + output, 1}
	default:
	}
	length := r.growth(s.reply(call), call.By)
	one.increase = increase{bytes: max(0, said.bytes-length), tokens: max(0, said.tokens-length/typicalBytes)}
	s.steps.add(one, s.steps.ends > 0)
}

// whole returns the smallest limits with which the walk comes to its end. kept is whether the conclusion is reserved meanwhile.
func (s *Estimator) whole(kept bool) amount {
	least, end := s.steps.rounds, s.steps.last
	if s.steps.ends == 0 {
		end = nil
	}
	for i := range s.steps.last {
		least = least.most(s.steps.last[i].before.plus(s.steps.last[i].most))
	}
	if !kept {
		return least
	}
	sum := s.steps.rounds
	for i := range end {
		if end[i].most.calls > 0 { // no person's
			sum = sum.plus(end[i].ask.use(s.steps.increase, once))
		}
	}
	return least.most(sum)
}

// CheckBudget returns an error for each limit of the budget that is too low: with usual replies, the calls of the first round and the
// conclusion do not fit. The errors name the fields. ctx bounds the walk through the first round. The second result is the error of the
// walk.
func CheckBudget(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start) ([]error, error) {
	b := start.Settings.Budget
	if b == nil || m.flow.Estimate == nil || softLimits(b) == (amount{}) && hardLimits(b) == (amount{}) {
		return nil, nil
	}
	var f Findings
	for _, counts := range []bool{false, true} { // bytes are enough where a limit is far away
		s, err := walk(ctx, m, contexts, start, 1, Estimator{counts: counts, usual: TypicalReply})
		if err != nil {
			return nil, err
		}
		if f = s.findings(b); len(f) == 0 || !anyExact(start) {
			break
		}
	}
	return f, nil
}

// anyExact reports whether the vocabulary of some model of a conversation is known.
func anyExact(start *Start) bool {
	for _, row := range start.Models {
		if _, exact := token.Named(row.Vocabulary); exact {
			return true
		}
	}
	return false
}

// findings names the limits that are below what the walk needs.
func (s *Estimator) findings(b *Budget) (f Findings) {
	hard := s.whole(mayConclude(b))
	soft := s.steps.spent
	if s.steps.ends == 0 {
		for i := range s.steps.last {
			soft = soft.most(s.steps.last[i].before)
		}
	}
	soft = soft.plus(amount{1, 1, 1}) // at a soft limit that is reached no call starts
	limits, low := limitsByField(b), make(map[string]bool)
	for field, limit := range order.ByKey(limits) { // hard before soft
		least := soft
		if strings.HasPrefix(field, "budget.hard") {
			least = hard
		}
		same := strings.Replace(field, "soft", "hard", 1)
		if same != field && low[same] && limits[same] == limit {
			continue // it is no lower than the hard limit, about which all is said
		}
		if least.passed(limit).what != "" {
			low[field] = true
			least.cost = roundedUp(least.cost, 4) // as many digits as are shown: the amount that is named is enough
			f.Addf(field, "is below what one round and the conclusion take with usual replies: %s; raise it", least.passed(limit).what)
		}
	}
	return f
}

// limitsByField returns the limits of a use, by their fields.
func limitsByField(b *Budget) map[string]amount {
	return map[string]amount{
		"budget.soft": {cost: b.Soft}, "budget.hard": {cost: b.Hard}, "budget.softTokens": {tokens: b.SoftTokens},
		"budget.hardTokens": {tokens: b.HardTokens}, "budget.softCalls": {calls: b.SoftCalls}, "budget.hardCalls": {calls: b.HardCalls},
	}
}

// beyond returns the limits of a budget that an estimate's worst case passes.
func (e *Estimate) beyond(b *Budget) (passed []string) {
	worst := amount{e.Cost, e.Tokens, e.Calls}
	for field, limit := range order.ByKey(limitsByField(b)) {
		if worst.passed(limit).what != "" {
			passed = append(passed, field)
		}
	}
	return passed
}

// mostForeseen bounds how many rounds the warning of a start looks at, since the walk takes time quadratic in them. If
// there are more, the warning says what the first ones may use.
const mostForeseen = 100

// foresee warns of limits that a conversation of this start may reach. One that cannot be foreseen starts without the warning.
func (c *Core) foresee(start *Start) error {
	b := start.Settings.Budget
	if b == nil || c.machine.flow.Estimate == nil || softLimits(b) == (amount{}) && hardLimits(b) == (amount{}) {
		return nil
	}
	rounds := min(start.Settings.Rounds, mostForeseen)
	look := func(kind Estimator) (*Estimator, error) {
		return walk(context.Background(), c.machine, c.plans, start, rounds, kind)
	}
	var e Estimate
	var passed []string
	for _, counts := range []bool{false, true} { // bytes are enough where no limit is near
		worst, err := look(Estimator{counts: counts})
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		e = worst.out
		if passed = e.beyond(b); len(passed) == 0 || !anyExact(start) {
			break
		}
	}
	if len(passed) == 0 {
		return nil
	}
	usual, err := look(Estimator{counts: true, usual: TypicalReply})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	what := fmt.Sprintf("the worst case, %s, %d tokens and %d calls, is above %s; the typical case is %s and %d tokens",
		e.Cost.Rounded(), e.Tokens, e.Calls, strings.Join(passed, " and "), usual.out.Cost.Rounded(), usual.out.Tokens)
	if rounds < start.Settings.Rounds {
		what += fmt.Sprintf("; of %d rounds the first %d are counted", start.Settings.Rounds, rounds)
	}
	return c.warn(&Warning{Kind: WarnBudget, Evidence: what})
}
