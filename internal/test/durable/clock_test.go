package durable_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/process"
)

// TestProcessesWhoseClocksAreOff lets three processes carry a debate on, one after the other, whose clocks are hours apart. The first
// starts the debate, or only submits it. The time that limits allow is that of the store.
func TestProcessesWhoseClocksAreOff(t *testing.T) {
	longform.Lone(t)
	process.NeedsClock(t)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			place := newPlace(t, kind)
			engine := engineOn(opened(t, place), nil)
			for _, first := range []string{"serve", "submit"} {
				for _, play := range []string{hardTimed, softTimed} {
					for _, off := range []time.Duration{time.Hour, -time.Hour} {
						o := order{
							Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: play,
							IDs: []string{fmt.Sprint(first, play, off)}, Lease: time.Minute, Latency: 50 * time.Millisecond,
						}
						o.leg(t, first, off)
						o.leg(t, "serve", -off)
						record := stage.StoredRecord(t, engine, o.IDs[0])
						require.False(t, record.Final(), "the debate was over before the last process")
						require.NotEqual(t, flow.StateError, record.State, "%v", record.Failure)
						o.leg(t, "play", 2*off)
						record = stage.StoredRecord(t, engine, o.IDs[0])
						assert.Equal(t, flow.StateCompleted, record.State)
						assert.Equal(t, flow.EndRounds, record.Reason)
						assert.Len(t, record.Turns, 6)
						assert.Less(t, record.Duration(), 30*time.Minute)
					}
				}
			}
		})
	}
}

// leg lets a process do a task whose clock is off by some time. It returns once the process has ended.
func (o order) leg(t *testing.T, task string, off time.Duration) {
	t.Helper()
	o.Task, o.Off = task, off
	p := process.Launch(t, o)
	if task == "serve" {
		require.Equal(t, "ready", p.Hear(t))
		p.Say(t, "shut down")
	}
	_, killed := p.Wait(t)
	require.False(t, killed)
}
