package debate

import (
	"context"
	"errors"
	"strings"

	"github.com/agonist-dev/debate/context/window"
)

// Estimate is the most that a debate can use if every call is answered at the first attempt: as many
// rounds as there may be, every reply as long as it may get, everybody reading all that its window
// holds. Failed attempts come on top, and so does an answer that is asked for again.
type Estimate struct {
	Cost   Money
	Tokens int // input and output
	Calls  int
	// Models are the shares of the models that are asked first, in the order of their first use. Their
	// Usage counts plain input and output.
	Models []Account
	// FirstRound is what has to be there before anything can come of the debate: what precedes the first
	// round, that round, and the verdict on it. A hard limit beside a soft one needs as much as the
	// verdict takes once more, since that is kept back for asking again.
	FirstRound Money

	first use
	again use // with the verdict asked for twice
}

// Estimate computes the most that a debate of this config can use. It asks nobody and pays nothing. It goes
// through each round, some 200,000 in a second: ctx bounds that.
// The error is that of a config whose formats, flows or texts are not known; Validate says more. Only
// the flow "debate" is estimated; the error for others is of kind validation.
func (e *Engine) Estimate(ctx context.Context, config Config) (Estimate, error) {
	l, err := e.freeze()
	if err != nil {
		return Estimate{}, err
	}
	c := l.withFormatRounds(config).withDefaults()
	if c.Flow != DefaultFlow {
		err := errors.New("only the flow \"debate\" can be estimated")
		return Estimate{}, &Error{Kind: KindValidation, Op: "estimate", Field: "flow", Err: err}
	}
	start, err := l.start(c)
	if err != nil {
		return Estimate{}, err
	}
	return l.estimate(ctx, start, c.Rounds)
}

// estimate walks through so many rounds of a debate.
func (l *live) estimate(ctx context.Context, start *Start, rounds int) (Estimate, error) {
	r := newRecord("estimate")
	if err := r.foldStart(&Event{Kind: EventStart, Start: start}); err != nil {
		return Estimate{}, err
	}
	s := &estimator{core: &Core{machine: l.machines[start.Flow], plans: l.contexts, record: r}}
	for round := 1; round <= rounds; round++ {
		if err := ctx.Err(); err != nil {
			return Estimate{}, err
		}
		s.round(round)
	}
	s.last()
	return s.out, nil
}

// estimator walks through a debate that it only counts.
type estimator struct {
	core   *Core
	growth int // bytes that have been said
	found  int // bytes that assigned positions add to a system prompt
	out    Estimate
	// summaries are those in out: without them a debate can go on.
	summaries use
}

func (s *estimator) sum() use { return use{s.out.Cost, s.out.Tokens, s.out.Calls} }

func (u use) less(v use) use { return use{u.cost - v.cost, u.tokens - v.tokens, u.calls - v.calls} }

// round counts a round, and with the first what precedes it.
func (s *estimator) round(n int) {
	r := s.core.record
	if n == 1 {
		assign := assignCalls(r)
		s.calls(assign)
		for i := range assign {
			s.found = s.longest(&assign[i]) * bytesPerToken
		}
		s.calls(ballotCalls(r, false))
	}
	r.beginRound(&Event{Round: &Round{N: n}})
	for i := range r.schedule {
		call := turnCall(r, &r.schedule[i])
		s.calls([]Call{call})
		s.growth += r.growth(s.longest(&call), call.By)
	}
	s.calls(assessmentCalls(r))
	if n == 1 {
		sofar, summaries := s.out, s.summaries
		sofar.Models = append([]Account(nil), s.out.Models...)
		s.last()
		sofar.first = s.sum().less(s.summaries)
		s.growth += len(r.Text(TextAgain)) + problemBytes
		s.last()
		s.growth -= len(r.Text(TextAgain)) + problemBytes
		sofar.again, sofar.FirstRound = s.sum().less(s.summaries), sofar.first.cost
		s.out, s.summaries = sofar, summaries
	}
}

func (s *estimator) last() {
	s.calls(verdictCalls(s.core.record))
	s.calls(ballotCalls(s.core.record, true))
}

// near reports whether a call may need a summary before it.
func (s *estimator) near(call *Call) bool {
	r := s.core.record
	if r.config.Summarizer == "" || call.span != nil || call.View.None || call.Performer != ByModel {
		return false
	}
	model, _ := r.Model(call.Model)
	problem := window.Problem{Window: model.Context, Reserve: r.config.Reserve, Output: s.longest(call)}
	limit, limited := problem.Limit()
	return limited && 100*s.growth >= window.NearPercent*limit
}

// longest is the most tokens of a reply, with whichever of the call's models.
func (s *estimator) longest(call *Call) int {
	if call.MaxTokens > 0 {
		return call.MaxTokens
	}
	return s.core.record.config.MaxTokens
}

func (s *estimator) calls(calls []Call) {
	for i := range calls {
		if s.near(&calls[i]) {
			before := s.sum()
			s.calls([]Call{*s.core.record.summaryCall(s.core.record.views[0], 0)})
			s.summaries = s.summaries.plus(s.sum().less(before))
		}
		if calls[i].Performer == ByPerson {
			continue
		}
		s.out.Calls++
		if calls[i].Performer != ByModel {
			continue
		}
		growth := s.growth
		if calls[i].View.None {
			growth = 0
		}
		growth += s.found
		one := s.core.worst(&calls[i], growth)
		s.out.Cost = s.out.Cost.plus(one.cost)
		s.out.Tokens += one.tokens
		a := account(&s.out.Models, calls[i].Model)
		a.Requests++
		a.Cost = a.Cost.plus(one.cost)
		output := s.longest(&calls[i])
		a.Usage.Output += output
		a.Usage.Input += max(0, one.tokens-output)
	}
}

// checkLimits refuses limits with which nothing could come of the debate. It yields the start that it
// has made for that; nil: it had no need of one.
func (l *live) checkLimits(ctx context.Context, f *findings, c *Config) *Start {
	b := c.Budget
	if b == nil || c.Flow != DefaultFlow {
		return nil
	}
	start, err := l.start(c)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	e, err := l.estimate(ctx, start, 1)
	if err != nil {
		*f = append(*f, err)
		return nil
	}
	for field, limit := range ordered(map[string]use{
		"budget.soft": {cost: b.Soft}, "budget.hard": {cost: b.Hard}, "budget.softTokens": {tokens: b.SoftTokens},
		"budget.hardTokens": {tokens: b.HardTokens}, "budget.softCalls": {calls: b.SoftCalls}, "budget.hardCalls": {calls: b.HardCalls},
	}) {
		need := e.first
		if b.concludes() && strings.HasPrefix(field, "budget.hard") {
			need = e.again
		}
		if what := need.passed(limit); what != "" {
			f.addf(field, "is below what one round with its verdict may take: %s; raise it, or lower maxTokens", what)
		}
	}
	return start
}
