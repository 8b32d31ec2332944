package budget_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// spree is a random debate with a random vendor, whose answers follow from the request alone.
type spree struct {
	seed   uint64
	config debate.Config
	engine *debate.Engine
	faults bool // calls fail, and answers are spoiled, now and then
	silent bool // the vendor reports no usage, so that every call counts as the most that it can have used
}

// newSpree draws a debate without limits.
func newSpree(seed uint64) *spree {
	dice := rand.New(rand.NewPCG(seed, 3))
	config := debate.Config{
		ID: "spree", Topic: "Is thrift a virtue?", Format: format.RoundLimited, Rounds: 1 + dice.IntN(4),
		MaxTokens: 30 + dice.IntN(400), Unattended: true,
	}
	if dice.IntN(2) == 0 {
		config.Format = format.FreeForm
	}
	if dice.IntN(2) == 0 {
		config.Mode = debate.Simultaneous
	}
	sides := []debate.Side{debate.For, debate.Against}
	for i, name := range []string{"Ada", "Ben", "Cem", "Dee"}[:2+dice.IntN(3)] {
		p := debate.Participant{Name: name, Side: sides[i%2], Model: []string{"test/cheap", "test/dear"}[dice.IntN(2)]}
		if dice.IntN(3) == 0 {
			p.MaxTokens = 20 + dice.IntN(500)
		}
		config.Participants = append(config.Participants, p)
	}
	config.Judging = &debate.Judging{
		When: []debate.When{debate.EveryRound, debate.AtEnd}[dice.IntN(2)], BothOrders: dice.IntN(3) == 0, Anonymous: dice.IntN(3) == 0,
	}
	for range 1 + dice.IntN(2) {
		config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{
			Model: []string{"test/cheap", "test/dear"}[dice.IntN(2)], MaxTokens: 300 + dice.IntN(200),
		})
	}
	s := &spree{seed: seed, config: config, silent: dice.IntN(3) == 0}
	s.engine = &debate.Engine{
		Store:     &store.Memory{},
		Providers: map[string]debate.Provider{"test": stage.ProviderFunc(s.generate)},
		Models: map[string]debate.Model{
			"test/cheap": {Priced: true, Input: 100_000, Output: 400_000, CachedInput: 10_000},
			"test/dear": {
				Priced: true, Input: 3_000_000, Output: 15_000_000, CachedInput: 300_000, CacheWrite: 3_750_000, Thinking: 20_000_000,
			},
		},
	}
	return s
}

// crowded gives the spree an audience, and positions that are to be found.
func (s *spree) crowded() {
	s.config.MaxTokens = 3000
	s.config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Eve", Model: "test/cheap"}, {Name: "Fay", Model: "test/dear"}}}
	s.config.AssignPositions = &debate.AssignPositions{Model: "test/dear"}
}

func (s *spree) generate(_ context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(req.ID))
	dice := rand.New(rand.NewPCG(s.seed, hash.Sum64()))
	if s.faults && dice.IntN(5) == 0 {
		switch dice.IntN(3) {
		case 0:
			return nil, &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "no route"}
		case 1:
			return nil, &provider.Error{Kind: provider.KindTimeout, Message: "sent, and never answered"}
		default:
			return &provider.Response{Text: " ", Usage: s.usage(dice, req)}, nil
		}
	}
	text := s.answer(dice, req)
	if s.faults && req.Schema != nil && dice.IntN(6) == 0 {
		text = text[1:]
	}
	return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: s.usage(dice, req)}, nil
}

// answer is a speech of any length, also of more than is allowed, or a well-formed answer.
func (s *spree) answer(dice *rand.Rand, req *provider.Request) string {
	if req.Schema == nil {
		words := []string{"x", " ", "price ", "Ada Ben ", "价格", "\xff", "ban\n", "0"}
		word := words[dice.IntN(len(words))]
		return "So." + strings.Repeat(word, 1+dice.IntN(10*req.MaxTokens/len(word)+1))
	}
	var names []string
	for _, p := range s.config.Participants {
		names = append(names, p.Name)
	}
	if s.config.Judging.Anonymous {
		for i := range names {
			names[i] = "Speaker " + string(rune('A'+i))
		}
	}
	names = stage.Named(req.Schema.JSON, names)
	switch stage.KindOf(req) {
	case debate.KindVerdict:
		return stage.InShape(req.Schema.JSON, stage.Verdict(names))
	case debate.KindBallot:
		return `{"vote":"for","reasoning":"It is."}`
	case debate.KindAssign:
		var positions []map[string]any
		for i := range names {
			positions = append(positions, map[string]any{
				"position": strings.Repeat(string(rune('a'+i))+fmt.Sprint(i), 900)[:100+dice.IntN(1700)],
				"persona":  strings.Repeat("a persona of many words ", 1+dice.IntN(80)), "keyArguments": []string{strings.Repeat("an argument ", 1+dice.IntN(160))},
			})
		}
		return stage.Placed(req, stage.JSON(map[string]any{"positions": positions, "reasoning": "They differ."}))
	default:
		return stage.Judgement(names, true)
	}
}

// usage is what the vendor reports: nothing, or no more than the request can have taken.
func (s *spree) usage(dice *rand.Rand, req *provider.Request) provider.Usage {
	if s.silent || dice.IntN(8) == 0 {
		return provider.Usage{}
	}
	most := 0
	for _, text := range req.Chat() {
		most += len(text)
	}
	u := provider.Usage{Input: 1 + dice.IntN(most), Output: 1 + dice.IntN(req.MaxTokens)}
	u.CachedInput = dice.IntN(u.Input + 1)
	u.CacheWrite = dice.IntN(u.Input - u.CachedInput + 1)
	u.Reasoning = dice.IntN(u.Output + 1)
	return u
}

// outcome is how a spree has ended.
type outcome struct {
	record *debate.Record
	err    error
	most   use // that was ever settled and reserved together
}

// use is what is counted against a budget.
type use struct {
	cost   debate.Money
	tokens int
	calls  int
}

// play runs the spree; ok: its config was accepted.
func (s *spree) play(t *testing.T) (out outcome, ok bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		session, err := s.engine.Start(t.Context(), s.config)
		if err != nil {
			require.ErrorIs(t, err, &debate.Error{Kind: provider.KindValidation})
			return
		}
		ok = true
		out.record, out.err = session.WaitIdle(t.Context()) // at an error, calls may still be in flight
		require.NoError(t, session.Close())
		out.most = ceiling(t, s.engine.Store, s.config.ID)
	})
	return out, ok
}

// ceiling follows a stored debate and yields the most that it ever held or had used: what is settled,
// and the worst case of what is in flight.
func ceiling(t *testing.T, store debate.Store, id string) use {
	t.Helper()
	var settled, open, most use
	intents := map[string]*flow.Intent{}
	for event, err := range store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		if in := body.As[flow.Intent](event); in != nil {
			intents[in.Call] = in
			open = use{open.cost + in.Reserve, open.tokens + in.Bound, open.calls + 1}
		}
		if spend := flow.SpendOf(event.Body); spend != nil {
			in := intents[spend.Call]
			open = use{open.cost - in.Reserve, open.tokens - in.Bound, open.calls - 1}
			tokens := spend.Usage.Input + spend.Usage.Output
			if spend.BrokenOff || spend.Unreported {
				tokens = in.Bound
			}
			settled = use{settled.cost + spend.Cost + spend.AtMost, settled.tokens + tokens, settled.calls + 1}
		}
		most.cost = max(most.cost, settled.cost+open.cost)
		most.tokens = max(most.tokens, settled.tokens+open.tokens)
		most.calls = max(most.calls, settled.calls+open.calls)
	}
	return most
}

// limits are what can be limited, each with the least that is accepted and the most that matters.
var limits = map[string]struct {
	hard, soft func(*debate.Budget, int64)
	of         func(flow.Estimate) int64
	used       func(use) int64
}{
	"cost": {
		func(b *debate.Budget, n int64) { b.Hard = debate.Money(n) }, func(b *debate.Budget, n int64) { b.Soft = debate.Money(n) },
		func(e flow.Estimate) int64 { return int64(e.Cost) }, func(u use) int64 { return int64(u.cost) },
	},
	"tokens": {
		func(b *debate.Budget, n int64) { b.HardTokens = int(n) }, func(b *debate.Budget, n int64) { b.SoftTokens = int(n) },
		func(e flow.Estimate) int64 { return int64(e.Tokens) }, func(u use) int64 { return int64(u.tokens) },
	},
	"calls": {
		func(b *debate.Budget, n int64) { b.HardCalls = int(n) }, func(b *debate.Budget, n int64) { b.SoftCalls = int(n) },
		func(e flow.Estimate) int64 { return int64(e.Calls) }, func(u use) int64 { return int64(u.calls) },
	},
}

// span yields the estimates of one round and of all, between which limits are worth trying; the least are
// refused.
func (s *spree) span(t *testing.T, of func(flow.Estimate) int64) (least, most int64) {
	t.Helper()
	config := s.config
	all := stage.Estimated(t, s.engine, config)
	config.Rounds = 1
	one := stage.Estimated(t, s.engine, config)
	return of(one), of(all)
}
