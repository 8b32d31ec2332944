package budget_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A conclusion of two calls, made one after the other or wanted at once: whatever the limit is, the first of them has the usual length at least wherever that leaves one to the second,
// and a higher limit never lowers its cap.
func TestAHigherLimitNeverShortensTheConclusion(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprintf("together %t", together), func(t *testing.T) {
			t.Parallel()
			risingLimits(t, together)
		})
	}
}

func risingLimits(t *testing.T, together bool) {
	t.Helper()
	const usual = 600
	f := stage.OneState(stage.CallsOf(func(c *flow.Call) { c.MaxTokens = 50 }))
	f.Last = func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for _, id := range []string{"verdict", "vote"} {
			if !r.Done(id) {
				calls = append(calls, &flow.Call{ID: id, Kind: flow.CallKind(id), By: "judge", Model: "test/gpt-4.1", Needed: true})
			}
		}
		return calls
	}
	f.Steps[flow.StateCompleting] = flow.Step{Calls: func(r *debate.Record) []*flow.Call {
		calls := f.Last(r)
		if together {
			return calls
		}
		return calls[:min(1, len(calls))]
	}}
	caps := func(tokens int) (verdict, vote int) {
		engine, source, config := stage.WithFlow(f)
		engine.Store, source.Vouch = &store.Memory{}, true
		engine.Models["test/gpt-4.1"] = engine.Models["test/debater"]
		for i := range config.Participants {
			config.Participants[i].Model = "test/gpt-4.1" // whose tokens are counted
		}
		source.Reply = func(req *provider.Request) scripted.Reply {
			said := min(40, req.MaxTokens)
			return scripted.Reply{Text: strings.Repeat("So. ", said), Usage: provider.Usage{Input: 30, Output: said}}
		}
		config.ID, config.Budget = "two", &flow.Budget{HardTokens: tokens}
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, session.Close())
		if err != nil {
			require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
		}
		for _, event := range stage.Logged(t, engine, record.ID) {
			if in := body.As[flow.Intent](event); in != nil && in.Call == "verdict" {
				verdict = in.Tokens
			} else if in != nil && in.Call == "vote" {
				vote = in.Tokens
			}
		}
		return verdict, vote
	}
	last := 0 // with less than the lowest limit, the verdict alone is made
	for tokens := 1_160; tokens < 12_000; tokens += longform.Sized(1, 1, 6) * max(20, tokens/60) {
		verdict, vote := caps(tokens)
		assert.GreaterOrEqual(t, verdict, last, "%d tokens", tokens)
		if last = verdict; tokens > 3_000 {
			assert.GreaterOrEqual(t, verdict, usual, "%d tokens", tokens)
			assert.GreaterOrEqual(t, vote, usual, "%d tokens", tokens)
		}
	}
	assert.Equal(t, flow.DefaultMaxTokens, last)
}

// A server that serves another model under a name of OpenAI's counts more tokens than the vocabulary of that name has. Nobody vouches for
// it: its input is bounded by bytes, and no limit is passed. Where a provider vouches for it wrongly, that is believed once at most, also if
// many speak at the same time: what the vendor reports of the first requests is compared with what was counted.
func TestANameAloneIsNotCounted(t *testing.T) {
	t.Parallel()
	crowds, believed := 0, 0
	for tokens := 6_000; tokens <= 40_000; tokens += longform.Sized(1_500, 1_500, 7_500) {
		record, passed, _ := dense(t, tokens, false, false)
		used := record.Spent().Usage
		assert.LessOrEqual(t, used.Input+used.Output, tokens, "%d tokens", tokens)
		assert.Zero(t, passed, "%d tokens", tokens)
		for _, crowd := range []bool{false, true} {
			record, passed, largest := dense(t, tokens, true, crowd)
			if record == nil {
				continue // so many need more
			}
			used, believed = record.Spent().Usage, believed+passed
			if crowd {
				crowds++
			}
			assert.LessOrEqual(t, passed, 1, "%d tokens, in a crowd: %t", tokens, crowd)
			assert.LessOrEqual(t, used.Input+used.Output, tokens+largest, "%d tokens, in a crowd: %t", tokens, crowd)
		}
	}
	assert.Positive(t, crowds)
	t.Logf("%d crowds; %d requests were larger than their bound", crowds, believed)
}

// A conclusion that offers tools sends their descriptions too, so they are reserved with it.
func TestTheToolsOfTheConclusionAreReserved(t *testing.T) {
	t.Parallel()
	look, err := flow.NewTool(flow.ToolInfo{Description: strings.Repeat("It looks. ", 800)},
		func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	turns := 0
	for tokens := 10_000; tokens < 30_000; tokens += 400 {
		f := stage.OneState(stage.CallsOf(func(c *flow.Call) { c.View.None = true }))
		f.Steps[flow.StateCompleting] = flow.Step{Calls: func(r *debate.Record) []*flow.Call {
			if r.Done("end") {
				return nil
			}
			return []*flow.Call{{ID: "end", Kind: "end", By: "judge", Model: "test/debater", Needed: true, Tools: []string{"look"}, Uses: 1}}
		}}
		engine, _, config := stage.WithFlow(f)
		engine.Store, engine.Tools = &store.Memory{}, map[string]debate.Tool{"look": look}
		for i := range 6 {
			config.Participants = append(config.Participants, debate.Participant{Name: fmt.Sprintf("P%d", i), Model: "test/debater"})
		}
		config.Tools, config.MaxTokens, config.Budget = []string{"look"}, 300, &flow.Budget{HardTokens: tokens, SoftTokens: tokens}
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		record, _ := session.Wait(t.Context())
		require.NoError(t, session.Close())
		if len(record.Turns) > 1 {
			turns++
			assert.True(t, record.Done("end"), "%d tokens, %d turns: %v", tokens, len(record.Turns), record.Failure)
		}
	}
	assert.Positive(t, turns)
}

// dense plays a debate within so many tokens, with a vendor that counts half as many tokens again as the vocabulary of gpt-4 has. In a
// crowd, six speak at the same time. passed is how many requests had more input than their bound, and largest the tokens of the largest
// one. record is nil if the debate was refused.
func dense(t *testing.T, tokens int, vouched, crowd bool) (record *flow.Record, passed, largest int) {
	t.Helper()
	config := stage.TwoDebaters()
	if crowd {
		config = stage.Crew(6)
		config.Mode, config.Topic = debate.Simultaneous, words(1500)
	}
	config.Format, config.Rounds, config.MaxTokens, config.Judging = format.FreeForm, 6, 400, nil
	for i := range config.Participants {
		config.Participants[i].Model = "local/gpt-4"
	}
	config.Budget = &flow.Budget{HardTokens: tokens}
	counter := token.ForModel("gpt-4")
	source := &scripted.Provider{Vouch: vouched, Reply: func(req *provider.Request) scripted.Reply {
		input := 0
		for _, text := range req.Chat() {
			input += counter.Count(text) + 4
		}
		said := min(380, req.MaxTokens)
		return scripted.Reply{Text: words(said), Usage: provider.Usage{Input: input + input/2, Output: said}}
	}}
	engine := &debate.Engine{
		Logger: slog.New(slog.DiscardHandler), Store: &store.Memory{}, Providers: map[string]debate.Provider{"local": source},
	}
	session, err := engine.Start(t.Context(), config)
	if errors.Is(err, &debate.Error{Kind: provider.KindValidation}) && crowd {
		return nil, 0, 0
	}
	require.NoError(t, err)
	record, err = session.Wait(t.Context())
	require.NoError(t, session.Close())
	if err != nil {
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit})
	}
	bounds := map[string]int{}
	for _, event := range stage.Logged(t, engine, record.ID) {
		if in := body.As[flow.Intent](event); in != nil {
			bounds[in.Call] = in.Bound - in.Tokens
		} else if turn := body.As[flow.Turn](event); turn != nil {
			largest = max(largest, turn.Usage.Input+turn.Usage.Output)
			if turn.Usage.Input > bounds[turn.Call] {
				passed++
			}
		}
	}
	return record, passed, largest
}

// A vendor that reports more thoughts than output has reported that all output was thought, as far as it is charged. What a conclusion keeps
// back is no larger for it.
func TestMoreThoughtsThanOutputCostNoRounds(t *testing.T) {
	t.Parallel()
	play := func(tokens, thoughts int) (turns int, completed bool) {
		config := stage.TwoDebaters()
		config.Judging.Judges[0].Model = config.Participants[0].Model
		config.Budget = &debate.Budget{SoftTokens: tokens, HardTokens: tokens}
		events, err := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) {
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if stage.CallOf(req) == stage.AdasOpening {
					r.Usage = provider.Usage{Input: 100, Output: 50, Reasoning: thoughts}
				}
			})
		})
		return len(stage.TurnsOf(events, "Ada")) + len(stage.TurnsOf(events, "Ben")), err == nil
	}
	for tokens := 24_000; tokens <= 60_000; tokens += 3_000 {
		turns, completed := play(tokens, 50)
		got, same := play(tokens, 2_000_000_000)
		assert.Equal(t, turns, got, "%d tokens", tokens)
		assert.Equal(t, completed, same, "%d tokens", tokens)
	}
}
