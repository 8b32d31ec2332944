package deliberation_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestAContributionIncludesTheToolsThatItUsed: every reply counts, and the longest of the tools that were used at once.
// The sums of all contributions are those of the record.
func TestAContributionIncludesTheToolsThatItUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(_ context.Context, _ flow.ToolUse, args struct{ Seconds int }) (string, error) {
			time.Sleep(time.Duration(args.Seconds) * time.Second) //nolint:forbidigo // in a bubble nobody waits
			return "seen", nil
		})
		require.NoError(t, err)
		config := three()
		config.Synthesis, config.Judge, config.Tools, config.Rounds = deliberation.SynthesisVoting, deliberation.Judge{}, []string{"look"}, 1
		engine, p := engineFor(nil)
		engine.Tools = map[string]flow.Tool{"look": look}
		engine.Models = map[string]flow.Model{"test/agent": {Priced: true, Input: flow.USD, Output: flow.USD}}
		usual := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			answers := 0
			for _, m := range req.Messages {
				if m.ToolResult != nil {
					answers++
				}
			}
			reply := scripted.Reply{Delay: time.Second, Usage: provider.Usage{Input: 12_000, Output: 100}}
			use := func(seconds string) provider.ToolCall {
				return provider.ToolCall{ID: seconds, Name: "look", Arguments: json.RawMessage(`{"Seconds":` + seconds + `}`)}
			}
			switch {
			case !strings.Contains(req.ID, ".propose.ada/") || answers == 3:
				reply.Text = usual(req).Text
			case answers == 0:
				reply.Calls = []provider.ToolCall{use("2"), use("5")}
			default:
				reply.Calls = []provider.ToolCall{use("1")}
			}
			return reply
		}
		r := play(t, engine, config)
		require.Len(t, r.ToolUses, 3)
		var all provider.Usage
		for _, c := range view(r).Contributions() {
			all = all.Add(c.Usage)
			if c.Kind != deliberation.KindProposal || c.Agent != "ada" {
				assert.Equal(t, time.Second, c.Took)
				continue
			}
			assert.Equal(t, provider.Usage{Input: 36_000, Output: 300}, c.Usage)
			assert.Equal(t, 36_300*flow.USD, c.Cost)
			assert.Equal(t, (1+5+1+1+1)*time.Second, c.Took)
		}
		for _, turn := range r.Turns {
			if turn.Kind == deliberation.KindVote || turn.Kind == deliberation.KindSynthesis {
				all = all.Add(turn.Usage)
			}
		}
		assert.Equal(t, r.Spent().Usage, all)
	})
}

// TestASummaryTellsWhatItTook, when it was made and why.
func TestASummaryTellsWhatItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		config := three()
		config.Rounds = 4
		engine, p := engineFor(nil)
		engine.Models = map[string]flow.Model{"test/agent": {Priced: true, Input: flow.USD, Output: flow.USD}}
		pad := sized(func(string) int { return replyLength })
		p.Reply = script(func(call string, req *provider.Request) (scripted.Reply, bool) {
			reply, ok := pad(call, req)
			reply.Delay, reply.Usage = time.Second, provider.Usage{Input: 7, Output: 3}
			return reply, ok
		})
		got := view(play(t, engine, config)).Summaries()
		require.NotEmpty(t, got)
		at := slices.IndexFunc(got, func(s deliberation.Summary) bool { return s.Agent == "ada" })
		require.GreaterOrEqual(t, at, 0)
		s := got[at]
		assert.Equal(t, deliberation.SummaryByLength, s.Method)
		assert.Equal(t, []string{deliberation.RoleArchitect, "test/agent"}, []string{s.Role, s.Model})
		assert.Equal(t, provider.Usage{Input: 7, Output: 3}, s.Usage)
		assert.Equal(t, 10*flow.USD, s.Cost)
		assert.Equal(t, time.Second, s.Took)
		// A proposal, critiques and refinements, and the summary beside the critiques of the second round.
		assert.Equal(t, 4*time.Second, s.At.Sub(began))
	})
}
