package durable_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage/process"
)

// TestShutdown lets a process hand its debates over to another one, which looks for work.
func TestShutdown(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			o := order{
				Task: "serve", Place: newPlace(t, kind), Ledger: filepath.Join(t.TempDir(), "ledger"), Play: endless,
				Lease:   time.Hour, // nobody waits for its end
				Latency: 20 * time.Millisecond,
			}
			for i := range 20 {
				o.IDs = append(o.IDs, fmt.Sprint("shift-", i))
			}
			first := process.Launch(t, o)
			require.Equal(t, "ready", first.Hear(t))
			second := o
			second.Task = "work"
			relief := process.Launch(t, second)
			require.Equal(t, "ready", relief.Hear(t))
			asked := time.Now()
			first.Say(t, "shut down")
			_, killed := first.Wait(t)
			require.False(t, killed)
			took := time.Since(asked)
			for range o.IDs {
				relief.Hear(t)
			}
			relief.Say(t, "shut down")
			_, killed = relief.Wait(t)
			require.False(t, killed)

			last, next := make(map[string]time.Time), make(map[string]time.Time)
			for _, e := range readLedger(t, o.Ledger) {
				switch {
				case e.What != appended:
				case e.Process == first.PID():
					last[e.Debate] = e.At
				case next[e.Debate].IsZero():
					next[e.Debate] = e.At
				default:
				}
			}
			longest := time.Duration(0)
			for _, id := range o.IDs {
				require.NotZero(t, last[id])
				require.NotZero(t, next[id], "nobody goes on with %s", id)
				require.True(t, next[id].After(last[id]), "both have advanced %s", id)
				longest = max(longest, next[id].Sub(last[id]))
			}
			figuref("shutdown, %s: %d debates handed over, longest gap %s (the shutdown took %s)",
				kind, len(o.IDs), longest.Round(time.Millisecond), took.Round(time.Millisecond))
			assert.Less(t, longest, promptly, "the debates were not handed over but taken")
		})
	}
}
