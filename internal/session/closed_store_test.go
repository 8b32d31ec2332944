package session_test

import (
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store/file"
)

// TestAReaderOfAStoreThatIsClosedIsToldSo: by one error of kind store, as soon as it is closed, with heartbeats and without.
func TestAReaderOfAStoreThatIsClosedIsToldSo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		kept, err := file.Open(dir)
		require.NoError(t, err)
		engine.Store = kept
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		stage.Pass(time.Second)
		require.NoError(t, session.Pause(t.Context()))
		reader := &debate.Engine{Store: kept}
		ended := make(chan error, 2)
		for _, events := range []func(func(debate.Event, error) bool){
			reader.Events(t.Context(), session.ID(), 0), engine.Events(t.Context(), session.ID(), 0, time.Minute),
		} {
			go func() {
				var failed error
				for _, err := range events {
					assert.NoError(t, failed, "the error is the last that comes")
					failed = err
				}
				ended <- failed
			}()
		}
		stage.Pass(time.Hour)
		require.NoError(t, engine.Shutdown(t.Context()))
		stage.Pass(time.Hour)
		assert.Empty(t, ended, "they wait")
		closed := time.Now()
		require.NoError(t, kept.Close())
		for range 2 {
			err := <-ended
			require.ErrorIs(t, err, fs.ErrClosed)
			stage.RequireKind(t, err, provider.KindStore)
		}
		assert.Zero(t, time.Since(closed))
		require.NoError(t, reader.Shutdown(t.Context()))
	})
}
