package debate

import (
	"context"
	"fmt"
	"strings"
	"time"

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

// Estimate computes the most that a conversation of this config can use. It asks nobody and pays nothing. Of a debate it
// goes through each round, some 200,000 in a second: ctx bounds that.
// The error is that of a config whose formats, flows or texts are not known; Validate says more. A flow that does not
// say how its conversations go is an error of kind validation.
func (e *Engine) Estimate(ctx context.Context, config FlowConfig) (Estimate, error) {
	l, err := e.freeze()
	if err != nil {
		return Estimate{}, err
	}
	plan, err := l.plan(config, false)
	if err != nil {
		return Estimate{}, err
	}
	start, err := l.start(plan)
	if err != nil {
		return Estimate{}, err
	}
	return l.estimate(ctx, start, plan.terms.Rounds)
}

// estimate walks through so many rounds of a conversation.
func (l *live) estimate(ctx context.Context, start *Start, rounds int) (Estimate, error) {
	m := l.machines[start.Flow]
	if m.flow.Estimate == nil {
		err := fmt.Errorf("conversations of the flow %q cannot be estimated", oneLine(start.Flow, 40))
		return Estimate{}, &Error{Kind: KindValidation, Op: "estimate", Field: "flow", Err: err}
	}
	r := newRecord("estimate")
	if err := r.foldStart(start, time.Time{}, m); err != nil {
		return Estimate{}, err
	}
	s := &Estimator{core: &Core{machine: m, plans: l.contexts, record: r}, ctx: ctx}
	if err := m.flow.Estimate(s, rounds); err != nil {
		return Estimate{}, err
	}
	return s.out, nil
}

// Estimator walks through a conversation that it only counts.
type Estimator struct {
	core   *Core
	ctx    context.Context
	growth int // bytes that have been said
	added  int // bytes that are added to system prompts
	again  int // bytes that asking again adds to each instruction
	out    Estimate
	// summaries are those in out: without them a conversation can go on.
	summaries use
}

// Record yields the record that the walk begins with. It is written by the walk alone.
func (s *Estimator) Record() *Record { return s.core.record }

// Round begins a round. The error is that of the context that bounds the walk.
func (s *Estimator) Round(n int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	r := s.core.record
	r.beginRound(n, time.Time{})
	if r.part == nil {
		return nil
	}
	return r.part.Fold(&Event{Body: &Round{N: n}})
}

// Said lets a call's reply be read by those that follow, as long as it may get.
func (s *Estimator) Said(call *Call) { s.growth += s.Length(call) }

// Length bounds, in bytes, what a call's reply takes where another call reads it.
func (s *Estimator) Length(call *Call) int { return s.core.record.growth(s.longest(call), call.By) }

// Added lets a call's reply be part of the system prompts from now on.
func (s *Estimator) Added(call *Call) { s.added += s.longest(call) * bytesPerToken }

// First marks that the first round is complete: what there is so far, and then the calls of the end, is the least with
// which anything can come of the conversation.
func (s *Estimator) First(end func()) {
	sofar, summaries := s.out, s.summaries
	sofar.Models = append([]Account(nil), s.out.Models...)
	end()
	sofar.first = s.sum().less(s.summaries)
	s.again = len(s.core.record.Text(TextAgain)) + problemBytes
	end()
	s.again = 0
	sofar.again, sofar.FirstRound = s.sum().less(s.summaries), sofar.first.cost
	s.out, s.summaries = sofar, summaries
}

func (s *Estimator) sum() use { return use{s.out.Cost, s.out.Tokens, s.out.Calls} }

func (u use) less(v use) use { return use{u.cost - v.cost, u.tokens - v.tokens, u.calls - v.calls} }

// near reports whether a call may need a summary before it.
func (s *Estimator) near(call *Call) bool {
	r := s.core.record
	if r.terms.Summarizer == "" || call.span != nil || call.View.None || call.Performer != ByModel {
		return false
	}
	model, _ := r.Model(call.Model)
	problem := window.Problem{Window: model.Context, Reserve: r.terms.Reserve, Output: s.longest(call)}
	limit, limited := problem.Limit()
	return limited && 100*s.growth >= window.NearPercent*limit
}

// longest is the most tokens of a reply, with whichever of the call's models.
func (s *Estimator) longest(call *Call) int {
	if call.MaxTokens > 0 {
		return call.MaxTokens
	}
	return s.core.record.terms.MaxTokens
}

// Calls counts calls that are made.
func (s *Estimator) Calls(calls []Call) { s.Reading(0, calls) }

// Reading counts calls whose instructions will hold so many bytes more than they do now, such as replies that the walk
// has only counted.
func (s *Estimator) Reading(bytes int, calls []Call) {
	for i := range calls {
		if s.near(&calls[i]) {
			before := s.sum()
			s.Calls([]Call{*s.core.record.summaryCall(s.core.record.views[0], 0)})
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
		growth += s.added + s.again + bytes
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
func (l *live) checkLimits(ctx context.Context, f *findings, p *plan) *Start {
	b := p.terms.Budget
	if b == nil || p.machine.flow.Estimate == nil {
		return nil
	}
	start, err := l.start(p)
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
