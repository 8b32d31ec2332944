package log_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// After whatever commit a snapshot is taken, only what it lacks is asked, and the debate becomes the same.
func TestRestoringAsksOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		config := stage.TwoDebaters()
		config.Mode = mode
		engine, source := stage.Engine(config)
		store := &stage.Commits{Memory: &store.Memory{}}
		engine.Store = store
		record := stage.Run(t, engine, config)
		want, err := stage.View(record).Canonical()
		require.NoError(t, err)
		l := stage.LogOf(t, engine, record.ID)
		require.Greater(t, len(store.Ends), 9)
		for _, n := range store.Ends {
			t.Run(fmt.Sprintf("%s/%d", mode, n), stage.Bubbled(func(t *testing.T) {
				results := 0
				for _, event := range l.Events[:n] {
					if body.As[debate.Turn](event) != nil || body.As[debate.Assessment](event) != nil || body.As[debate.Verdict](event) != nil {
						results++
					}
				}
				other, answers := stage.Engine(config)
				session, err := stage.Restore(t.Context(), other, stage.Snapshot(t, l.ID, l.Events[:n]))
				require.NoError(t, err)
				defer session.Close()
				assert.Equal(t, l.ID, session.ID())
				restored := stage.Ended(t, session)
				got, err := stage.View(restored).Canonical()
				require.NoError(t, err)
				assert.JSONEq(t, string(want), string(got))
				assert.Equal(t, source.Calls()-results, answers.Calls())
			}))
		}
	}
}

// A store that holds the debate keeps the longer log, and never mixes two debates.
func TestRestoringIntoAStoreThatHoldsIt(t *testing.T) {
	first := stage.TwoDebaters()
	first.ID = "one"
	l := stage.PlayedLog(t, first)
	second := stage.TwoDebaters()
	second.ID, second.Topic = "one", "Another question?"
	other := stage.PlayedLog(t, second)
	length := func(engine *debate.Engine) int {
		record := stage.StoredRecord(t, engine, "one")
		return int(record.Seq)
	}
	t.Run("the same", func(t *testing.T) {
		engine, source := stage.Engine(first)
		for range 2 {
			session, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events))
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, session.State())
		}
		assert.Zero(t, source.Calls())
		assert.Equal(t, len(l.Events), length(engine))
	})
	t.Run("a shorter one", func(t *testing.T) {
		engine, source := stage.Engine(first)
		_, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events))
		require.NoError(t, err)
		session, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events[:7]))
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, session.State())
		assert.Equal(t, len(l.Events), length(engine))
		assert.Zero(t, source.Calls())
	})
	t.Run("a longer one", func(t *testing.T) {
		engine, source := stage.Engine(first)
		store := &store.Memory{}
		engine.Store = store
		require.NoError(t, store.Append(t.Context(), "one", 0, "somebody", l.Events[:7]))
		_, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events))
		require.NoError(t, err)
		assert.Equal(t, len(l.Events), length(engine))
		assert.Zero(t, source.Calls())
	})
	t.Run("another debate", func(t *testing.T) {
		engine, _ := stage.Engine(first)
		_, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events))
		require.NoError(t, err)
		_, err = stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", other.Events))
		failure := stage.RequireKind(t, err, provider.KindConflict)
		assert.Equal(t, "events[0]", failure.Field)
		record := stage.StoredRecord(t, engine, "one")
		assert.Equal(t, first.Topic, stage.View(record).Config().Topic)
	})
	t.Run("one that somebody holds", func(t *testing.T) {
		engine, _ := stage.Engine(first)
		store := &store.Memory{}
		engine.Store = store
		require.NoError(t, store.Append(t.Context(), "one", 0, "somebody", l.Events[:7]))
		require.NoError(t, store.Lease(t.Context(), "one", "somebody", time.Hour))
		_, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, "one", l.Events[:7]))
		stage.RequireKind(t, err, provider.KindConflict)
		assert.ErrorIs(t, err, debate.ErrLeased)
	})
}

// What somebody plays is not written to, though the snapshot goes on where the log ends now.
func TestRestoringADebateThatSomebodyPlays(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "one"
	for _, where := range []string{"by the engine that plays it", "by another engine"} {
		t.Run(where, stage.Bubbled(func(t *testing.T) {
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			store := &store.Memory{}
			engine.Store = store
			session := stage.Started(t, engine, config)
			stage.Pass(2500 * time.Millisecond) // the judge is at work
			early, err := session.Snapshot(t.Context())
			require.NoError(t, err)
			elsewhere, _ := stage.Engine(config)
			longer, err := stage.Restore(t.Context(), elsewhere, early)
			require.NoError(t, err)
			stage.Ended(t, longer)
			data, err := longer.Snapshot(t.Context())
			require.NoError(t, err)
			require.Greater(t, len(data), len(early))

			target := engine
			if where == "by another engine" {
				target = stage.Twin(engine)
			}
			_, err = target.Import(t.Context(), bytes.NewReader(data))
			stage.RequireKind(t, err, provider.KindConflict)
			require.ErrorIs(t, err, debate.ErrLeased)
			now, err := session.Snapshot(t.Context())
			require.NoError(t, err)
			assert.Equal(t, string(early), string(now), "nothing is appended")

			record := stage.Ended(t, session)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
			assert.Equal(t, 10, p.Calls(), "nobody was disturbed")
		}))
	}
}

func TestNothingToSnapshot(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	session, err := engine.New(stage.TwoDebaters())
	require.NoError(t, err)
	_, err = session.Snapshot(t.Context())
	stage.RequireKind(t, err, provider.KindState)
}

func TestASnapshotHoldsNoChunksAndNoKeys(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	data := stage.SnapshotOf(t, l.Engine, l.ID)
	assert.NotContains(t, string(data), `"chunk"`)
	again := stage.SnapshotOf(t, l.Engine, l.ID)
	assert.Equal(t, string(data), string(again), "the same log gives the same bytes")
	var read struct {
		Version int
		ID      string
	}
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, debate.SnapshotVersion, read.Version)
	assert.Equal(t, l.ID, read.ID)
}
