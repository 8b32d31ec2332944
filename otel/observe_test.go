package otel_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
)

// whole returns the lines of what was measured that count facts, and not how often a debate was watched.
func whole(measured string) (lines []string) {
	for line := range strings.Lines(measured) {
		if !strings.HasPrefix(line, "debate.ended ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// A debate that several sessions carry through is measured as if it had been one, and the lag spans two of them.
func TestEachFactIsMeasuredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, r := engineOf(script), newRecorder()
		session, err := engine.Start(t.Context(), cars())
		require.NoError(t, err)
		assert.Zero(t, session.After())
		observed := make(chan error, 1)
		go func() { observed <- r.Observe(t.Context(), session) }()
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			if turn := body.As[flow.Turn](event); turn != nil && turn.Speaker == "Ben" && turn.Round == 2 {
				require.NoError(t, session.Control(t.Context(), flow.Pause{Drain: true}))
				break
			}
		}
		next, err := session.Rest(t.Context(), time.Hour)
		require.NoError(t, err)
		assert.Equal(t, flow.StatePaused, next.State)
		require.ErrorIs(t, <-observed, flow.ErrClosed)

		require.NoError(t, engine.Control(t.Context(), "cars", flow.Resume{}))
		stage.Pass(3 * time.Second)
		session = stage.Reopen(t, engine, "cars")
		assert.Greater(t, session.After(), next.Seq)
		require.NoError(t, r.Observe(t.Context(), session))
		require.NoError(t, session.Close())
		assert.Contains(t, r.measured(t), "debate.lag [s] {debate.lag.after=control} 1 of 3 in all\n")

		once := newRecorder()
		read(t, once, stored(t, engine, "cars"))
		assert.Equal(t, whole(once.measured(t)), whole(r.measured(t)))

		again := newRecorder()
		session = stage.Reopen(t, engine, "cars") // it is over
		require.NoError(t, again.Observe(t.Context(), session))
		require.NoError(t, session.Close())
		assert.Equal(t, "debate.active [{debate}] {} 0\n", again.measured(t))
	})
}
