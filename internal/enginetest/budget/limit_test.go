package budget_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Whatever is limited, however calls fail: at no moment are what is settled and what is reserved more
// than the limit.
func TestAHardLimitIsNeverPassed(t *testing.T) {
	t.Parallel()
	for dimension, limit := range limits {
		t.Run(dimension, func(t *testing.T) {
			played, stopped := 0, 0
			for seed := uint64(0); played < 300/longform.Fewer(); seed++ {
				require.Less(t, seed, uint64(3000), "limits are accepted")
				s := newSpree(seed)
				dice := rand.New(rand.NewPCG(seed, 4))
				s.faults = dice.IntN(2) == 0
				least, most := s.span(t, limit.of)
				least /= 2 // less than the worst case of one round is accepted too
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
			assert.Greater(t, stopped, 10/longform.Fewer())
		})
	}
}

// A soft limit, alone or below or at a hard one, ends in a verdict: what that may take is kept back.
func TestASoftLimitEndsWithAVerdict(t *testing.T) {
	t.Parallel()
	for dimension, limit := range limits {
		t.Run(dimension, func(t *testing.T) {
			played, cut := 0, 0
			for seed := uint64(0); played < 300/longform.Fewer(); seed++ {
				require.Less(t, seed, uint64(3000), "limits are accepted")
				s := newSpree(seed)
				dice := rand.New(rand.NewPCG(seed, 5))
				least, most := s.span(t, limit.of)
				soft := least/4 + dice.Int64N(max(1, most/2-least/4)) // it is compared with what is spent
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
				require.NotNil(t, stage.View(out.record).Verdict, name)
				if len(out.record.Turns) < len(s.config.Participants)*s.config.Rounds {
					cut++
					require.Equal(t, flow.EndSoftLimit, out.record.Reason, name)
					require.NotEmpty(t, out.record.Evidence, name)
				}
			}
			assert.Greater(t, cut, 30/longform.Fewer())
		})
	}
}

// What is kept back for the verdict is enough whatever is said: also where the judge is shown longer words
// than were spoken.
func TestTheVerdictsShareHoldsWhateverIsSaid(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
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
			d := stage.NewTalk(3, 0)
			d.Config.MaxTokens, d.Config.Judging.Anonymous = 2000, test.anonymous
			d.Config.Participants[0].Name, d.Config.Participants[1].Name = "A", "B"
			d.Provider.Reply = func(req *provider.Request) scripted.Reply {
				switch {
				case req.Schema == nil:
					return scripted.Reply{Text: strings.Repeat(test.word, 16_000/len(test.word))}
				case test.anonymous:
					return scripted.Reply{Text: stage.Verdict([]string{"Speaker A", "Speaker B"})}
				default:
					return scripted.Reply{Text: stage.Verdict([]string{"A", "B"})}
				}
			}
			estimate := stage.Estimated(t, d.Engine, d.Config)
			for step := range debate.Money(30) {
				limit := 2*estimate.FirstRound + estimate.FirstRound*step/10
				d.Config.Budget = &debate.Budget{Soft: limit - limit/50, Hard: limit}
				record := stage.Run(t, d.Engine, d.Config)
				require.NotNil(t, stage.View(record).Verdict, "limit %s", limit)
			}
		})
	}
}

// Faults take from what there is for rounds, never from what is kept back.
func TestASoftLimitEndsWithAVerdictThoughCallsFail(t *testing.T) {
	t.Parallel()
	for seed := range longform.Sized[uint64](200, 200, 50) {
		s := newSpree(seed)
		s.config.Mode, s.config.Judging = debate.Sequential, &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/dear", MaxTokens: 300}}}
		inner := s.engine.Providers["test"]
		s.engine.Providers["test"] = stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			hash := fnv.New64a()
			_, _ = hash.Write([]byte(req.ID))
			if req.Schema == nil && hash.Sum64()%3 == 0 && !strings.HasSuffix(req.ID, "/2") {
				return nil, &provider.Error{Kind: provider.KindTimeout, Message: "sent, and never answered"} // it counts as broken off
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
			require.NotNil(t, stage.View(out.record).Verdict, "seed %d", seed)
		}
	}
}

// What is tried again and again before the first round may use up a soft limit: the debate then ends
// there, as at any soft limit.
func TestASoftLimitBeforeTheFirstRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Rounds, config.Unattended = 1, true
		config.Audience = &debate.Audience{Members: slices.Repeat([]debate.Member{{Model: "test/judge"}}, 6)}
		engine, p := stage.Engine(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if strings.Contains(req.ID, "/vote.") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "no route"}}
			}
			return reply(req)
		}
		estimate := stage.Estimated(t, engine, config)
		config.Budget = &debate.Budget{SoftCalls: estimate.Calls}
		record := stage.Run(t, engine, config)
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
			d := stage.NewTalk(4, 0)
			d.Engine.Models["test/judge"] = debate.Model{Priced: true, Input: 1, Output: 1}
			one := d.Config
			one.Rounds = 1
			estimate := stage.Estimated(t, d.Engine, one)
			soft := estimate.Cost * 3 / 2
			d.Config.Budget = &debate.Budget{Soft: soft, Hard: soft + above}
			record := stage.Run(t, d.Engine, d.Config)
			assert.Equal(t, flow.EndSoftLimit, record.Reason)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.LessOrEqual(t, record.Spent().Cost, soft+above)
		})
	}
}

// Validation lets the least limits pass with which one round and its verdict can be had; then they are.
func TestTheLeastLimitsAllowOneRound(t *testing.T) {
	for _, when := range []debate.When{debate.EveryRound, debate.AtEnd} {
		for dimension, limit := range limits {
			t.Run(dimension+" "+string(when), func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Judging.When = when
				engine, _ := stage.Engine(config)
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
				record := stage.Ended(t, session)
				assert.GreaterOrEqual(t, len(record.Turns), 2)
				assert.NotNil(t, stage.View(record).Verdict)
			})
		}
	}
}

func TestALimitNeedsAPrice(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
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

// A row with prices that does not say so is told apart from no row at all.
func TestTheErrorAboutAPriceSaysWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		row  debate.Model
		says string
	}{
		"no prices":          {debate.Model{Window: 8000}, "has no known price, which a budget needs: limit hardCalls or hardTokens in place of USD, or let the host program set its price"},
		"prices, not Priced": {debate.Model{Input: 1, Output: 2}, `Engine.Models["test/debater"] has prices, but does not set Priced`},
		"free, and Priced":   {debate.Model{Priced: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Budget = &debate.Budget{Hard: 100 * debate.USD}
			engine, _ := stage.Engine(config)
			engine.Models["test/debater"] = tc.row
			err := engine.Validate(t.Context(), config)
			if tc.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.says)
		})
	}
}

// A config may allow any number of tokens. The caps that are sent stay within what a limit of tokens leaves, also where nothing else bounds
// them.
func TestNoCapIsTooLargeForALimit(t *testing.T) {
	t.Parallel()
	const hard = 40_000
	for name, row := range map[string]flow.Model{
		"unknown": {}, "with a window": {Window: 400_000}, "that reasons": {Window: 400_000, MaxOutput: 128_000, Reasoning: true},
		"that reasons without bounds": {Reasoning: true},
	} {
		for _, most := range []int{1 << 60, 1 << 61, 1 << 62, math.MaxInt} {
			for _, soft := range []int{0, hard} {
				config := stage.TwoDebaters()
				config.MaxTokens, config.Budget = most, &debate.Budget{HardTokens: hard, SoftTokens: soft}
				var used atomic.Int64
				events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
					e.Models["test/debater"], e.Models["test/judge"] = row, row
					stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
						assert.LessOrEqual(t, int64(req.MaxTokens), hard-used.Load(), "%s, %d: %s", name, most, req.ID)
						r.Usage = provider.Usage{Input: 100, Output: min(req.MaxTokens, 5_000)}
						used.Add(int64(r.Usage.Input + r.Usage.Output))
					})
				})
				if err != nil {
					require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit}, "%s, %d", name, most)
				}
				assert.NotEmpty(t, stage.TurnsOf(events, "Ada"), "%s, %d", name, most)
				assert.LessOrEqual(t, used.Load(), int64(hard), "%s, %d", name, most)
			}
		}
	}
}

// A blank reply that ended at its cap is asked for again with twice the cap, whatever the cap is.
func TestAnyCapCanBeDoubled(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1 << 60, 1 << 61, 1 << 62, math.MaxInt} {
		config := stage.TwoDebaters()
		config.MaxTokens = most
		_, err := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) {
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				assert.Positive(t, req.MaxTokens)
				if stage.CallOf(req) == stage.AdasOpening && strings.HasSuffix(req.ID, "/1") {
					return scripted.Reply{Stop: provider.StopLength, Usage: provider.Usage{Input: 1, Output: 1}}
				}
				return reply(req)
			}
		})
		require.NoError(t, err, "%d", most)
	}
}

// The worst case of a conversation whose replies may have any length is more than its typical one.
func TestTheEstimateOfAnyCap(t *testing.T) {
	config := stage.Crew(6)
	config.Format, config.MaxTokens, config.Rounds, config.Judging = format.FreeForm, math.MaxInt, 100, nil
	engine, _ := stage.Engine(config)
	estimate := stage.Estimated(t, engine, config)
	assert.Greater(t, estimate.Tokens, estimate.TypicalTokens)
	assert.Positive(t, estimate.TypicalTokens)
	for _, a := range estimate.Models {
		assert.Positive(t, min(a.Usage.Input, a.Usage.Output), a.Name)
	}
}
