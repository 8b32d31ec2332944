package flow

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// Estimate is what a conversation can use if every call succeeds at the first attempt. It assumes the maximum number of
// rounds, and calls that read as much as their window holds. Failed attempts and answers that are asked for again are
// not included.
//
// All its fields except Typical, TypicalTokens, Whole and WholeTokens are the worst case: every reply has its maximum length. What others
// have said is read as so many tokens where the vocabulary of the reader is known. For other models, and in files of text, it is read as so
// many bytes, of which a token can have up to eight, so that the worst case of long conversations is far above the typical one.
// Otherwise it is above it by about as much as the caps on replies are above usual replies: ten times where they are 4,096 tokens, and more
// where calls say that their replies are usually shorter (Call.Usual).
type Estimate struct {
	Cost   Money `json:"cost"`
	Tokens int   `json:"tokens"` // input and output
	Calls  int   `json:"calls"`
	// Typical and TypicalTokens are the use if every reply has [TypicalReply] tokens, or what its call says (Call.Usual), or its maximum
	// where that is less, and if a token has four bytes where tokens are not counted. No model was asked: replies may be shorter or longer.
	Typical       Money `json:"typical"`
	TypicalTokens int   `json:"typicalTokens"`
	// Whole and WholeTokens are the smallest limits with which all rounds run and the conclusion follows in the typical case. They are
	// above it, because the last calls start only if the most that they can use fits. As a limit of calls, Calls is enough.
	Whole       Money `json:"whole"`
	WholeTokens int   `json:"wholeTokens"`
	// Models are the shares of the first models of the calls, in the order of their first use. Their Usage counts
	// plain input, and output with thoughts.
	Models []Account `json:"models"`
	// FirstRound is the worst case of what precedes the first round, that round, and the conclusion.
	FirstRound Money `json:"firstRound"`
	// Steps are the calls of FirstRound in their order, at most [MaxSteps].
	Steps []PlannedCall `json:"steps,omitempty"`
}

// PlannedCall is a call that a conversation will make if all goes as planned.
type PlannedCall struct {
	Round  int      `json:"round,omitempty"` // 1; 0: before the first round, or in the conclusion
	Kind   CallKind `json:"kind"`
	By     string   `json:"by"`
	Target string   `json:"target,omitempty"`
	Model  string   `json:"model,omitempty"` // "": a person or a function is asked
	// Together numbers the calls that are made at once, from 1. Calls with the same number begin together.
	Together int  `json:"together"`
	Ends     bool `json:"ends,omitempty"` // it belongs to the conclusion
}

// MaxSteps bounds [Estimate].Steps.
const MaxSteps = 200

// TypicalReply is the length of a reply in the typical case of an [Estimate], in tokens.
const TypicalReply = 400

// typicalBytes is how many bytes a token has in the typical case.
const typicalBytes = 4

// typicalThoughts is the part of the tokens kept for thoughts that a typical reply takes: one in so many.
const typicalThoughts = 8

// EstimateStart walks through a conversation that would begin with this start, of at most this many rounds. ctx
// bounds the walk. The error is of kind validation if the flow has no Estimate.
func EstimateStart(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, rounds int) (Estimate, error) {
	worst, err := walk(ctx, m, contexts, start, rounds, Estimator{counts: true})
	if err != nil {
		return Estimate{}, err
	}
	usual, err := walk(ctx, m, contexts, start, rounds, Estimator{counts: true, usual: TypicalReply})
	if err != nil {
		return Estimate{}, err
	}
	out, whole := worst.out, usual.whole(true)
	out.Typical, out.TypicalTokens = usual.out.Cost, usual.out.Tokens
	out.Whole, out.WholeTokens, out.Steps = whole.cost, whole.tokens, worst.plan.calls
	return out, nil
}

// walk leads a flow's Estimate through a conversation. kind is an estimator that has not begun.
func walk(
	ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, rounds int, kind Estimator,
) (*Estimator, error) {
	s := &kind
	if m.flow.Estimate == nil {
		err := fmt.Errorf("conversations of the flow %q cannot be estimated", text.OneLine(start.Flow, 40))
		return nil, &Error{Kind: provider.KindValidation, Op: "estimate", Field: "flow", Err: err}
	}
	r := newRecord("estimate")
	if err := r.foldStart(start, time.Time{}, m); err != nil {
		return nil, err
	}
	r.lengths.visible, r.lengths.thoughts, r.foreseen = s.usual, s.thoughts, true
	s.core, s.ctx = &Core{machine: m, plans: contexts, record: r}, ctx
	if err := m.flow.Estimate(s, rounds); err != nil {
		return nil, err
	}
	return s, nil
}

// Estimator walks through a conversation and counts its calls. It makes none of them. [Flow].Estimate leads the walk,
// on one goroutine.
type Estimator struct {
	core *Core
	ctx  context.Context
	// usual is how many tokens a reply has. 0: replies are the longest.
	usual    int
	thoughts map[thinker]int // what replies have had so far, at most; nil: it is not known
	counts   bool            // tokens are counted where the vocabulary is known
	growth   int             // bytes that were said
	said     int             // messages
	added    int             // bytes that were added to system prompts
	out      Estimate
	// summaries is the part of out that summaries use. A conversation can do without them.
	summaries amount
	covered   map[string]said // by summaries, by their model and those who read them
	steps     steps           // of a walk with usual replies
	plan      planned
}

// planned are the calls of the first round, and of the conclusion.
type planned struct {
	calls   []PlannedCall
	batches int
	ending  bool // the walk is in the conclusion that follows the first round
	done    bool // it is beyond
}

// batch begins calls that are made at once, and returns their number.
func (p *planned) batch() int {
	p.batches++
	return p.batches
}

// add notes a call of a batch.
func (p *planned) add(call *Call, round, batch int) {
	if p.done || round > 1 || len(p.calls) >= MaxSteps {
		return
	}
	if p.ending {
		round = 0
	}
	p.calls = append(p.calls, PlannedCall{round, call.Kind, call.By, call.Target, call.Model, batch, p.ending})
}

// said is a part of the conversation.
type said struct{ bytes, messages int }

// Record returns the record that the walk begins with. Only the walk writes to it.
func (s *Estimator) Record() *Record { return s.core.record }

// Round begins a round. Its error is that of the context that bounds the walk, or of the flow's projection.
func (s *Estimator) Round(n int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	r := s.core.record
	r.beginRound(&Round{N: n}, time.Time{})
	if r.projection == nil {
		return nil
	}
	return r.projection.Fold(&Event{Body: &Round{N: n}})
}

// Said makes the calls that follow read this call's reply.
func (s *Estimator) Said(call *Call) {
	s.growth = min(added(s.growth, s.Length(call)), mostGrowth)
	s.said++
}

// Length returns the size, in bytes, that a call's reply takes where another call reads it: the maximum, or less if the
// walk is one of shorter replies.
func (s *Estimator) Length(call *Call) int { return s.core.record.growth(s.reply(call), call.By) }

// Added adds this call's reply to the system prompts of the calls that follow.
func (s *Estimator) Added(call *Call) { s.added = min(added(s.added, s.reply(call)), mostGrowth) }

// mostGrowth bounds the bytes that a walk adds up: no conversation has as many, and what is computed of them cannot overflow.
const mostGrowth = 1 << 52

// EstimateRounds makes a Flow.Estimate of a flow whose rounds are alike. Each function returns the calls of one step of a round,
// as if none had a result: they are made at once, and the calls that follow read their replies. end returns the calls of the
// conclusion.
func EstimateRounds(end func(r *Record) []*Call, steps ...func(r *Record) []*Call) func(*Estimator, int) error {
	return func(e *Estimator, rounds int) error {
		conclude := func() { e.Calls(end(e.Record())) }
		for n := 1; n <= rounds; n++ {
			if err := e.Round(n); err != nil {
				return err
			}
			for _, step := range steps {
				calls := step(e.Record())
				e.Calls(calls)
				for _, call := range calls {
					e.Said(call)
				}
			}
			if n == 1 {
				e.First(conclude)
			}
		}
		conclude()
		return nil
	}
}

// reply returns the length of a call's reply, in bytes.
func (s *Estimator) reply(call *Call) int { return s.tokens(call) * s.perToken() }

// perToken is how many bytes a token of a reply has. The most is also what control tokens in it add.
func (s *Estimator) perToken() int {
	if s.usual > 0 {
		return typicalBytes
	}
	return longestToken
}

// tokens returns how many tokens a call's reply has.
func (s *Estimator) tokens(call *Call) int {
	if s.usual > 0 {
		return min(s.longest(call), cmp.Or(call.Usual, s.usual))
	}
	return s.longest(call)
}

// First marks that the first round is complete. end counts the calls of the conclusion. What was counted so far,
// together with those calls, is what the conversation needs for a result. The walk then continues as if end had not
// been called. A walk that marks no first round is one without a conclusion.
func (s *Estimator) First(end func()) {
	sofar, summaries, steps := s.out, s.summaries, s.steps
	sofar.Models = append([]Account(nil), s.out.Models...)
	s.steps.last, s.plan.ending = nil, true
	end()
	s.plan.ending, s.plan.done = false, true
	steps.ends = len(s.steps.last)
	sofar.FirstRound = s.sum().less(s.summaries).cost
	s.out, s.summaries, s.steps = sofar, summaries, steps
}

func (s *Estimator) sum() amount { return amount{s.out.Cost, s.out.Tokens, s.out.Calls} }

func (u amount) less(v amount) amount {
	return amount{u.cost - v.cost, u.tokens - v.tokens, u.calls - v.calls}
}

// longest returns the most tokens that a reply may have with any of the call's models.
func (s *Estimator) longest(call *Call) int {
	return s.core.record.mostOf(call)
}

// Calls counts calls.
func (s *Estimator) Calls(calls []*Call) { s.Reading(0, calls) }

// Reading counts calls whose instructions will be this many bytes longer than they are now. A walk that has only
// counted a reply cannot quote it; bytes is the size that the quoted replies will take.
func (s *Estimator) Reading(bytes int, calls []*Call) {
	batch := s.plan.batch()
	for _, call := range calls {
		s.plan.add(call, s.core.record.Round, batch)
		if summary, former := s.summaryBefore(call); summary != nil {
			before := s.sum()
			for range s.parts(summary, former) {
				s.Reading(former, []*Call{summary})
			}
			s.summaries = s.summaries.plus(s.sum().less(before))
		}
		growth := s.growth
		if call.View.None {
			growth = 0
		}
		growth += s.added + bytes
		var ready *prepared
		if call.Performer == ByModel {
			ready = s.core.request(call)
		}
		s.step(call, ready, growth)
		switch call.Performer {
		case ByPerson:
		case ByModel:
			one, output := s.one(ready, growth)
			s.out.Calls++
			s.out.Cost = s.out.Cost.Plus(one.cost)
			s.out.Tokens = added(s.out.Tokens, one.tokens)
			a := account(&s.out.Models, call.Model)
			a.Requests++
			a.Cost = a.Cost.Plus(one.cost)
			a.Usage.Output = added(a.Usage.Output, output)
			a.Usage.Input = added(a.Usage.Input, one.tokens-output)
		default:
			s.out.Calls++
		}
	}
}

// summaryBefore returns a summary that a call may need first, and the most bytes of a former one.
func (s *Estimator) summaryBefore(call *Call) (summary *Call, former int) {
	return s.core.record.summaryBefore(call, s.growth, s.windowed(call.Model))
}

// windowed is how many bytes of what was said a token of a model's window holds.
func (s *Estimator) windowed(model string) int {
	if _, exact := s.core.record.counter(model); s.usual > 0 || s.counts && exact {
		return s.perToken()
	}
	return 1
}

// parts returns in how many parts a summarizer may read what the former summary does not cover: two parts in a row fill
// its room, and each has a message at least. Of what is read the newer half stays as it was said.
func (s *Estimator) parts(summary *Call, former int) int {
	r := s.core.record
	row, _ := r.Model(summary.Model)
	problem := r.room(summary.Model, row, summary.MaxTokens)
	room, limited := problem.Limit()
	if !limited {
		return 1
	}
	room *= s.windowed(summary.Model)
	room -= s.core.request(summary).bytes() + former
	if s.covered == nil {
		s.covered = make(map[string]said)
	}
	reader := summary.Model + " " + summary.span.only
	covered := s.covered[reader]
	left := said{s.growth - covered.bytes, s.said - covered.messages}
	s.covered[reader] = said{covered.bytes + left.bytes/2, covered.messages + left.messages/2}
	parts := left.messages
	if room > 0 {
		parts = min(parts, (2*left.bytes+room-1)/room)
	}
	return max(1, parts)
}

// one returns what a call uses, and the part of its tokens that is output, thoughts included. growth is how many bytes longer
// the conversation is by then. The worst case is that of the dearest of its models.
func (s *Estimator) one(ready *prepared, growth int) (most amount, output int) {
	r, call := s.core.record, ready.call
	if s.usual > 0 {
		model, _ := r.Model(call.Model)
		u := provider.Usage{Input: (ready.bytes() + call.Longer + growth) / typicalBytes, Output: s.tokens(call)}
		if counter, exact := r.counter(call.Model); s.counts && exact {
			u.Input = s.core.tokensOf(ready, counter) + (call.Longer+growth)/typicalBytes
		}
		u.Output = min(u.Output+r.usualThoughts(call, call.Model), r.capOf(call, &model))
		return amount{model.Cost(u), u.Input + u.Output, 1}, u.Output
	}
	for _, name := range append([]string{call.Model}, call.Fallbacks...) {
		model, _ := r.Model(name)
		tokens, input := r.capOf(call, &model), s.input(ready, name, growth)
		most.cost = max(most.cost, model.Bound(input, tokens))
		if input+tokens > most.tokens {
			most.tokens, output = input+tokens, tokens
		}
	}
	most.calls = 1
	return most, output
}

// input bounds the tokens of a call's input with a model.
func (s *Estimator) input(ready *prepared, name string, growth int) int {
	r := s.core.record
	model, _ := r.Model(name)
	growth += ready.call.Longer
	input := ready.bytes() + growth
	if counter, exact := r.counter(name); s.counts && exact {
		input = s.core.tokensOf(ready, counter) + (growth+s.perToken()-1)/s.perToken()
		if !ready.call.View.None {
			input += s.said * (transcript.Framing + 2*len(r.fence))
		}
	}
	return input + r.besideTexts(ready.call, &model)
}
