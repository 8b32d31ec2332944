package budget_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// besideAda lets each of Ada's turns come with what one vendor says beside a reply.
func besideAda(change func(*scripted.Reply)) func(*debate.Engine, *scripted.Provider) {
	return func(_ *debate.Engine, p *scripted.Provider) {
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if req.Self == "Ada" {
				change(&r)
			}
			return r
		}
	}
}

// The vendor's names of a reply are recorded, and a cost that it tells settles the account.
func TestAVendorsOwnCostSettlesTheAccount(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	var table flow.Money
	events, err := stage.OnClock(t, config, besideAda(func(r *scripted.Reply) {
		r.ID, r.Model, r.Cost, r.Left = "resp_1", "debater-2026", new(0.001), []string{"temperature"}
	}))
	require.NoError(t, err)
	turn := stage.TurnsOf(events, "Ada")[0]
	require.NotNil(t, turn.Vendor)
	table = turn.Vendor.Table
	assert.Equal(t, flow.VendorMetadata{ID: "resp_1", Model: "debater-2026", Told: true, Table: table, Left: []string{"temperature"}}, *turn.Vendor)
	assert.Equal(t, flow.USD/1000, turn.Cost)
	assert.Positive(t, table)
	assert.NotEqual(t, table, turn.Cost)
	assert.Nil(t, stage.TurnsOf(events, "Ben")[0].Vendor, "a vendor that says nothing new")
	core := stage.CoreOf(t, &debate.Engine{}, "told", events)
	spent := core.Record().Spent()
	assert.Equal(t, turn.Cost, spent.Told)
	assert.Equal(t, table, spent.Table)
	assert.Equal(t, turn.Cost+stage.TurnsOf(events, "Ben")[0].Cost, spent.Cost)
}

// Costs that no request can have are not believed.
func TestACostThatCannotBeIsNotBelieved(t *testing.T) {
	for name, cost := range map[string]float64{"negative": -1, "too much": 1e9, "not a number": math.NaN()} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Judging, config.Rounds = nil, 1
			events, err := stage.OnClock(t, config, besideAda(func(r *scripted.Reply) { r.Cost = &cost }))
			require.NoError(t, err)
			assert.Nil(t, stage.TurnsOf(events, "Ada")[0].Vendor)
			assert.Positive(t, stage.TurnsOf(events, "Ada")[0].Cost)
		})
	}
}

// A reply that costs more than was reserved is told, and no further call starts past a limit.
func TestAnOvershootIsToldAndStopsWhatFollows(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging = nil
	config.Budget = &debate.Budget{Hard: 10 * debate.USD}
	events, err := stage.OnClock(t, config, besideAda(func(r *scripted.Reply) { r.Cost = new(11.0) }))
	require.Error(t, err)
	assert.Len(t, stage.TurnsOf(events, "Ada"), 1)
	assert.Empty(t, stage.TurnsOf(events, "Ben"))
	over := warningOf(events, flow.WarnOver)
	require.NotNil(t, over)
	assert.Equal(t, 11*debate.USD, over.Spend)
	assert.Less(t, over.Threshold, over.Spend)
	assert.Equal(t, "Ada", over.By)
}

// An attempt that fails may cost more than was reserved too.
func TestAFailureThatOvershootsIsTold(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	failed := false
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		e.Providers["test"] = provideFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			if r, err := p.Generate(ctx, req, emit); failed || err != nil {
				return r, err
			}
			failed = true
			return &provider.Response{Usage: provider.Usage{Input: 1, Output: 1}, Cost: new(11.0)},
				&provider.Error{Kind: provider.KindInvalidResponse, Status: 200, Message: "blank"}
		})
	})
	require.NoError(t, err)
	over := warningOf(events, flow.WarnOver)
	require.NotNil(t, over)
	assert.Equal(t, []any{11 * debate.USD, "r1.opening.Ada", "Ada"}, []any{over.Spend, over.Call, over.By})
}

// provideFunc is a provider made of a function.
type provideFunc func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error)

func (f provideFunc) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return f(ctx, req, emit)
}

// A vendor that tells its cost and no usage settles the cost alone: limits of tokens count the worst case.
func TestACostWithoutUsageCountsAllTokens(t *testing.T) {
	spent := map[bool]int{}
	for _, told := range []bool{false, true} {
		config := stage.TwoDebaters()
		config.Judging, config.Rounds, config.MaxTokens = nil, 3, 500
		config.Budget = &debate.Budget{HardTokens: 6000}
		events, err := stage.OnClock(t, config, func(e *debate.Engine, _ *scripted.Provider) {
			e.Providers["test"] = provideFunc(func(_ context.Context, _ *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				emit(provider.Chunk{Text: "hello"})
				r := &provider.Response{Text: "hello", Stop: provider.StopEnd}
				if told {
					r.Cost = new(0.001)
				}
				return r, nil
			})
		})
		require.ErrorIs(t, err, &flow.Error{Kind: provider.KindCostLimit})
		turns := append(stage.TurnsOf(events, "Ada"), stage.TurnsOf(events, "Ben")...)
		for _, turn := range turns {
			assert.True(t, turn.Unreported)
			assert.Equal(t, told, turn.AtMost == 0)
			assert.Equal(t, told, turn.Cost == flow.USD/1000)
		}
		spent[told] = len(turns)
	}
	assert.Positive(t, spent[true])
	assert.Equal(t, spent[false], spent[true])
}

func warningOf(events []debate.Event, kind flow.WarningKind) *flow.Warning {
	for _, e := range events {
		if w := body.As[flow.Warning](e); w != nil && w.Kind == kind {
			return w
		}
	}
	return nil
}

// Citations become data of the turn, within its text and on the web. Nobody else reads them, or the thoughts.
func TestCitationsAndThoughtsStayBesideTheTurn(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds = 2
	var asked []provider.Request
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		besideAda(func(r *scripted.Reply) {
			r.Reasoning = "a secret thought\xff"
			r.Citations = []provider.Citation{
				{Title: "A\npage", URL: "https://example.org/a", Quote: "what it says", Start: 0, End: 3},
				{URL: "https://example.org/far", Start: 1, End: 1 << 30},
				{URL: "https://example.org/back", Start: 3, End: 1},
				{URL: "javascript:alert(1)"},
				{URL: "https://ada:secret@example.org/", Title: "with a user"},
				{Title: "without a page"},
				{URL: "https://example.org/back"},
				{URL: "https://example.org/\n[x](y)"},
				{URL: "https://example.org/" + strings.Repeat("a", 3000)},
			}
		})(e, p)
		t.Cleanup(func() { asked = p.Requests() })
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			asked = append(asked, *req)
			return reply(req)
		}
	})
	require.NoError(t, err)
	turn := stage.TurnsOf(events, "Ada")[0]
	assert.Equal(t, "a secret thought�", turn.Reasoning)
	assert.Equal(t, []provider.Citation{
		{Title: "A page", URL: "https://example.org/a", Quote: "what it says", End: 3},
		{URL: "https://example.org/far"},
		{URL: "https://example.org/back"},
	}, turn.Citations)
	assert.Equal(t, 5, turn.Uncited, "each that was dropped, but not the repeated one")
	for _, req := range asked {
		for _, text := range req.Chat() {
			assert.NotContains(t, text, "secret thought")
			assert.NotContains(t, text, "example.org")
		}
	}
}

// A turn holds as many sources as any adapter gives, and counts the others.
func TestATurnHoldsAsManySourcesAsAnAdapterGives(t *testing.T) {
	t.Parallel()
	for given, want := range map[int][2]int{1: {1, 0}, provider.MaxCitations: {provider.MaxCitations, 0}, 100_000: {provider.MaxCitations, 99_744}} {
		config := stage.TwoDebaters()
		config.Judging, config.Rounds = nil, 1
		events, err := stage.OnClock(t, config, besideAda(func(r *scripted.Reply) {
			for i := range given {
				r.Citations = append(r.Citations, provider.Citation{URL: fmt.Sprint("https://example.org/", i)})
			}
			r.Uncited = 7 // that the adapter has dropped already
		}))
		require.NoError(t, err)
		turn := stage.TurnsOf(events, "Ada")[0]
		want[1] += 7
		assert.Equal(t, want, [2]int{len(turn.Citations), turn.Uncited})
		stage.CoreOf(t, &debate.Engine{}, "cited", events)
	}
}

// Thoughts are streamed apart from the reply, and both add up to what the turn holds.
func TestThoughtsAreChunksOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Judging, config.Rounds = nil, 2
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		besideAda(func(r *scripted.Reply) { r.Reasoning = "first this, then that" })(engine, p)
		session := stage.Started(t, engine, config)
		thoughts, texts := map[string]string{}, map[string]string{}
		turns := 0
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			if c := body.As[flow.Chunk](event); c != nil {
				into := texts
				if c.Reasoning {
					into = thoughts
				}
				into[c.Call] = into[c.Call][:c.Offset] + c.Text
			}
			if turn := body.As[flow.Turn](event); turn != nil {
				turns++
				assert.Equal(t, turn.Text, texts[turn.Call])
				assert.Equal(t, turn.Reasoning, thoughts[turn.Call])
				assert.Equal(t, turn.Speaker == "Ada", turn.Reasoning != "")
			}
		}
		assert.Equal(t, 4, turns)
	})
}

// A model that reasons has tokens for its thoughts beside those of its reply.
func TestThoughtsHaveAReserveOfTheirOwn(t *testing.T) {
	for effort, want := range map[provider.Effort]int{"": 8192, provider.EffortNone: 0, provider.EffortMinimal: 1024, provider.EffortMax: 32768} {
		t.Run(string(effort), func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Judging, config.Rounds, config.MaxTokens = nil, 1, 500
			config.Participants[0].Options = &provider.Options{Effort: effort}
			config.Participants[0].Model = "test/deep"
			var source *scripted.Provider
			events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
				row := e.Models["test/debater"]
				row.Reasoning, row.Window = true, 200_000
				e.Models["test/deep"], source = row, p
			})
			require.NoError(t, err)
			for _, req := range source.Requests() {
				if req.Self == "Ada" {
					assert.Equal(t, 500+want, req.MaxTokens)
				} else {
					assert.Equal(t, 500, req.MaxTokens)
				}
			}
			for _, e := range events {
				if intent := body.As[flow.Intent](e); intent != nil && intent.By == "Ada" {
					assert.Equal(t, want, intent.Thinking)
				}
			}
		})
	}
}
