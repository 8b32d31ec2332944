package flow

import (
	"context"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Estimate is what a conversation can use if every call succeeds at the first attempt. It assumes the maximum number of
// rounds, and calls that read as much as their window holds. Failed attempts and answers that are asked for again are
// not included.
//
// All its fields except the typical ones are the worst case: every reply has its maximum length.
type Estimate struct {
	Cost   Money `json:"cost"`
	Tokens int   `json:"tokens"` // input and output
	Calls  int   `json:"calls"`
	// Typical and TypicalTokens are the use if every reply has [TypicalReply] tokens, or its maximum where that is less,
	// and if a token has four bytes. No model was asked: replies may be shorter or longer.
	Typical       Money `json:"typical"`
	TypicalTokens int   `json:"typicalTokens"`
	// Models are the shares of the first models of the calls, in the order of their first use. Their Usage counts
	// plain input, and output with thoughts.
	Models []Account `json:"models"`
	// FirstRound is the cost that suffices for a result: what precedes the first round, that round, and the conclusion. With a
	// soft limit, the hard limit must also allow the conclusion a second time, which is reserved for asking again.
	FirstRound Money `json:"firstRound"`
}

// TypicalReply is the length of a reply in the typical case of an [Estimate], in tokens.
const TypicalReply = 400

// typicalBytes is how many bytes a token has in the typical case.
const typicalBytes = 4

// typicalThoughts is the part of the tokens kept for thoughts that a typical reply takes: one in so many.
const typicalThoughts = 4

// EstimateStart walks through a conversation that would begin with this start, of at most this many rounds. ctx
// bounds the walk. The error is of kind validation if the flow has no Estimate.
func EstimateStart(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, rounds int) (Estimate, error) {
	worst, err := walk(ctx, m, contexts, start, rounds, longest)
	if err != nil {
		return Estimate{}, err
	}
	usual, err := walk(ctx, m, contexts, start, rounds, typical)
	if err != nil {
		return Estimate{}, err
	}
	worst.out.Typical, worst.out.TypicalTokens = usual.out.Cost, usual.out.Tokens
	return worst.out, nil
}

// walk leads a flow's Estimate through a conversation.
func walk(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, rounds int, said replies) (*Estimator, error) {
	s, err := newWalk(ctx, m, contexts, start, said)
	if err != nil {
		return nil, err
	}
	if err := m.flow.Estimate(s, rounds); err != nil {
		return nil, err
	}
	return s, nil
}

// newWalk returns the estimator of a walk that has not begun.
func newWalk(ctx context.Context, m *Machine, contexts map[string]window.Manager, start *Start, said replies) (*Estimator, error) {
	if m.flow.Estimate == nil {
		err := fmt.Errorf("conversations of the flow %q cannot be estimated", text.OneLine(start.Flow, 40))
		return nil, &Error{Kind: provider.KindValidation, Op: "estimate", Field: "flow", Err: err}
	}
	r := newRecord("estimate")
	if err := r.foldStart(start, time.Time{}, m); err != nil {
		return nil, err
	}
	return &Estimator{core: &Core{machine: m, plans: contexts, record: r}, ctx: ctx, replies: said}, nil
}

// replies is how long the replies of a walk are.
type replies uint8

const (
	longest  replies = iota
	typical          // TypicalReply
	shortest         // empty, to see what has to be reserved at least
)

// Estimator walks through a conversation and counts its calls. It makes none of them. [Flow].Estimate leads the walk,
// on one goroutine.
type Estimator struct {
	core    *Core
	ctx     context.Context
	replies replies
	growth  int // bytes that were said
	said    int // messages
	added   int // bytes that were added to system prompts
	again   int // bytes that asking again adds to each instruction
	// reserving reports that the walk counts the conclusion as the engine keeps it back beside a call: its replies are the
	// longest, and the call's adds pending bytes to each request.
	reserving bool
	pending   int
	out       Estimate
	// summaries is the part of out that summaries use. A conversation can do without them.
	summaries amount
	covered   map[string]said // by summaries, by their model and those who read them
	need      need
	weigh     func(call *Call, growth int) // is called with each call of a model, and how much longer its request is; may be nil
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
	s.growth += s.Length(call)
	s.said++
}

// Length returns the size, in bytes, that a call's reply takes where another call reads it: the maximum, or less if the
// walk is one of shorter replies.
func (s *Estimator) Length(call *Call) int { return s.core.record.growth(s.reply(call), call.By) }

// Added adds this call's reply to the system prompts of the calls that follow.
func (s *Estimator) Added(call *Call) { s.added += s.reply(call) }

// EstimateRounds makes a Flow.Estimate of a flow whose rounds are alike. Each function returns the calls of one step of a round,
// as if none had a result: they are made at once, and the calls that follow read their replies. end returns the calls of the
// conclusion.
func EstimateRounds(end func(r *Record) []Call, steps ...func(r *Record) []Call) func(*Estimator, int) error {
	return func(e *Estimator, rounds int) error {
		conclude := func() { e.Calls(end(e.Record())) }
		for n := 1; n <= rounds; n++ {
			if err := e.Round(n); err != nil {
				return err
			}
			for _, step := range steps {
				calls := step(e.Record())
				e.Calls(calls)
				for i := range calls {
					e.Said(&calls[i])
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
func (s *Estimator) reply(call *Call) int {
	switch {
	case s.replies == typical:
		return s.tokens(call) * typicalBytes
	case s.replies == shortest && !s.reserving:
		return 0
	default:
		return longestReply(s.longest(call))
	}
}

// tokens returns how many tokens a call's reply has.
func (s *Estimator) tokens(call *Call) int {
	if s.replies == typical {
		return min(s.longest(call), TypicalReply)
	}
	return s.longest(call)
}

// First marks that the first round is complete. end counts the calls of the conclusion. What was counted so far,
// together with those calls, is what the conversation needs for a result. The walk then continues as if end had not
// been called. A walk that marks no first round is one without a conclusion.
func (s *Estimator) First(end func()) {
	sofar, summaries := s.out, s.summaries
	sofar.Models = append([]Account(nil), s.out.Models...)
	if s.replies == shortest {
		s.need.ends(s, end)
	} else {
		end()
		sofar.FirstRound = s.sum().less(s.summaries).cost
	}
	s.out, s.summaries = sofar, summaries
}

func (s *Estimator) sum() amount { return amount{s.out.Cost, s.out.Tokens, s.out.Calls} }

func (u amount) less(v amount) amount {
	return amount{u.cost - v.cost, u.tokens - v.tokens, u.calls - v.calls}
}

// longest returns the most tokens that a reply may have with any of the call's models.
func (s *Estimator) longest(call *Call) int {
	if call.MaxTokens > 0 {
		return call.MaxTokens
	}
	return s.core.record.settings.MaxTokens
}

// Calls counts calls.
func (s *Estimator) Calls(calls []Call) { s.Reading(0, calls) }

// Reading counts calls whose instructions will be this many bytes longer than they are now. A walk that has only
// counted a reply cannot quote it; bytes is the size that the quoted replies will take.
func (s *Estimator) Reading(bytes int, calls []Call) {
	for i := range calls {
		if summary, former := s.summaryBefore(&calls[i]); summary != nil {
			before := s.sum()
			for range s.parts(summary, former) {
				s.Reading(former, []Call{*summary})
			}
			s.summaries = s.summaries.plus(s.sum().less(before))
		}
		if calls[i].Performer == ByPerson {
			continue
		}
		s.out.Calls++
		if calls[i].Performer != ByModel {
			s.need.add(s, &calls[i], amount{calls: 1})
			continue
		}
		growth := s.growth
		if calls[i].View.None {
			growth = 0
		}
		growth += s.added + s.again + s.pending + bytes
		if s.weigh != nil {
			s.weigh(&calls[i], growth)
		}
		one, output := s.one(&calls[i], growth)
		s.need.add(s, &calls[i], one)
		s.out.Cost = s.out.Cost.plus(one.cost)
		s.out.Tokens += one.tokens
		a := account(&s.out.Models, calls[i].Model)
		a.Requests++
		a.Cost = a.Cost.plus(one.cost)
		a.Usage.Output += output
		a.Usage.Input += one.tokens - output
	}
}

// summaryBefore returns a summary that a call may need first, and the most bytes of a former one. It returns nil if the
// walk looks for the least: a conversation can do without summaries.
func (s *Estimator) summaryBefore(call *Call) (summary *Call, former int) {
	switch s.replies {
	case shortest:
		return nil, 0
	case typical:
		return s.core.record.summaryBefore(call, s.growth, typicalBytes)
	default:
		return s.core.record.summaryBefore(call, s.growth, 1)
	}
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
	if s.replies == typical {
		room *= typicalBytes
	}
	room -= s.core.bytes(summary) + former
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
// the conversation is by then.
func (s *Estimator) one(call *Call, growth int) (amount, int) {
	if s.replies != typical {
		return s.core.worstReply(call, s.core.bytes(call)+growth)
	}
	u := provider.Usage{Input: (s.core.bytes(call) + growth) / typicalBytes, Output: s.tokens(call)}
	model, _ := s.core.record.Model(call.Model)
	u.Output += model.thoughts(call.Options) / typicalThoughts
	if model.MaxOutput > 0 {
		u.Output = min(u.Output, model.MaxOutput)
	}
	return amount{model.Cost(u), u.Input + u.Output, 1}, u.Output
}
