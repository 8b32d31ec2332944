package debate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Debaters use tools before they speak, as often as the config says for one speech. Judges are told how often, by the program's count.
func TestDebatersUseTools(t *testing.T) {
	for asks, uses := range map[int]int{1: 10, 3: 2} { // the third is denied
		config := stage.TwoDebaters()
		config.Rounds, config.Tools = 1, []string{"add"}
		if uses != debate.DefaultToolUses {
			config.ToolUses = uses
		}
		engine, p := stage.Engine(config)
		tally := new(stage.Tally)
		engine.Tools = map[string]debate.Tool{"add": tally.MustTool()}
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			asked := 0
			for _, m := range req.Messages {
				asked += min(1, len(m.ToolCalls))
			}
			if req.Schema == nil && asked < asks {
				return scripted.Reply{Calls: []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}}
			}
			return reply(req)
		}
		record := stage.Run(t, engine, config)
		require.Len(t, record.Turns, 2)
		assert.Len(t, tally.Times, 2*min(asks, uses), "Ada and Ben, each as often as it may")
		var told int
		for _, req := range p.Requests() {
			if req.Schema == nil {
				assert.NotContains(t, req.Last.Text, "The speakers have used tools", "it is for judges")
				continue
			}
			assert.Empty(t, req.Tools)
			if told++; asks == 1 {
				assert.Contains(t, req.Last.Text, "The speakers have used tools 2 times, as the program counts.")
			} else {
				assert.Contains(t, req.Last.Text, "The speakers have used tools 4 times, as the program counts.")
			}
			assert.Equal(t, min(asks, uses), strings.Count(req.Last.Text, `Ada, round 1: add {"a":1,"b":2}`))
		}
		assert.Equal(t, 2, told, "of the round, and of the debate")
	}
}

// A limit of uses without tools is a mistake, and so is one below 0.
func TestUsesOfNoTools(t *testing.T) {
	for _, uses := range []int{3, -1} {
		config := stage.TwoDebaters()
		config.ToolUses = uses
		engine, _ := stage.Engine(config)
		stage.Refused(t, engine.Validate(t.Context(), config), "toolUses")
	}
}
