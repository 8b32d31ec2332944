package debate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
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

// asksForTools lets the call in flight ask for a use of a tool so many times, and returns how many of the uses are made.
func asksForTools(s *stage.Stepper, times int) (made int) {
	for range times {
		call := s.InFlight()[0]
		s.Feed(flow.Result{Call: call.Call, Attempt: call.Attempt, Calls: stage.OneSum(1)[0], Usage: stage.LittleUsage})
		if use := s.InFlight()[0]; use.Call != call.Call {
			s.Feed(flow.Result{Call: use.Call, Attempt: use.Attempt, Text: "3"})
			made++
		}
	}
	return made
}

// Whoever speaks twice in a round may use tools as often before each speech, whatever came of the first or was asked out of turn.
func TestUsesAreThoseOfASpeech(t *testing.T) {
	const first, second = "r1.talk.1.Ada", "r1.talk.3.Ada"
	config := stage.TwoDebaters()
	config.Format, config.Judging, config.Rounds, config.RoundTimeout = "", nil, 2, time.Minute
	config.CustomFormat = &format.Format{
		Name: "twice", End: format.EndByRounds, Asides: 1, Phases: []format.Phase{{
			Name: "talk", First: 1, Last: -1, Slots: []format.Slot{{Who: "name:Ada"}, {Who: "name:Ben"}, {Who: "name:Ada"}},
		}},
	}
	config.Tools, config.ToolUses = []string{"add"}, 2
	for name, before := range map[string]func(s *stage.Stepper){
		"after a speech with few uses": func(s *stage.Stepper) { assert.Equal(t, 1, asksForTools(s, 1)) },
		"after a speech that was left out with all uses": func(s *stage.Stepper) {
			assert.Equal(t, 2, asksForTools(s, 3), "the third is denied")
			overdue(s)
			assert.True(t, s.Record().Skipped(first))
		},
		"after an answer out of turn": func(s *stage.Stepper) { s.Feed(flow.Note{ID: "n1", Text: "Who pays for it?", Ask: "Ada"}) },
	} {
		engine, _ := stage.Engine(config)
		engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
		s := stage.BegunBy(t, engine, config)
		require.Equal(t, first, s.InFlight()[0].Call, name)
		before(s)
		for call := s.InFlight()[0]; call.Call != second; call = s.InFlight()[0] {
			s.Says(call.Call, call.Attempt)
		}
		assert.Equal(t, 2, asksForTools(s, 3), name)
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
