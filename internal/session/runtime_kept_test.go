package session_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// An id that another process deletes and gives to another debate is that debate's: nothing of the deleted one is asked or recorded.
func TestAnIDThatIsGivenAgain(t *testing.T) {
	for name, ahead := range map[string]int{"with fewer events": 0, "with more events": 3} {
		t.Run(name, func(t *testing.T) {
			kept := &store.Memory{}
			begin := func(owner, topic string, rounds int) (*debate.Engine, *scripted.Provider, flow.Next) {
				config := stage.TwoDebaters()
				config.ID, config.Topic, config.Rounds = "d", topic, rounds
				engine, script := stage.Engine(config)
				engine.Store = kept
				_, err := engine.Submit(t.Context(), config)
				require.NoError(t, err)
				next, err := engine.Advance(t.Context(), "d", owner, flow.Opened{})
				require.NoError(t, err)
				return engine, script, next
			}
			old, script, next := begin("old", "The deleted topic", 2)
			if ahead == 0 {
				next, err := old.Call(t.Context(), "d", "old", next.Calls[0], nil)
				require.NoError(t, err)
				require.NotEmpty(t, next.Calls)
			}
			require.NoError(t, kept.Release(t.Context(), "d", "old"))
			require.NoError(t, kept.Delete(t.Context(), "d"))

			another, _, next := begin("another", "Another topic", 5)
			for range ahead {
				var err error
				next, err = another.Call(t.Context(), "d", "another", next.Calls[0], nil)
				require.NoError(t, err)
			}
			require.NoError(t, kept.Release(t.Context(), "d", "another"))

			reply := script.Reply
			script.Reply = func(r *provider.Request) scripted.Reply {
				assert.NotContains(t, fmt.Sprint(r.System, r.Messages), "The deleted topic")
				return reply(r)
			}
			next, err := old.Advance(t.Context(), "d", "old", flow.Opened{})
			for err == nil && !next.Over {
				next, err = old.Call(t.Context(), "d", "old", next.Calls[0], nil)
			}
			require.NoError(t, err)
			record := stage.StoredRecord(t, another, "d")
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, 5, record.Round)
			assert.Len(t, record.Turns, 10)
		})
	}
}

// Engine.CacheBytes bounds what kept logs take, whatever they are made of.
func TestFoldedLogsTakeTheirBound(t *testing.T) {
	longform.Lone(t)
	bound := longform.Or[int64](4<<20, 1<<20)
	for name, text := range map[string]int{"short texts": 1, "long texts": 19 << 10} {
		t.Run(name, func(t *testing.T) {
			none := advanced(t, 1, text) // what the store and its index take
			grown := advanced(t, bound, text) - none
			t.Logf("kept logs take %.1f MiB of %d MiB", float64(grown)/(1<<20), bound>>20)
			assert.Less(t, grown, 2*bound)
		})
	}
}

// advanced returns by how much the heap has grown after many debates were advanced.
func advanced(t *testing.T, folded int64, text int) int64 {
	t.Helper()
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	kept, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, kept.Close()) }()
	engine.Store, engine.CacheBytes = kept, folded
	before := heap()
	for i := range longform.Or(60, 15) {
		long := strings.Repeat(fmt.Sprintf("x%07d", i), text/8+1)
		one := config
		one.ID, one.Topic = fmt.Sprint("d", i), long
		one.Participants = slices.Clone(config.Participants)
		for j := range one.Participants {
			one.Participants[j].Persona, one.Participants[j].Position = long, long
		}
		_, err := engine.Submit(t.Context(), one)
		require.NoError(t, err)
		_, err = engine.Advance(t.Context(), one.ID, "runtime", flow.Opened{})
		require.NoError(t, err)
	}
	grown := heap() - before
	runtime.KeepAlive(engine)
	return grown
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
