package debate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// TestAnotherEngineHearsWhatIsSpoken: its reader gets the chunks by the bus, and the facts by the store.
func TestAnotherEngineHearsWhatIsSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		kept, shared := &store.Memory{}, &bus.Local{}
		engine.Store, engine.Bus = kept, shared
		s, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer s.Close()
		reader := &debate.Engine{Store: kept, Bus: shared}
		tr := newTranscript(t)
		var longest time.Duration
		last := time.Now()
		for event, err := range reader.Events(t.Context(), s.ID(), 0) {
			require.NoError(t, err)
			tr.read(event)
			if c := as[flow.Chunk](event); c != nil {
				assert.Zero(t, c.Missing)
			}
			longest = max(longest, time.Since(last))
			last = time.Now()
		}
		assert.Len(t, tr.turns, 6)
		assert.Equal(t, 60, tr.chunks)
		assert.Equal(t, 60, tr.parts)
		assert.Equal(t, 35, tr.facts)
		assert.LessOrEqual(t, longest, 110*time.Millisecond, "the provider speaks every 100 ms, the bus gathers for 10")
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// TestAReaderWithoutABusIsToldSo: it gets every fact, a word for each call that it does not hear, and each turn's text with the turn.
func TestAReaderWithoutABusIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		kept := &store.Memory{}
		engine.Store = kept
		s, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer s.Close()
		reader := &debate.Engine{Store: kept}
		tr := newTranscript(t)
		told := map[string]int{}
		for event, err := range reader.Events(t.Context(), s.ID(), 0) {
			require.NoError(t, err)
			tr.read(event)
			if c := as[flow.Chunk](event); c != nil && c.Missing != 0 {
				assert.Equal(t, -1, c.Missing)
				assert.Empty(t, c.Text)
				told[c.Call]++
			}
		}
		assert.Equal(t, 35, tr.facts)
		assert.Len(t, tr.turns, 6)
		assert.Len(t, told, 10, "six turns, three assessments and a verdict")
		for call, times := range told {
			assert.Equal(t, 1, times, call)
		}
	})
}
