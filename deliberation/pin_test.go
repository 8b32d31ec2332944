package deliberation_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestPinnedDeliberations pins what the logs of deliberations say while the types of events change: the same values in
// the same order.
func TestPinnedDeliberations(t *testing.T) {
	for name, set := range pinnedDeliberations() {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.ID = "pinned-" + name
			engine, p := engineFor(nil)
			engine.Models = map[string]flow.Model{
				"test/agent": {Priced: true, Input: 1_000_000, Output: 2_000_000}, "test/judge": {Priced: true, Input: 3_000_000, Output: 9_000_000},
			}
			set(t, &config, engine, p)
			config.Retry = &flow.RetryPolicy{Jitter: 1} // for the waits not to be drawn
			stage.Unequally(p)
			golden(t, "pin/"+name+".golden", projected(events(t, engine, answered(t, engine, config).ID)))
		}))
	}
}

func pinnedDeliberations() map[string]func(*testing.T, *deliberation.Config, *debate.Engine, *scripted.Provider) {
	return map[string]func(*testing.T, *deliberation.Config, *debate.Engine, *scripted.Provider){
		"convergence": func(_ *testing.T, c *deliberation.Config, _ *debate.Engine, p *scripted.Provider) {
			c.Rounds, c.Termination.Kind = 4, deliberation.TerminationConvergence
			p.Reply = script(numbers(60, 79, 85))
		},
		"quality": func(_ *testing.T, c *deliberation.Config, _ *debate.Engine, p *scripted.Provider) {
			c.Rounds, c.Termination.Kind = 3, deliberation.TerminationQuality
			p.Reply = script(numbers(60, 90))
		},
		"voting": func(_ *testing.T, c *deliberation.Config, _ *debate.Engine, p *scripted.Provider) {
			c.Synthesis = deliberation.SynthesisVoting
			p.Reply = script(faulty(map[string]provider.Kind{"vote.cyd": provider.KindRefusal}))
		},
		"merging-with-summaries": func(_ *testing.T, c *deliberation.Config, _ *debate.Engine, p *scripted.Provider) {
			c.Rounds, c.Synthesis = 3, deliberation.SynthesisMerge
			c.Summaries = deliberation.Summaries{Threshold: 1, MaxLength: 100}
			p.Reply = script(wordyOr(func(string, *provider.Request) (scripted.Reply, bool) { return scripted.Reply{}, false }))
		},
		"failures": func(_ *testing.T, c *deliberation.Config, _ *debate.Engine, p *scripted.Provider) {
			c.Agents[0].Fallbacks = []string{"test/judge"}
			p.Reply = script(faulty(map[string]provider.Kind{
				"r1.propose.ada": provider.KindNetwork, "r1.critique.ben.cyd": provider.KindRefusal, "r2.refine.ben": provider.KindContentFilter,
			}))
		},
		"tools-and-clarifications": func(t *testing.T, c *deliberation.Config, engine *debate.Engine, p *scripted.Provider) {
			look, err := flow.NewTool(flow.ToolInfo{Description: "looks something up", ReadOnly: true}, func(_ context.Context, use flow.ToolUse, _ struct{}) (string, error) {
				stage.Pass(stage.DelayOf(use.Call))
				return "Found for " + use.By + ".", nil
			})
			require.NoError(t, err)
			engine.Tools = map[string]flow.Tool{"look": look}
			c.Tools, c.ToolCalls, c.Rounds, c.Clarification.On = []string{"look"}, 2, 1, true
			c.Agents[1].Tools = &[]string{}
			reply := script(curious(map[string][]string{
				"clarify.1.ada": {"How many users?", "Which region?"}, "clarify.1.cyd": {"How many users?"}, "clarify.2.ben": {"What of Mars?"},
			}))
			p.Reply = func(req *provider.Request) scripted.Reply {
				if len(req.Tools) > 0 && !slices.ContainsFunc(req.Messages, func(m provider.Message) bool { return m.ToolResult != nil }) {
					return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}}
				}
				return reply(req)
			}
		},
	}
}

// faulty lets all attempts at these calls by the agents' own model fail.
func faulty(kinds map[string]provider.Kind) answers {
	return func(call string, req *provider.Request) (scripted.Reply, bool) {
		kind, ok := kinds[call]
		return scripted.Reply{Err: &provider.Error{Kind: kind, Message: "no"}}, ok && req.Model == "agent"
	}
}

// answered plays a deliberation in which a person answers all questions.
func answered(t *testing.T, engine *debate.Engine, config deliberation.Config) *flow.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for {
		r, err := session.Wait(t.Context())
		if err == nil {
			return r
		}
		require.ErrorIs(t, err, flow.ErrAwaitingInput)
		for _, q := range r.Inquiries {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "Answered " + q.ID + "."}))
		}
	}
}
