package flow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Estimate is the most that a conversation can use if every call succeeds at the first attempt. It assumes the
// maximum number of rounds, replies of maximum length, and calls that read as much as their window holds. Failed
// attempts and answers that are asked for again are not included.
type Estimate struct {
	Cost   Money
	Tokens int // input and output
	Calls  int
	// Models are the shares of the first models of the calls, in the order of their first use. Their Usage counts
	// plain input and output.
	Models []Account
	// FirstRound is the least cost with which the conversation can give a result: what precedes the first round,
	// that round, and the conclusion. With a soft limit, the hard limit must also allow the conclusion a second
	// time, because that is kept back for asking again.
	FirstRound Money

	first amount // the use that FirstRound is the cost of
	again amount // the same, with the conclusion asked for twice
}

// EstimateStart walks through a conversation that would begin with this start, of at most this many rounds. ctx
// bounds the walk. The error is of kind validation if the flow has no Estimate.
func EstimateStart(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, rounds int) (Estimate, error) {
	if m.flow.Estimate == nil {
		err := fmt.Errorf("conversations of the flow %q cannot be estimated", text.OneLine(start.Flow, 40))
		return Estimate{}, &Error{Kind: provider.KindValidation, Op: "estimate", Field: "flow", Err: err}
	}
	r := newRecord("estimate")
	if err := r.foldStart(start, time.Time{}, m); err != nil {
		return Estimate{}, err
	}
	s := &Estimator{core: &Core{machine: m, plans: contexts, record: r}, ctx: ctx}
	if err := m.flow.Estimate(s, rounds); err != nil {
		return Estimate{}, err
	}
	return s.out, nil
}

// TooLow returns an error for each limit of a budget with which the conversation could give no result. The errors
// name the fields.
func (e *Estimate) TooLow(b *Budget) []error {
	var f Findings
	for field, limit := range order.ByKey(map[string]amount{
		"budget.soft": {cost: b.Soft}, "budget.hard": {cost: b.Hard}, "budget.softTokens": {tokens: b.SoftTokens},
		"budget.hardTokens": {tokens: b.HardTokens}, "budget.softCalls": {calls: b.SoftCalls}, "budget.hardCalls": {calls: b.HardCalls},
	}) {
		need := e.first
		if b.concludes() && strings.HasPrefix(field, "budget.hard") {
			need = e.again
		}
		if what := need.passed(limit); what != "" {
			f.Addf(field, "is below what one round and the conclusion may take: %s; raise it, or lower maxTokens", what)
		}
	}
	return f
}

// Estimator walks through a conversation and counts its calls. It makes none of them. [Flow].Estimate leads the walk,
// on one goroutine.
type Estimator struct {
	core   *Core
	ctx    context.Context
	growth int // bytes that were said
	added  int // bytes that were added to system prompts
	again  int // bytes that asking again adds to each instruction
	out    Estimate
	// summaries is the part of out that summaries use. A conversation can do without them.
	summaries amount
}

// Record returns the record that the walk begins with. Only the walk writes to it.
func (s *Estimator) Record() *Record { return s.core.record }

// Round begins a round. Its error is that of the context that bounds the walk, or of the flow's part.
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

// Said makes the calls that follow read this call's reply, at its maximum length.
func (s *Estimator) Said(call *Call) { s.growth += s.Length(call) }

// Length returns the maximum size, in bytes, that a call's reply takes where another call reads it.
func (s *Estimator) Length(call *Call) int { return s.core.record.growth(s.longest(call), call.By) }

// Added adds this call's reply to the system prompts of the calls that follow, at its maximum length.
func (s *Estimator) Added(call *Call) { s.added += s.longest(call) * bytesPerToken }

// First marks that the first round is complete. end counts the calls of the conclusion. What was counted so far,
// together with those calls, is the least with which the conversation can give a result. The walk then continues as
// if end had not been called.
func (s *Estimator) First(end func()) {
	sofar, summaries := s.out, s.summaries
	sofar.Models = append([]Account(nil), s.out.Models...)
	end()
	sofar.first = s.sum().less(s.summaries)
	s.again = len(s.core.record.Text(textAgain)) + text.ProblemBytes
	end()
	s.again = 0
	sofar.again, sofar.FirstRound = s.sum().less(s.summaries), sofar.first.cost
	s.out, s.summaries = sofar, summaries
}

func (s *Estimator) sum() amount { return amount{s.out.Cost, s.out.Tokens, s.out.Calls} }

func (u amount) less(v amount) amount {
	return amount{u.cost - v.cost, u.tokens - v.tokens, u.calls - v.calls}
}

// near reports whether a call may need a summary first.
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

// longest returns the most tokens that a reply may have with any of the call's models.
func (s *Estimator) longest(call *Call) int {
	if call.MaxTokens > 0 {
		return call.MaxTokens
	}
	return s.core.record.terms.MaxTokens
}

// Calls counts calls.
func (s *Estimator) Calls(calls []Call) { s.Reading(0, calls) }

// Reading counts calls whose instructions will be this many bytes longer than they are now. A walk that has only
// counted a reply cannot quote it; bytes is the size that the quoted replies will take.
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
