package debate_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// spree is a random debate with a random vendor, whose answers follow from the request alone.
type spree struct {
	seed   uint64
	config debate.Config
	engine *debate.Engine
	faults bool // calls fail, and answers are spoiled, now and then
	silent bool // the vendor reports no usage, so that every call is charged in full
}

// newSpree draws a debate without limits.
func newSpree(seed uint64) *spree {
	dice := rand.New(rand.NewPCG(seed, 3))
	config := debate.Config{
		ID: "spree", Topic: "Is thrift a virtue?", Format: format.RoundLimited, Rounds: 1 + dice.IntN(4),
		MaxTokens: 30 + dice.IntN(400), Unattended: &debate.Unattended{},
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
		Providers: map[string]debate.Provider{"test": providerFunc(s.generate)},
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
	s.config.Assign = &debate.Assign{Model: "test/dear"}
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
	switch req.Schema.Name {
	case "verdict":
		return verdict(names)
	case "ballot":
		return `{"vote":"for","reasoning":"It is."}`
	case "assign":
		var positions []map[string]any
		for i := range names {
			positions = append(positions, map[string]any{
				"position": strings.Repeat(string(rune('a'+i))+fmt.Sprint(i), 900)[:100+dice.IntN(1700)],
				"persona":  strings.Repeat("a persona of many words ", 1+dice.IntN(80)), "keyArguments": []string{strings.Repeat("an argument ", 1+dice.IntN(160))},
			})
		}
		return toJSON(map[string]any{"positions": positions, "reasoning": "They differ."})
	default:
		return judgement(names, true)
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
		out.record, out.err = session.Wait(t.Context())
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
		if in := as[flow.Intent](event); in != nil {
			intents[in.Call] = in
			open = use{open.cost + in.Reserve, open.tokens + in.Bound, open.calls + 1}
		}
		if spend := flow.SpendOf(event.Body); spend != nil {
			in := intents[spend.Call]
			open = use{open.cost - in.Reserve, open.tokens - in.Bound, open.calls - 1}
			tokens := spend.Usage.Input + spend.Usage.Output
			if spend.Estimated {
				tokens = in.Bound
			}
			settled = use{settled.cost + spend.Cost, settled.tokens + tokens, settled.calls + 1}
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
	all, err := s.engine.Estimate(t.Context(), config)
	require.NoError(t, err)
	config.Rounds = 1
	one, err := s.engine.Estimate(t.Context(), config)
	require.NoError(t, err)
	return of(one), of(all)
}

// Whatever is limited, however calls fail: at no moment are what is settled and what is reserved more
// than the limit.
func TestAHardLimitIsNeverPassed(t *testing.T) {
	for dimension, limit := range limits {
		t.Run(dimension, func(t *testing.T) {
			played, stopped := 0, 0
			for seed := uint64(0); played < 300/fewer; seed++ {
				require.Less(t, seed, uint64(3000), "limits are accepted")
				s := newSpree(seed)
				dice := rand.New(rand.NewPCG(seed, 4))
				s.faults = dice.IntN(2) == 0
				least, most := s.span(t, limit.of)
				hard := least + dice.Int64N(max(1, (most-least)*11/10+least/10))
				s.config.Budget = &debate.Budget{}
				limit.hard(s.config.Budget, hard)
				if dice.IntN(3) == 0 {
					limit.soft(s.config.Budget, least+dice.Int64N(hard-least+1))
				}
				out, ok := s.play(t)
				if !ok {
					continue
				}
				played++
				require.LessOrEqual(t, limit.used(out.most), hard, "seed %d", seed)
				if errors.Is(out.err, &debate.Error{Kind: provider.KindCostLimit}) {
					stopped++
					assert.Equal(t, flow.StateError, out.record.State, "seed %d", seed)
				}
			}
			assert.Greater(t, stopped, 10/fewer)
		})
	}
}

// A soft limit, alone or below or at a hard one, ends in a verdict: what that may take is kept back.
func TestASoftLimitEndsWithAVerdict(t *testing.T) {
	for dimension, limit := range limits {
		t.Run(dimension, func(t *testing.T) {
			played, cut := 0, 0
			for seed := uint64(0); played < 300/fewer; seed++ {
				require.Less(t, seed, uint64(3000), "limits are accepted")
				s := newSpree(seed)
				dice := rand.New(rand.NewPCG(seed, 5))
				least, most := s.span(t, limit.of)
				soft := least + dice.Int64N(max(1, most-least))
				s.config.Budget = &debate.Budget{}
				limit.soft(s.config.Budget, soft)
				name := fmt.Sprintf("seed %d, soft %d of %d to %d", seed, soft, least, most)
				if dice.IntN(2) == 0 {
					hard := soft + dice.Int64N(most/4+1)*dice.Int64N(2)
					limit.hard(s.config.Budget, hard)
					name += fmt.Sprintf(", hard %d", hard)
				}
				out, ok := s.play(t)
				if !ok {
					continue
				}
				played++
				require.NoError(t, out.err, name)
				require.Equal(t, flow.StateCompleted, out.record.State, name)
				require.NotEmpty(t, out.record.Turns, name)
				require.NotNil(t, view(out.record).Verdict, name)
				if len(out.record.Turns) < len(s.config.Participants)*s.config.Rounds {
					cut++
					require.Equal(t, flow.EndSoftLimit, out.record.Reason, name)
					require.NotEmpty(t, out.record.Evidence, name)
				}
			}
			assert.Greater(t, cut, 30/fewer)
		})
	}
}

// What is kept back for the verdict is enough whatever is said: also where the judge is shown longer words
// than were spoken.
func TestTheVerdictsShareHoldsWhateverIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		word      string
		anonymous bool
	}{
		"plain":        {"a", false},
		"not UTF-8":    {"\xffa", false},
		"names":        {"A B ", false},
		"hidden names": {"A B ", true},
		"digits":       {"0", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTalk(3, 0)
			d.config.MaxTokens, d.config.Judging.Anonymous = 2000, test.anonymous
			d.config.Participants[0].Name, d.config.Participants[1].Name = "A", "B"
			d.p.Reply = func(req *provider.Request) scripted.Reply {
				switch {
				case req.Schema == nil:
					return scripted.Reply{Text: strings.Repeat(test.word, 16_000/len(test.word))}
				case test.anonymous:
					return scripted.Reply{Text: verdict([]string{"Speaker A", "Speaker B"})}
				default:
					return scripted.Reply{Text: verdict([]string{"A", "B"})}
				}
			}
			estimate, err := d.engine.Estimate(t.Context(), d.config)
			require.NoError(t, err)
			for step := range debate.Money(30) {
				limit := 2*estimate.FirstRound + estimate.FirstRound*step/10
				d.config.Budget = &debate.Budget{Soft: limit - limit/50, Hard: limit}
				record := run(t, d.engine, d.config)
				require.NotNil(t, view(record).Verdict, "limit %s", limit)
			}
		})
	}
}

// Faults take from what there is for rounds, never from what is kept back.
func TestASoftLimitEndsWithAVerdictThoughCallsFail(t *testing.T) {
	for seed := range uint64(200) {
		s := newSpree(seed)
		s.config.Mode, s.config.Judging = debate.Sequential, &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/dear", MaxTokens: 300}}}
		inner := s.engine.Providers["test"]
		s.engine.Providers["test"] = providerFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			hash := fnv.New64a()
			_, _ = hash.Write([]byte(req.ID))
			if req.Schema == nil && hash.Sum64()%3 == 0 && !strings.HasSuffix(req.ID, "/2") {
				return nil, &provider.Error{Kind: provider.KindTimeout, Message: "sent, and never answered"} // charged in full
			}
			return inner.Generate(ctx, req, emit)
		})
		dice := rand.New(rand.NewPCG(seed, 6))
		least, most := s.span(t, limits["cost"].of)
		soft := least + dice.Int64N(max(1, most-least))
		s.config.Budget = &debate.Budget{Soft: debate.Money(soft), Hard: debate.Money(soft + soft/10)}
		out, ok := s.play(t)
		if !ok {
			continue
		}
		require.NoError(t, out.err, "seed %d", seed)
		if len(out.record.Turns) > 0 {
			require.NotNil(t, view(out.record).Verdict, "seed %d", seed)
		}
	}
}

// What is tried again and again before the first round may use up a soft limit: the debate then ends
// there, as at any soft limit.
func TestASoftLimitBeforeTheFirstRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Rounds, config.Unattended = 1, &debate.Unattended{}
		config.Audience = &debate.Audience{Members: slices.Repeat([]debate.Member{{Model: "test/judge"}}, 6)}
		engine, p := engineFor(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if strings.Contains(req.ID, "/vote.") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "no route"}}
			}
			return reply(req)
		}
		estimate, err := engine.Estimate(t.Context(), config)
		require.NoError(t, err)
		config.Budget = &debate.Budget{SoftCalls: estimate.Calls}
		record := run(t, engine, config)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
		assert.Equal(t, config.Budget.SoftCalls, record.Spent().Requests, "of 24 attempts at the first votes")
	})
}

// Where the soft limit is the hard one, or is near it, the debate concludes: a call that fits neither is
// not what a hard limit is for. Here a turn is dearer than all that the verdict may take.
func TestASoftLimitComesBeforeTheHardOne(t *testing.T) {
	for _, above := range []debate.Money{0, debate.USD / 1000} {
		t.Run(above.String(), func(t *testing.T) {
			d := newTalk(4, 0)
			d.engine.Models["test/judge"] = debate.Model{Priced: true, Input: 1, Output: 1}
			one := d.config
			one.Rounds = 1
			estimate, err := d.engine.Estimate(t.Context(), one)
			require.NoError(t, err)
			soft := estimate.Cost * 3 / 2
			d.config.Budget = &debate.Budget{Soft: soft, Hard: soft + above}
			record := run(t, d.engine, d.config)
			assert.Equal(t, flow.EndSoftLimit, record.Reason)
			assert.NotNil(t, view(record).Verdict)
			assert.LessOrEqual(t, record.Spent().Cost, soft+above)
		})
	}
}

// Validation lets the least limits pass with which one round and its verdict can be had; then they are.
func TestTheLeastLimitsAllowOneRound(t *testing.T) {
	for _, when := range []debate.When{debate.EveryRound, debate.AtEnd} {
		for dimension, limit := range limits {
			t.Run(dimension+" "+string(when), func(t *testing.T) {
				config := twoDebaters()
				config.Judging.When = when
				engine, _ := engineFor(config)
				least := config
				least.Rounds, least.Format = 1, format.FreeForm
				config.Format = format.FreeForm
				estimate, err := engine.Estimate(t.Context(), least)
				require.NoError(t, err)
				config.Budget = &debate.Budget{}
				var session *debate.Session
				for n := limit.of(estimate); session == nil; n += max(1, n/100) {
					require.Less(t, n, 2*limit.of(estimate))
					limit.soft(config.Budget, n)
					limit.hard(config.Budget, n)
					if session, err = engine.Start(t.Context(), config); err != nil {
						require.ErrorIs(t, err, &debate.Error{Kind: provider.KindValidation})
						session = nil
					}
				}
				defer session.Close()
				record, err := session.Wait(t.Context())
				require.NoError(t, err)
				assert.GreaterOrEqual(t, len(record.Turns), 2)
				assert.NotNil(t, view(record).Verdict)
			})
		}
	}
}

// Every account holds the same money and the same tokens, by whatever it is divided.
func TestAccountsAddUp(t *testing.T) {
	sum := func(list []flow.Account) (total flow.Account) {
		for _, a := range list {
			total.Cost += a.Cost
			total.Usage = total.Usage.Add(a.Usage)
			total.Requests += a.Requests
		}
		return total
	}
	for seed := range uint64(60) {
		s := newSpree(seed)
		s.crowded()
		s.faults = true
		out, ok := s.play(t)
		require.True(t, ok)
		if out.record == nil {
			require.NoError(t, out.err)
		}
		r := out.record
		var rounds []flow.Account
		for round := range r.Round + 1 {
			rounds = append(rounds, r.SpentInRound(round))
		}
		assert.Equal(t, r.Spent(), sum(r.SpentByModel()), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(r.SpentByParticipant()), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(rounds), "seed %d", seed)
		assert.Equal(t, r.Spent(), sum(flow.SpentByLabel("tenant", r)), "seed %d", seed)
		assert.Zero(t, r.Reserved(), "seed %d", seed)
	}
}

func TestAccountsByTenant(t *testing.T) {
	var records []*debate.Record
	for _, tenant := range []string{"acme", "", "bits", "acme"} {
		config := twoDebaters()
		if tenant != "" {
			config.Labels = map[string]string{"tenant": tenant, "other": "x"}
		}
		engine, p := engineFor(config)
		records = append(records, run(t, engine, config))
		assert.Equal(t, config.Labels, p.Requests()[0].Labels)
	}
	one := records[0].Spent()
	got := flow.SpentByLabel("tenant", records...)
	require.Len(t, got, 3)
	assert.Equal(t, []string{"acme", "", "bits"}, []string{got[0].Name, got[1].Name, got[2].Name})
	assert.Equal(t, 2*one.Cost, got[0].Cost)
	assert.Equal(t, 2*one.Requests, got[0].Requests)
	assert.Equal(t, one.Usage, got[1].Usage)
	assert.Empty(t, flow.SpentByLabel("tenant"))
	assert.Equal(t, []flow.Account{{}}, flow.SpentByLabel("tenant", &debate.Record{}))
}

// In USD for a million tokens: 3 in, 0.3 from the cache, 3.75 into it, 15 out, 20 of thoughts; 6 and 22.5
// of a long request.
func TestEveryTokenHasItsOwnRate(t *testing.T) {
	row := debate.Model{
		Priced: true, Input: 3_000_000, CachedInput: 300_000, CacheWrite: 3_750_000, Output: 15_000_000, Thinking: 20_000_000,
		InputLong: 6_000_000, OutputLong: 22_500_000,
	}
	for name, test := range map[string]struct {
		usage provider.Usage
		want  debate.Money // in pico-USD
	}{
		"plain":     {provider.Usage{Input: 1000, Output: 100}, 1000*3_000_000 + 100*15_000_000},
		"cached":    {provider.Usage{Input: 1000, CachedInput: 600, Output: 1}, 400*3_000_000 + 600*300_000 + 15_000_000},
		"written":   {provider.Usage{Input: 1000, CacheWrite: 999, Output: 1}, 3_000_000 + 999*3_750_000 + 15_000_000},
		"all three": {provider.Usage{Input: 1000, CachedInput: 600, CacheWrite: 100, Output: 500, Reasoning: 200}, 300*3_000_000 + 600*300_000 + 100*3_750_000 + 300*15_000_000 + 200*20_000_000},
		"thoughts":  {provider.Usage{Input: 1, Output: 500, Reasoning: 500}, 3_000_000 + 500*20_000_000},
		"long":      {provider.Usage{Input: 200_001, CachedInput: 1, Output: 2}, 200_000*6_000_000 + 300_000 + 2*22_500_000},
		"not long":  {provider.Usage{Input: 200_000, Output: 2}, 200_000*3_000_000 + 2*15_000_000},
		"one token": {provider.Usage{Output: 1}, 15_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			config := brief()
			engine, p := engineFor(config)
			engine.Models["test/debater"] = row
			p.Reply = func(req *provider.Request) scripted.Reply {
				return scripted.Reply{Text: speech(req.Self, 1), Usage: test.usage}
			}
			record := run(t, engine, config)
			assert.Equal(t, test.want, record.Turns[0].Cost)
			assert.Equal(t, 2*test.want, record.Spent().Cost)
			assert.Equal(t, test.usage.Add(test.usage), record.SpentByModel()[0].Usage)
			assert.False(t, record.Turns[0].Estimated)
		})
	}
}

func TestAnUnknownUsageIsChargedInFull(t *testing.T) {
	d := newTalk(2, 0)
	d.engine.Store = &store.Memory{}
	record := run(t, d.engine, d.config)
	for event, err := range d.engine.Store.Read(t.Context(), record.ID, 0) {
		require.NoError(t, err)
		if in := as[flow.Intent](event); in != nil && in.Call == oldest {
			assert.Equal(t, in.Reserve, record.Turns[0].Cost)
			assert.True(t, record.Turns[0].Estimated)
		}
	}
	assert.Positive(t, record.Spent().Cost)
}

func TestLimitsThatLeaveNoRoomForARoundAreRefused(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	estimate, err := engine.Estimate(t.Context(), config)
	require.NoError(t, err)
	config.Budget = &debate.Budget{
		Soft: estimate.FirstRound - 1, Hard: estimate.FirstRound - 1, SoftCalls: 3, HardCalls: 3, SoftTokens: 100, HardTokens: 100,
	}
	assert.Equal(t, []string{"budget.hard", "budget.hardCalls", "budget.hardTokens", "budget.soft", "budget.softCalls", "budget.softTokens"},
		fields(t, engine.Validate(t.Context(), config)))
	config.Budget = &debate.Budget{Soft: estimate.FirstRound, SoftCalls: 4}
	require.NoError(t, engine.Validate(t.Context(), config))
	config.Budget = &debate.Budget{Hard: estimate.FirstRound, HardCalls: 4}
	require.NoError(t, engine.Validate(t.Context(), config))
	// Beside a soft limit the verdict is kept back, and may be asked for twice.
	config.Budget = &debate.Budget{Soft: estimate.FirstRound, Hard: estimate.FirstRound, SoftCalls: 4, HardCalls: 4}
	assert.Equal(t, []string{"budget.hard", "budget.hardCalls"}, fields(t, engine.Validate(t.Context(), config)))
}

func TestALimitNeedsAPrice(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	engine.Models["test/judge"] = debate.Model{Input: 1}
	require.NoError(t, engine.Validate(t.Context(), config))
	for name, budget := range map[string]debate.Budget{"warn": {Warn: debate.USD}, "soft": {Soft: 10 * debate.USD}, "hard": {Hard: 10 * debate.USD}} {
		t.Run(name, func(t *testing.T) {
			config.Budget = &budget
			require.ErrorIs(t, engine.Validate(t.Context(), config), &debate.Error{Kind: provider.KindValidation})
		})
	}
	config.Budget = &debate.Budget{HardTokens: 10_000_000, HardTime: time.Hour}
	assert.NoError(t, engine.Validate(t.Context(), config), "tokens and time have no price")
}

func TestTheWarningTellsThresholdSpendAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{Warn: debate.USD / 1000}
		engine, p := engineFor(config)
		engine.Store = &store.Memory{}
		slowly(p)
		record := run(t, engine, config)
		var warnings []debate.Event
		var spent debate.Money
		for event, err := range engine.Store.Read(t.Context(), record.ID, 0) {
			require.NoError(t, err)
			if spend := flow.SpendOf(event.Body); spend != nil && len(warnings) == 0 {
				spent += spend.Cost
			}
			if as[flow.Warning](event) != nil {
				warnings = append(warnings, event)
			}
		}
		require.Len(t, warnings, 1)
		w := as[flow.Warning](warnings[0])
		assert.Equal(t, flow.WarnCost, w.Kind)
		assert.Equal(t, debate.USD/1000, w.Threshold)
		assert.Equal(t, spent, w.Spend)
		assert.GreaterOrEqual(t, w.Spend, w.Threshold)
		assert.Greater(t, warnings[0].At.Sub(record.StartedAt), time.Second)
		assert.Equal(t, undisturbed(t, config), canonical(t, record), "it only tells")
	})
}

func TestAnAcknowledgementNeedsAWarning(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000}
	inBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		require.ErrorIs(t, s.Acknowledge(t.Context()), &debate.Error{Kind: provider.KindState})
		pass(6 * time.Second)
		require.NoError(t, s.Acknowledge(t.Context()))
		require.ErrorIs(t, s.Acknowledge(t.Context()), &debate.Error{Kind: provider.KindState})
		_, err := s.Wait(t.Context())
		require.NoError(t, err)
	})
}

func TestConfirmBlocksUntilSomebodyHasSeenTheWarning(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := twoDebaters()
			config.Mode, config.Budget = mode, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			inBubble(t, config, func(t *testing.T, s *debate.Session, p *scripted.Provider) {
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				calls := p.Calls()
				pass(time.Hour)
				assert.Equal(t, calls, p.Calls(), "nothing is asked")
				assert.Equal(t, flow.StateAwaitingInput, s.State())
				require.NoError(t, s.Acknowledge(t.Context()))
				record, err := s.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, undisturbed(t, config), canonical(t, record))
				assert.Len(t, record.Warnings, 1)
			})
		})
	}
}

func TestConfirmWithNobodyThere(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
	for name, test := range map[string]struct {
		unattended debate.Unattended
		turns      int
		reason     flow.EndReason
	}{
		"concludes":          {debate.Unattended{}, 2, flow.EndSoftLimit},
		"concludes, as told": {debate.Unattended{Budget: flow.OptionEnd}, 2, flow.EndSoftLimit},
		"goes on":            {debate.Unattended{Budget: flow.OptionRetry}, 6, flow.EndRounds},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Unattended = &test.unattended
			engine, _ := engineFor(config)
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.NotNil(t, view(record).Verdict)
			assert.Equal(t, test.reason, record.Reason)
			assert.Len(t, record.Turns, test.turns)
		})
	}
}

// The warning may come with the last call that is made: nobody is kept waiting for what is paid already.
func TestConfirmAtTheVerdict(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	whole := run(t, engine, config).Spent().Cost
	config.Budget = &debate.Budget{Warn: whole, Confirm: true}
	engine, _ = engineFor(config)
	record := run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Warnings, 1)
}

// A soft limit of time lets those who speak finish; then comes the verdict.
func TestASoftLimitOfTime(t *testing.T) {
	config := twoDebaters()
	config.Budget = &debate.Budget{SoftTime: 3500 * time.Millisecond} // in Ada's second turn, after two turns and an assessment
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			config := config
			config.Mode = mode
			inBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				began := time.Now()
				record, err := s.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, flow.EndSoftLimit, record.Reason)
				assert.Contains(t, record.Evidence, "3.5s")
				assert.NotNil(t, view(record).Verdict)
				assert.Equal(t, 5*time.Second, time.Since(began), "a second for who speaks, and one for the verdict")
				assert.Len(t, record.Turns, map[debate.Mode]int{debate.Sequential: 3, debate.Simultaneous: 4}[mode])
			})
		})
	}
}

func TestASoftLimitOfTimeDoesNotWaitForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{SoftTime: 10 * time.Second}
		engine, p := engineFor(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if strings.Contains(req.ID, "/r2.rebuttal.Ada/") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, Status: 429}}
			}
			return reply(req)
		}
		began := time.Now()
		record := run(t, engine, config)
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Equal(t, flow.EndSoftLimit, record.Reason)
		assert.NotNil(t, view(record).Verdict)
	})
}

// At a hard limit of time what is in flight is broken off, and charged.
func TestAHardLimitOfTime(t *testing.T) {
	for name, test := range map[string]struct {
		limit time.Duration
		turns int
	}{
		"in a turn": {3500 * time.Millisecond, 2},
		"between":   {3 * time.Second, 2},
		"verdict":   {9500 * time.Millisecond, 6},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.Budget = &debate.Budget{HardTime: test.limit}
			inBubble(t, config, func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
				began := time.Now()
				record, err := s.Wait(t.Context())
				require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
				assert.Equal(t, test.limit, time.Since(began))
				assert.Equal(t, flow.StateError, record.State)
				assert.Len(t, record.Turns, test.turns)
				synctest.Wait()
				record, err = s.Record(t.Context())
				require.NoError(t, err)
				assert.Zero(t, record.InFlight())
				assert.Zero(t, record.Reserved())
				assert.Equal(t, flow.WarnHard, record.Warnings[len(record.Warnings)-1].Kind)
			})
		})
	}
}

func TestAPauseDoesNotStopTheClockOfABudget(t *testing.T) {
	config := twoDebaters()
	for name, test := range map[string]struct {
		budget debate.Budget
		err    error
	}{
		"soft": {debate.Budget{SoftTime: time.Minute}, nil},
		"hard": {debate.Budget{HardTime: time.Minute}, &debate.Error{Kind: provider.KindCostLimit}},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Budget = &test.budget
			inBubble(t, config, func(t *testing.T, s *debate.Session, p *scripted.Provider) {
				pass(1500 * time.Millisecond)
				require.NoError(t, s.Pause(t.Context()))
				pass(time.Hour)
				calls := p.Calls()
				assert.Equal(t, flow.StatePaused, s.State(), "nothing happens in a pause")
				require.NoError(t, s.Resume(t.Context()))
				record, err := s.Wait(t.Context())
				require.ErrorIs(t, err, test.err)
				assert.Equal(t, []string{"r1 Ada"}, speakers(record))
				if test.err == nil {
					assert.Equal(t, flow.EndSoftLimit, record.Reason)
					assert.NotNil(t, view(record).Verdict)
					assert.Equal(t, calls+1, p.Calls())
				}
			})
		})
	}
}

// dawdling makes each reply take a second and Ben's of the given round ten. Its judge speaks of those
// who are left.
func dawdling(p *scripted.Provider, round string) {
	slowly(p)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if strings.Contains(req.ID, "/"+round+".") && req.Self == "Ben" {
			r.Delay = 10 * time.Second
		}
		if req.Schema == nil {
			return r
		}
		names := slices.DeleteFunc([]string{"Ada", "Ben", "Cem"}, func(name string) bool {
			return !strings.Contains(string(req.Schema.JSON), strconv.Quote(name))
		})
		if r.Text = judgement(names, true); req.Schema.Name == "verdict" {
			r.Text = verdict(names)
		}
		return r
	}
}

// three is a debate of three in which Ben dawdles in one round.
func three(mode debate.Mode, round string, test func(t *testing.T, s *debate.Session)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			config := twoDebaters()
			config.Mode, config.RoundTimeout = mode, 3500*time.Millisecond
			config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Side: debate.Against, Model: "test/debater"})
			engine, p := engineFor(config)
			dawdling(p, round)
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			test(t, session)
		})
	}
}

func TestARoundThatTakesTooLong(t *testing.T) {
	lates := func(r *debate.Record) (n int) {
		for _, w := range r.Warnings {
			if w.Kind == flow.WarnLate {
				n++
			}
		}
		return n
	}
	t.Run("sequential", three(debate.Sequential, "r1", func(t *testing.T, s *debate.Session) {
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"r1 Ada", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record), "Cem had no turn and stays")
		assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
		assert.Len(t, view(record).Assessments, 3)
		assert.Equal(t, 1, lates(record))
	}))
	t.Run("simultaneous", three(debate.Simultaneous, "r1", func(t *testing.T, s *debate.Session) {
		began := time.Now()
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Cem", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record))
		assert.Equal(t, flow.StatusDropped, record.Participant("Ben").Status)
		assert.Equal(t, 1, lates(record))
		// the late round, two others, three assessments, the verdict
		assert.Equal(t, 3500*time.Millisecond+2*time.Second+3*time.Second+time.Second, time.Since(began))
	}))
	t.Run("in the second round", three(debate.Simultaneous, "r2", func(t *testing.T, s *debate.Session) {
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben", "r1 Cem", "r2 Ada", "r2 Cem", "r3 Ada", "r3 Cem"}, speakers(record))
		assert.NotNil(t, view(record).Verdict)
	}))
	t.Run("a pause stops the round's time", three(debate.Sequential, "none", func(t *testing.T, s *debate.Session) {
		pass(1500 * time.Millisecond)
		require.NoError(t, s.Pause(t.Context(), debate.Drain))
		pass(time.Hour)
		require.NoError(t, s.Resume(t.Context()))
		record, err := s.Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, record.Turns, 9)
		assert.Zero(t, lates(record))
	}))
}

// Of two nobody can be dropped before a round is complete: then the debate fails, else it is over.
func TestARoundThatTakesTooLongForTwo(t *testing.T) {
	for round, want := range map[string]error{"r1": &debate.Error{Kind: provider.KindTimeout}, "r2": nil} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
			t.Run(round+" "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := twoDebaters()
					config.Mode, config.RoundTimeout = mode, 2500*time.Millisecond
					engine, p := engineFor(config)
					dawdling(p, round)
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					record, err := session.Wait(t.Context())
					require.ErrorIs(t, err, want)
					if want == nil {
						assert.Equal(t, flow.EndTooFew, record.Reason)
						assert.NotNil(t, view(record).Verdict)
						assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben", "r2 Ada"}, speakers(record))
					} else {
						assert.Equal(t, flow.StateError, record.State)
						assert.Empty(t, view(record).Verdicts)
					}
				})
			})
		}
	}
}

// A reply is cut at eight bytes for each of its tokens, whatever it is made of: else nobody could say
// what the calls that read it may cost.
func TestARepliesBytesAreBounded(t *testing.T) {
	for name, word := range map[string]string{"letters": "a", "words": "ban ", "Chinese": "价", "not UTF-8": "\xffa", "nothing but bytes": "\xff\xfea"} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{replyTokens*8 - 1, replyTokens * 8, replyTokens*8 + 1, replyTokens * 100} {
				d := newTalk(1, 0)
				text := strings.Repeat(word, size/len(word)+1)[:size]
				d.p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: text} }
				d.config.Judging = nil
				record := run(t, d.engine, d.config)
				assert.LessOrEqual(t, len(record.Turns[0].Text), replyTokens*8, "of %d bytes", size)
				assert.Equal(t, len(strings.ToValidUTF8(text, "\uFFFD")) > replyTokens*8, record.Turns[0].Cut)
			}
		})
	}
}
