package session_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// damaged returns an engine with the stored debate "a", whose log cannot be read.
func damaged(t *testing.T) (*debate.Engine, *stage.Spoilt) {
	t.Helper()
	kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "a"}
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Store = kept
	stage.Submitted(t, engine, "a")
	kept.Damaged.Store(true)
	return engine, kept
}

// quarantine returns what is listed of a debate.
func quarantine(t *testing.T, engine *debate.Engine, id string) store.Quarantine {
	t.Helper()
	for info, err := range engine.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		if info.ID == id {
			return info.Quarantine
		}
	}
	t.Fatalf("no debate %q", id)
	return store.Quarantine{}
}

// working runs a worker of an engine.
func working(ctx context.Context, engine *debate.Engine) {
	go func() { _ = engine.Work(ctx, debate.Work{}) }()
}

// Workers try a debate that cannot be opened ever more rarely, and play the others. Once it can be opened, it is played.
func TestADebateThatCannotBeOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "b"}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = kept
		var log bytes.Buffer
		engine.Logger = slog.New(slog.NewTextHandler(&log, nil))
		for _, id := range []string{"a", "b", "c"} {
			stage.Submitted(t, engine, id)
		}
		kept.Damaged.Store(true)
		other := stage.Twin(engine)
		working(t.Context(), engine)
		working(t.Context(), other)
		stage.Pass(5 * time.Second)
		q := quarantine(t, engine, "b")
		assert.Equal(t, 1, q.Count)
		assert.Contains(t, q.Reason, "is damaged")
		assert.NotContains(t, q.Reason, "canary")
		assert.Positive(t, q.Left)
		assert.LessOrEqual(t, q.Left, flow.Duration(30*time.Second))

		stage.Pass(24 * time.Hour)
		tries := engine.Stats().Refused + other.Stats().Refused
		t.Logf("opened %d times in a day", tries)
		assert.LessOrEqual(t, tries, int64(2*(7+24)))
		assert.Greater(t, tries, int64(20))
		q = quarantine(t, engine, "b")
		assert.Greater(t, q.Count, 20)
		assert.Contains(t, log.String(), "debate cannot be opened")
		assert.NotContains(t, log.String(), "canary")
		for _, id := range []string{"a", "c"} {
			record := stage.StoredRecord(t, engine, id)
			assert.Equal(t, flow.StateCompleted, record.State)
		}

		kept.Damaged.Store(false)
		stage.Pass(time.Hour + time.Minute)
		record := stage.StoredRecord(t, engine, "b")
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Zero(t, quarantine(t, engine, "b"))
	})
}

// The reason of a quarantine may quote what somebody has said. Whoever removes that removes it from there, too; the quarantine stays.
func TestTheReasonOfAQuarantineIsRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const said = "Zora Quill owes me money"
		config := stage.TwoDebaters()
		config.ID, config.Topic = "a", said
		engine, _ := stage.Engine(config)
		kept := &store.Memory{}
		engine.Store = kept
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		held := store.Quarantine{Count: 3, Reason: "the session has broken down: " + said, Left: flow.Duration(time.Minute)}
		require.NoError(t, kept.SetQuarantine(t.Context(), "a", held))
		stage.Pass(20 * time.Second)

		_, err = engine.Redact(t.Context(), "a", flow.Redaction{Texts: []string{said}})
		require.NoError(t, err)
		q := quarantine(t, engine, "a")
		assert.Equal(t, "the reason was removed with a text of the conversation", q.Reason)
		assert.Equal(t, 3, q.Count)
		assert.Equal(t, flow.Duration(40*time.Second), q.Left)
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// Each time a debate cannot be opened, it is left alone for twice as long, up to an hour. Who tries in between changes nothing.
func TestQuarantinesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, kept := damaged(t)
		left := 30 * time.Second
		for n := range 10 {
			for range 3 {
				_, err := engine.Open(t.Context(), "a")
				require.ErrorIs(t, err, stage.ErrSpoilt)
				assert.Equal(t, store.Quarantine{Count: n + 1, Reason: quarantine(t, engine, "a").Reason, Left: flow.Duration(left)}, quarantine(t, engine, "a"))
			}
			stage.Pass(left)
			left = min(2*left, time.Hour)
		}
		kept.Damaged.Store(false)
		stage.Reopen(t, engine, "a")
		assert.Zero(t, quarantine(t, engine, "a"))
	})
}

// Somebody has repaired a debate, and does not want to wait: whoever opens it ends its quarantine, for the workers too.
func TestAQuarantineIsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, kept := damaged(t)
		working(t.Context(), engine)
		stage.Pass(10 * time.Minute)
		require.Positive(t, quarantine(t, engine, "a").Left)
		kept.Damaged.Store(false)
		session := stage.Reopen(t, stage.Twin(engine), "a")
		assert.Zero(t, quarantine(t, engine, "a"))
		require.NoError(t, session.Close())
		stage.Pass(2 * time.Second)
		record := stage.StoredRecord(t, engine, "a")
		assert.Equal(t, flow.StateCompleted, record.State)
	})
}

// What one engine lacks keeps only that one from a debate. If all lack it, the list tells so, and an engine that has it plays
// the debate as soon as it comes.
func TestADebateThatEnginesLack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &store.Memory{}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = memory
		stage.Submitted(t, engine, "a")
		first, second := &debate.Engine{Store: memory}, &debate.Engine{Store: memory}
		working(t.Context(), first)
		working(t.Context(), second)
		stage.Pass(10 * time.Second)
		assert.Zero(t, quarantine(t, engine, "a"), "somebody else may have it")
		stage.Pass(24 * time.Hour)
		tries := first.Stats().Refused + second.Stats().Refused
		t.Logf("tried %d times in a day by 2 engines", tries)
		assert.LessOrEqual(t, tries, int64(2*(7+24)))
		q := quarantine(t, engine, "a")
		assert.Positive(t, q.Count)
		assert.Contains(t, q.Reason, "lack")
		assert.Zero(t, q.Left)

		working(t.Context(), engine)
		stage.Pass(2 * time.Second)
		record := stage.StoredRecord(t, engine, "a")
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Zero(t, quarantine(t, engine, "a"))
	})
}

// An event of a kind that only a newer release knows keeps the engines of this release from the debate, and no others.
func TestADebateWithAnEventOfANewerRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &store.Memory{}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = memory
		stage.Submitted(t, engine, "a")
		log := stage.Kept(t, memory, "a")
		last := log[len(log)-1]
		newer := flow.Event{Seq: last.Seq + 1, At: last.At, Body: &flow.Foreign{Kind: "song", JSON: []byte("{}")}}
		require.NoError(t, memory.Append(t.Context(), "a", last.Seq, "newer", []flow.Event{newer}))
		_, err := engine.Record(t.Context(), "a")
		require.ErrorIs(t, err, debate.ErrMissing)
		working(t.Context(), engine)
		stage.Pass(10 * time.Second)
		assert.Positive(t, engine.Stats().Refused)
		assert.Zero(t, quarantine(t, engine, "a"), "a newer release may know it")
	})
}

// Where the store keeps no quarantines, each engine remembers its own.
func TestAStoreThatKeepsNoQuarantines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "a"}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = stage.Mute{Store: kept}
		stage.Submitted(t, engine, "a")
		kept.Damaged.Store(true)
		working(t.Context(), engine)
		stage.Pass(24 * time.Hour)
		assert.LessOrEqual(t, engine.Stats().Refused, int64(7+24))
		assert.Greater(t, engine.Stats().Refused, int64(20))
		kept.Damaged.Store(false)
		session := stage.Reopen(t, engine, "a")
		defer session.Close()
		stage.Pass(2 * time.Second)
		record := stage.StoredRecord(t, engine, "a")
		assert.Equal(t, flow.StateCompleted, record.State)
	})
}

// A session that breaks down counts like a debate that cannot be opened: its calls would be paid for ever and again.
func TestASessionThatBreaksDownAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "a"}
		engine, p := stage.Engine(stage.TwoDebaters())
		engine.Store = kept
		stage.Submitted(t, engine, "a")
		kept.Before.Store(3)
		working(t.Context(), engine)
		for n := 1; n <= 5; n++ {
			stage.Pass(time.Duration(quarantine(t, engine, "a").Left) + 35*time.Second) // until the next look, and then the store is asked again
			require.Equal(t, n, quarantine(t, engine, "a").Count)
			kept.Damaged.Store(false)
			kept.Before.Store(3)
		}
		assert.LessOrEqual(t, engine.Stats().Opened, int64(6))
		assert.LessOrEqual(t, p.Calls(), 20)
	})
}

// What says nothing of a debate puts it into no quarantine.
func TestWhatIsNoReasonForAQuarantine(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "a"
	engine, _ := stage.Engine(config)
	memory := &store.Memory{}
	engine.Store = memory
	stage.Submitted(t, engine, "a")
	_, err := engine.Open(t.Context(), "b")
	require.ErrorIs(t, err, flow.ErrNotFound)
	got, err := memory.Quarantine(t.Context(), "b")
	require.NoError(t, err)
	assert.Zero(t, got)

	deaf := stage.Twin(engine)
	deaf.Store = &unreadable{Memory: memory, broken: true}
	_, err = deaf.Open(t.Context(), "a")
	require.ErrorIs(t, err, stage.ErrDeaf, "the store has failed, and may recover")
	require.NoError(t, memory.Lease(t.Context(), "a", "me", time.Hour))
	_, err = engine.Open(t.Context(), "a")
	require.ErrorIs(t, err, debate.ErrLeased)
	require.NoError(t, memory.Release(t.Context(), "a", "me"))
	other := config
	other.Topic = "Something else"
	_, err = engine.Start(t.Context(), other)
	require.Error(t, err)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = engine.Open(canceled, "a")
	require.Error(t, err)
	require.NoError(t, engine.Shutdown(t.Context()))
	_, err = engine.Open(t.Context(), "a")
	require.ErrorIs(t, err, flow.ErrClosed)
	assert.Zero(t, quarantine(t, stage.Twin(engine), "a"))
}
