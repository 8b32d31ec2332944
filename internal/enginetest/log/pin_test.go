package log_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

// The pins hold what logs say while the types of events change: the same values in the same order. See package pin.

// TestPinnedLogs pins the logs under testdata/logs as they are read.
func TestPinnedLogs(t *testing.T) {
	t.Parallel()
	logs := storedLogs(t)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		t.Run(name, func(t *testing.T) {
			engine := &debate.Engine{Seed: stage.PinnedSeed, Flows: map[string]*debate.Flow{"notes": stage.Notes(), "workshop": stage.Workshop(5)}}
			id, err := engine.Import(t.Context(), bytes.NewReader(logs[name]))
			require.NoError(t, err)
			stage.Golden(t, "pin/log-"+name+".golden", stage.Project(stage.Logged(t, engine, id)))
		})
	}
}

// pinned is a debate that is played in a bubble; play yields the log that is pinned.
type pinned struct {
	name string
	set  func() (debate.Config, *debate.Engine, *scripted.Provider)
	play func(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event
}

// TestPinnedDebates plays debates of every sort and pins their logs.
func TestPinnedDebates(t *testing.T) {
	t.Parallel()
	all := pinnedDebates()
	for _, g := range scenes() {
		all = append(all, pinned{g.name, g.set, func(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
			if g.play != nil {
				return stage.Logged(t, engine, g.play(t, engine, s).ID)
			}
			return toItsEnd(t, engine, s)
		}})
	}
	kinds := map[flow.EventKind]bool{}
	for _, d := range all {
		t.Run(d.name, stage.Bubbled(func(t *testing.T) {
			config, engine, p := d.set()
			config.ID = "pinned-" + d.name
			if config.Retry == nil {
				config.Retry = &debate.RetryPolicy{}
			}
			config.Retry.Jitter = 1 // for the waits not to be drawn
			engine.Seed = stage.PinnedSeed
			stage.Unequally(p)
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			log := d.play(t, engine, session)
			for i := range log {
				kinds[log[i].Kind()] = true
			}
			stage.Golden(t, "pin/"+d.name+".golden", stage.Project(log))
		}))
	}
	for _, kind := range factKinds(t) {
		if !t.Failed() {
			assert.True(t, kinds[kind], "no pinned debate has an event %q", kind)
		}
	}
}

// toItsEnd waits for the end of a debate and yields its log.
func toItsEnd(t *testing.T, engine *debate.Engine, s *debate.Session) []debate.Event {
	t.Helper()
	stage.Ended(t, s)
	return stage.Logged(t, engine, s.ID())
}
