package flow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Notes that are said while a speaker uses tools are read from the next call on: what the speaker was sent stays the beginning of what it
// is sent next.
func TestANoteDuringATalkWithTools(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds, config.Tools = nil, 1, []string{"add"}
	engine, _ := stage.Engine(config)
	engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
	s := stage.BegunBy(t, engine, config)
	notes := 0
	say := func() {
		notes++
		id := fmt.Sprint("n", notes)
		s.Feed(flow.Note{ID: id, Text: "Mind the rain."})
		assert.True(t, s.Record().Held(id))
	}
	sent := func(call string) []provider.Message {
		command, err := s.Command(call)
		require.NoError(t, err)
		return command.Request.Messages
	}
	before := sent(stage.AdasOpening)
	for attempt := 1; attempt <= 3; attempt++ {
		say()
		s.Feed(flow.Result{Call: stage.AdasOpening, Attempt: attempt, Calls: stage.OneSum(1)[0], Usage: stage.LittleUsage})
		use := s.InFlight()[0]
		require.NotEqual(t, stage.AdasOpening, use.Call)
		say()
		s.Feed(flow.Result{Call: use.Call, Attempt: use.Attempt, Text: "3"})
		now := sent(stage.AdasOpening)
		require.Greater(t, len(now), len(before))
		for k := range before {
			assert.Equal(t, before[k], now[k])
		}
		before = now
	}
	s.Says(stage.AdasOpening, 4)
	read := 0
	for _, m := range sent(stage.BensOpening) {
		if m.Text == "Mind the rain." {
			read++
		}
	}
	assert.Equal(t, notes, read)
}

// A talk that nobody continues holds no note back: the judge reads it.
func TestANoteAfterATalkThatWasStopped(t *testing.T) {
	config := stage.TwoDebaters()
	config.Tools = []string{"add"}
	engine, _ := stage.Engine(config)
	engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
	s := stage.BegunBy(t, engine, config)
	s.Says(stage.AdasOpening, 1)
	s.Feed(flow.Result{Call: stage.BensOpening, Attempt: 1, Calls: stage.OneSum(1)[0], Usage: stage.LittleUsage})
	use := s.InFlight()[0]
	s.Feed(flow.Pause{})
	s.Feed(use)
	require.Empty(t, s.InFlight())
	s.Feed(flow.Note{ID: "n1", Text: "Mind the rain."})
	assert.True(t, s.Record().Held("n1"), "Ben may go on")
	s.Feed(flow.Stop{})
	assert.False(t, s.Record().Held("n1"))
	command, err := s.Command(s.InFlight()[0].Call)
	require.NoError(t, err)
	reads := func(m provider.Message) bool { return m.Text == "Mind the rain." }
	assert.True(t, slices.ContainsFunc(command.Request.Messages, reads))
}

// Nor does one whose call the flow no longer wants.
func TestANoteAfterATalkThatWasWithdrawn(t *testing.T) {
	engine, _, config := stage.WithFlow(sparing(func(c *flow.Call) {
		if c.By == "Ada" {
			c.Tools, c.Uses = []string{"add"}, 5
		} else {
			c.Performer = flow.ByPerson
		}
	}))
	config.Tools = []string{"add"}
	engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
	s := stage.BegunBy(t, engine, stage.InFlow(engine, config))
	s.Feed(flow.Result{Call: "say.Ada", Attempt: 1, Calls: stage.OneSum(1)[0], Usage: stage.LittleUsage})
	use := s.InFlight()[0]
	s.Feed(flow.Result{Call: use.Call, Attempt: use.Attempt, Text: "3"})
	s.Feed(flow.Note{ID: "n1", Text: "Mind the rain."})
	assert.True(t, s.Record().Held("n1"), "Ada goes on")
	s.Feed(flow.Sent{Trigger: stage.Nudge, Payload: []byte(`["Ada"]`)})
	require.Empty(t, s.InFlight())
	assert.Equal(t, flow.StateAwaitingInput, s.Record().State, "Ben is asked")
	assert.False(t, s.Record().Held("n1"))
}
