package budget_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// words returns a text of about so many tokens.
func words(tokens int) string {
	const some = "The cost of the bridge is borne by those who cross it, and by nobody else who lives there. " // 20 tokens
	return strings.TrimSpace(strings.Repeat(some, max(1, tokens/20)))
}

// lengthOf draws the length of a reply from its request: from 250 to 400 tokens, whoever asks again.
func lengthOf(req *provider.Request) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(stage.CallOf(req)))
	return 250 + int(hash.Sum32()%150)
}

// counting is a vendor that counts tokens as OpenAI does: replies by their text, requests by theirs, with a few tokens for each message.
// A model that reasons thinks before it speaks. A reply that would be longer than it may be is cut.
func counting(reply func(req *provider.Request) string) debate.Provider {
	return stage.ProviderFunc(func(_ context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
		counter := token.ForModel(req.Model)
		out := provider.Response{Text: reply(req), Stop: provider.StopEnd}
		for _, text := range req.Chat() {
			out.Usage.Input += counter.Count(text) + 4
		}
		if req.Schema != nil {
			out.Usage.Input += counter.Count(string(req.Schema.JSON)) + 4
		}
		if strings.HasPrefix(req.Model, "gpt-5") {
			out.Usage.Reasoning = 3 * lengthOf(req)
		}
		out.Usage.Output = out.Usage.Reasoning + counter.Count(out.Text)
		if left := req.MaxTokens - out.Usage.Reasoning; left < out.Usage.Output-out.Usage.Reasoning {
			out.Text, out.Stop, out.Usage.Output = out.Text[:max(0, min(len(out.Text), 2*left))], provider.StopLength, req.MaxTokens
		}
		return &out, nil
	})
}

// vouching is a provider whose models are those that are known by their names.
type vouching struct{ debate.Provider }

func (vouching) Vouches(string) bool { return true }

// piece is a conversation of a flow, and what is asked of it.
type piece struct {
	config func(model string, rounds int, b *flow.Budget) flow.Config
	reply  func(rounds int) func(req *provider.Request) string
	// whole says what is missing of a whole one, and concluded what is missing of a conclusion. "": nothing is.
	whole, concluded func(r *flow.Record, rounds int) string
}

func pieces() map[string]piece {
	names := []string{"Ada", "Ben"}
	return map[string]piece{
		"debate": {
			config: func(model string, rounds int, b *flow.Budget) flow.Config {
				c := stage.TwoDebaters()
				c.Format, c.Rounds, c.Budget, c.Judging.Judges[0].Model = format.FreeForm, rounds, b, model
				for i := range c.Participants {
					c.Participants[i].Model = model
				}
				return c
			},
			reply: func(int) func(req *provider.Request) string {
				return func(req *provider.Request) string {
					switch {
					case req.Schema == nil:
						return words(lengthOf(req))
					case req.Schema.Name != "verdict":
						return strings.Replace(stage.Judgement(names, true), "Both made their case.", words(lengthOf(req)/2), 1)
					}
					return strings.Replace(stage.Verdict(names), "A close debate.", words(lengthOf(req)), 1)
				}
			},
			whole: func(r *flow.Record, rounds int) string {
				if got := len(r.Turns); got != 2*rounds {
					return fmt.Sprintf("%d of %d speeches", got, 2*rounds)
				}
				return ""
			},
			concluded: func(r *flow.Record, _ int) string {
				if stage.View(r).Verdict == nil {
					return "a verdict"
				}
				return ""
			},
		},
		"deliberation": {
			config: func(model string, rounds int, b *flow.Budget) flow.Config {
				return deliberation.Config{
					Problem: "Design a URL shortener.", Rounds: rounds, Unattended: true, Budget: b, Judge: deliberation.Judge{Model: model},
					Agents: []deliberation.Agent{
						{ID: "ada", Role: deliberation.RoleArchitect, Model: model},
						{ID: "ben", Role: deliberation.RolePerformance, Model: model},
						{ID: "cyd", Role: deliberation.RoleSimplicity, Model: model},
					},
				}
			},
			reply: func(int) func(req *provider.Request) string {
				return func(req *provider.Request) string {
					if req.Schema == nil {
						return words(lengthOf(req))
					}
					return stage.JSON(deliberation.Solution{
						Description: words(lengthOf(req)), Implementation: []string{"start small"}, Tradeoffs: []string{"cost for speed"},
						Recommendations: []string{"measure"}, OpenQuestions: []string{"how long links live"}, Confidence: 82,
						Requirements: []deliberation.Requirement{{Text: "short links", Major: true, Fulfilled: true, Note: "by the table"}},
					})
				}
			},
			whole: func(r *flow.Record, rounds int) string {
				refined := 0
				for _, turn := range r.Turns {
					if turn.Kind == deliberation.KindRefinement && turn.Round == rounds {
						refined++
					}
				}
				if refined != 3 {
					return fmt.Sprintf("%d of 3 refinements of the last round", refined)
				}
				return ""
			},
			concluded: func(r *flow.Record, _ int) string {
				d, _ := deliberation.Of(r)
				if _, _, ok := d.Solution(); !ok {
					return "a solution"
				}
				return ""
			},
		},
		"arbiter": {
			config: func(model string, rounds int, b *flow.Budget) flow.Config {
				return arbiter.Config{
					Task: "Write a function.", Unattended: true, MaxIterations: rounds, Budget: b, Arbiter: arbiter.Arbiter{Model: model},
					Agents: []arbiter.Agent{{Name: "Ada", Description: "plans", Model: model}, {Name: "Ben", Description: "writes", Model: model}},
				}
			},
			reply: func(rounds int) func(req *provider.Request) string {
				return func(req *provider.Request) string {
					switch call := stage.CallOf(req); {
					case req.Schema.Name == "result":
						return stage.JSON(arbiter.Result{Success: true, Output: words(lengthOf(req))})
					case call == fmt.Sprintf("d%d", 2*rounds):
						return stage.JSON(arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Reason: "it is done", Summary: words(100)})
					default:
						return stage.JSON(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: names[:1], Reason: words(80)})
					}
				}
			},
			whole: func(r *flow.Record, rounds int) string {
				if w, _ := arbiter.Of(r); w.Iterations() != rounds {
					return fmt.Sprintf("%d of %d executions", w.Iterations(), rounds)
				} else if _, complete := w.Summary(); !complete {
					return "that it is complete"
				}
				return ""
			},
			concluded: func(r *flow.Record, _ int) string {
				w, _ := arbiter.Of(r)
				ended := 0
				for _, e := range w.Executions() {
					ended += strings.Count(string(e.Result), string(arbiter.Success))
				}
				if len(w.Decisions()) != ended+1 || r.State != flow.StateCompleted {
					return fmt.Sprintf("%d decisions after %d executions", len(w.Decisions()), ended)
				}
				return ""
			},
		},
	}
}

// stageOf returns an engine for a piece.
func stageOf(p piece, rounds int) *debate.Engine {
	vendor := counting(p.reply(rounds))
	return &debate.Engine{
		Logger: slog.New(slog.DiscardHandler), Store: &store.Memory{},
		Providers: map[string]debate.Provider{"openai": vouching{vendor}, "local": vendor},
		Models: map[string]debate.Model{
			"local/gpt-4.1": {Window: 1 << 20, MaxOutput: 1 << 15, Priced: true, Input: debate.USD / 500_000, Output: debate.USD / 125_000},
		},
		Flows: map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow()},
	}
}

// played plays a piece within a budget. It returns the most that it ever used and held, and whether it was refused.
func played(t *testing.T, p piece, model string, rounds int, b *flow.Budget) (record *flow.Record, most debate.Money, refused error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine := stageOf(p, rounds)
		session, err := engine.Start(t.Context(), p.config(model, rounds, b))
		if errors.Is(err, &debate.Error{Kind: provider.KindValidation}) {
			refused = err
			return
		}
		require.NoError(t, err)
		record, err = session.WaitIdle(t.Context())
		require.NoError(t, session.Close())
		require.True(t, err == nil || errors.Is(err, &debate.Error{Kind: provider.KindCostLimit}), "%v", err)
		most = ceiling(t, engine.Store, record.ID).cost
	})
	return record, most, refused
}

// A limit that covers what a run really costs lets it run, for models whose tokens can be counted. With a third more all rounds run, and
// with no more than that the conclusion is had. No limit is ever passed.
func TestALimitThatCoversTheCostLetsItRun(t *testing.T) {
	t.Parallel()
	models := []string{"openai/gpt-4.1-nano", "openai/gpt-4.1", "openai/gpt-5"}[:longform.Sized(3, 3, 1)]
	var held, all atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d of %d are whole with 1.3 times their cost, and have a conclusion with 1.0 times", held.Load(), all.Load())
	})
	for name, p := range pieces() {
		for _, model := range models {
			for _, rounds := range longform.Sized([]int{2, 5, 10}, []int{2, 5, 10}, []int{2}) {
				all.Add(1)
				t.Run(fmt.Sprintf("%s %s %d", name, model, rounds), func(t *testing.T) {
					t.Parallel()
					free, _, _ := played(t, p, model, rounds, nil)
					require.Empty(t, p.whole(free, rounds))
					require.Empty(t, p.concluded(free, rounds))
					cost := free.Spent().Cost
					estimate := stage.Estimated(t, stageOf(p, rounds), p.config(model, rounds, nil))
					t.Logf("cost %s, typically %s, whole %s (%.2f of the cost), at most %s (%.1f of the typical case)", cost.Rounded(),
						estimate.Typical.Rounded(), estimate.Whole.Rounded(), float64(estimate.Whole)/float64(cost),
						estimate.Cost.Rounded(), float64(estimate.Cost)/float64(estimate.Typical))
					times := 10.0
					if name == "arbiter" {
						times = 12 // a decision usually has 120 tokens of its 4,096
					}
					assert.LessOrEqual(t, float64(estimate.Cost), times*float64(estimate.Typical))

					enough := cost + cost*3/10
					for _, b := range []flow.Budget{{Soft: enough, Hard: enough}, {Hard: enough}, {Soft: cost}} {
						record, most, refused := played(t, p, model, rounds, &b)
						require.NoError(t, refused)
						assert.Empty(t, record.CutShort())
						assert.Empty(t, p.whole(record, rounds))
						assert.Empty(t, p.concluded(record, rounds))
						for _, w := range record.Warnings {
							assert.NotEqual(t, flow.WarnCapped, w.Kind, w.Evidence)
						}
						assert.True(t, b.Hard == 0 || most <= b.Hard)
					}
					record, most, refused := played(t, p, model, rounds, &flow.Budget{Soft: cost, Hard: cost})
					require.NoError(t, refused)
					assert.Equal(t, flow.StateCompleted, record.State, "%v", record.Failure)
					assert.Empty(t, p.concluded(record, rounds), record.CutShort())
					assert.LessOrEqual(t, most, cost)
					if !t.Failed() {
						held.Add(1)
					}
				})
			}
		}
	}
}

// The smallest limit that an estimate names lets all rounds run, if replies have typical lengths at most: also where nobody vouches for the
// vocabulary of a model, so that the input of its calls is bounded by bytes.
func TestTheLimitThatAnEstimateNamesLetsAllRoundsRun(t *testing.T) {
	t.Parallel()
	for name, p := range pieces() {
		for _, model := range []string{"openai/gpt-4.1", "local/gpt-4.1"} {
			for _, rounds := range longform.Sized([]int{1, 3, 10}, []int{1, 3, 10}, []int{1}) {
				t.Run(fmt.Sprintf("%s %s %d", name, model, rounds), func(t *testing.T) {
					t.Parallel()
					engine := stageOf(p, rounds)
					estimate := stage.Estimated(t, engine, p.config(model, rounds, nil))
					t.Logf("typically %s, whole %s, at most %s", estimate.Typical.Rounded(), estimate.Whole.Rounded(), estimate.Cost.Rounded())
					assert.Greater(t, estimate.Whole, estimate.Typical)
					if model == "openai/gpt-4.1" {
						assert.Less(t, estimate.Whole, estimate.Typical*3/2)
					}
					for _, b := range []flow.Budget{{Soft: estimate.Whole, Hard: estimate.Whole}, {HardTokens: estimate.WholeTokens}} {
						record, _, refused := played(t, p, model, rounds, &b)
						require.NoError(t, refused)
						assert.Empty(t, record.CutShort())
						assert.Empty(t, p.whole(record, rounds))
						assert.Empty(t, p.concluded(record, rounds))
					}
				})
			}
		}
	}
}

// What could not hold one round and the conclusion with usual replies is refused before anything is paid; the limit that the error names
// is not.
func TestOnlyALimitBelowOneRoundIsRefused(t *testing.T) {
	t.Parallel()
	for name, p := range pieces() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := stage.Estimated(t, stageOf(p, 1), p.config("openai/gpt-4.1", 1, nil))
			_, _, refused := played(t, p, "openai/gpt-4.1", 3, &flow.Budget{Soft: one.Typical * 3 / 4, Hard: one.Typical * 3 / 4})
			require.ErrorContains(t, refused, "budget.hard: is below what one round and the conclusion take with usual replies: $")
			record, _, refused := played(t, p, "openai/gpt-4.1", 3, &flow.Budget{Soft: one.Whole + one.Whole/50, Hard: one.Whole + one.Whole/50})
			require.NoError(t, refused)
			assert.Empty(t, p.concluded(record, 3))
			assert.Regexp(t, "^ended after [12] of 3 (rounds|executions) because the rest of the hard limit", record.CutShort())
		})
	}
}
