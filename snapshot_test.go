package debate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// snapshotOf yields a stored debate's snapshot.
func snapshotOf(t *testing.T, engine *debate.Engine, id string) []byte {
	t.Helper()
	session, err := engine.Open(t.Context(), id)
	require.NoError(t, err)
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	return data
}

// snapshot writes events as Session.Snapshot does.
func snapshot(t *testing.T, id string, events []debate.Event) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"version": debate.SnapshotVersion, "id": id, "events": events})
	require.NoError(t, err)
	return data
}

// commits is a store that notes where each commit ended.
type commits struct {
	*store.Memory

	ends []int
}

func (s *commits) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	s.ends = append(s.ends, int(after)+len(events))
	return s.Memory.Append(ctx, id, after, writer, events)
}

// After whatever commit a snapshot is taken, only what it lacks is asked, and the debate becomes the same.
func TestRestoringAsksOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		config := twoDebaters()
		config.Mode = mode
		engine, source := engineFor(config)
		store := &commits{Memory: &store.Memory{}}
		engine.Store = store
		record := run(t, engine, config)
		want, err := view(record).Canonical()
		require.NoError(t, err)
		l := logOf(t, engine, record.ID)
		require.Greater(t, len(store.ends), 9)
		for _, n := range store.ends {
			t.Run(fmt.Sprintf("%s/%d", mode, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					results := 0
					for _, event := range l.events[:n] {
						if as[debate.Turn](event) != nil || as[debate.Assessment](event) != nil || as[debate.Verdict](event) != nil {
							results++
						}
					}
					other, answers := engineFor(config)
					session, err := other.Restore(t.Context(), snapshot(t, l.id, l.events[:n]))
					require.NoError(t, err)
					defer session.Close()
					assert.Equal(t, l.id, session.ID())
					restored, err := session.Wait(t.Context())
					require.NoError(t, err)
					got, err := view(restored).Canonical()
					require.NoError(t, err)
					assert.JSONEq(t, string(want), string(got))
					assert.Equal(t, source.Calls()-results, answers.Calls())
				})
			})
		}
	}
}

// A store that holds the debate keeps the longer log, and never mixes two debates.
func TestRestoringIntoAStoreThatHoldsIt(t *testing.T) {
	first := twoDebaters()
	first.ID = "one"
	l := playedLog(t, first)
	second := twoDebaters()
	second.ID, second.Topic = "one", "Another question?"
	other := playedLog(t, second)
	length := func(engine *debate.Engine) int {
		record, err := engine.Record(t.Context(), "one")
		require.NoError(t, err)
		return int(record.Seq)
	}
	t.Run("the same", func(t *testing.T) {
		engine, source := engineFor(first)
		for range 2 {
			session, err := engine.Restore(t.Context(), snapshot(t, "one", l.events))
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, session.State())
		}
		assert.Zero(t, source.Calls())
		assert.Equal(t, len(l.events), length(engine))
	})
	t.Run("a shorter one", func(t *testing.T) {
		engine, source := engineFor(first)
		_, err := engine.Restore(t.Context(), snapshot(t, "one", l.events))
		require.NoError(t, err)
		session, err := engine.Restore(t.Context(), snapshot(t, "one", l.events[:7]))
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, session.State())
		assert.Equal(t, len(l.events), length(engine))
		assert.Zero(t, source.Calls())
	})
	t.Run("a longer one", func(t *testing.T) {
		engine, source := engineFor(first)
		store := &store.Memory{}
		engine.Store = store
		require.NoError(t, store.Append(t.Context(), "one", 0, "somebody", l.events[:7]))
		_, err := engine.Restore(t.Context(), snapshot(t, "one", l.events))
		require.NoError(t, err)
		assert.Equal(t, len(l.events), length(engine))
		assert.Zero(t, source.Calls())
	})
	t.Run("another debate", func(t *testing.T) {
		engine, _ := engineFor(first)
		_, err := engine.Restore(t.Context(), snapshot(t, "one", l.events))
		require.NoError(t, err)
		_, err = engine.Restore(t.Context(), snapshot(t, "one", other.events))
		failure := requireKind(t, err, provider.KindConflict)
		assert.Equal(t, "events[0]", failure.Field)
		record, err := engine.Record(t.Context(), "one")
		require.NoError(t, err)
		assert.Equal(t, first.Topic, view(record).Config().Topic)
	})
	t.Run("one that somebody holds", func(t *testing.T) {
		engine, _ := engineFor(first)
		store := &store.Memory{}
		engine.Store = store
		require.NoError(t, store.Append(t.Context(), "one", 0, "somebody", l.events[:7]))
		require.NoError(t, store.Lease(t.Context(), "one", "somebody", time.Hour))
		_, err := engine.Restore(t.Context(), snapshot(t, "one", l.events[:7]))
		requireKind(t, err, provider.KindConflict)
		assert.ErrorIs(t, err, debate.ErrLeased)
	})
}

// What somebody plays is not written to, though the snapshot goes on where the log ends now.
func TestRestoringADebateThatSomebodyPlays(t *testing.T) {
	config := twoDebaters()
	config.ID = "one"
	bringing := map[string]func(context.Context, *debate.Engine, []byte) error{
		"restored": func(ctx context.Context, e *debate.Engine, data []byte) error {
			_, err := e.Restore(ctx, data)
			return err
		},
		"imported": func(ctx context.Context, e *debate.Engine, data []byte) error {
			_, err := e.Import(ctx, bytes.NewReader(data))
			return err
		},
	}
	for how, bring := range bringing {
		for _, where := range []string{"by the engine that plays it", "by another engine"} {
			t.Run(how+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					engine, p := engineFor(config)
					slowly(p)
					store := &store.Memory{}
					engine.Store = store
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					pass(2500 * time.Millisecond) // the judge is at work
					early, err := session.Snapshot(t.Context())
					require.NoError(t, err)
					elsewhere, _ := engineFor(config)
					longer, err := elsewhere.Restore(t.Context(), early)
					require.NoError(t, err)
					_, err = longer.Wait(t.Context())
					require.NoError(t, err)
					data, err := longer.Snapshot(t.Context())
					require.NoError(t, err)
					require.Greater(t, len(data), len(early))

					target := engine
					if where == "by another engine" {
						target = twin(engine)
					}
					err = bring(t.Context(), target, data)
					requireKind(t, err, provider.KindConflict)
					require.ErrorIs(t, err, debate.ErrLeased)
					now, err := session.Snapshot(t.Context())
					require.NoError(t, err)
					assert.Equal(t, string(early), string(now), "nothing is appended")

					record, err := session.Wait(t.Context())
					require.NoError(t, err)
					assert.Equal(t, undisturbed(t, config), canonical(t, record))
					assert.Equal(t, 10, p.Calls(), "nobody was disturbed")
				})
			})
		}
	}
}

func TestNothingToSnapshot(t *testing.T) {
	engine, _ := engineFor(twoDebaters())
	session, err := engine.New(twoDebaters())
	require.NoError(t, err)
	_, err = session.Snapshot(t.Context())
	requireKind(t, err, provider.KindState)
}

func TestASnapshotHoldsNoChunksAndNoKeys(t *testing.T) {
	l := playedLog(t, twoDebaters())
	data := snapshotOf(t, l.engine, l.id)
	assert.NotContains(t, string(data), `"chunk"`)
	again := snapshotOf(t, l.engine, l.id)
	assert.Equal(t, string(data), string(again), "the same log gives the same bytes")
	var read struct {
		Version int
		ID      string
	}
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, debate.SnapshotVersion, read.Version)
	assert.Equal(t, l.id, read.ID)
}
