package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// Who waits for work looks once in the time of a lease, and learns at once of what comes.
func TestAWorkerThatHasNothingToDoRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		engine.Store = kept
		l := stage.ListenTo(t.Context(), stage.Twin(engine))
		stage.Pass(time.Hour)
		lists := kept.lists.Load()
		t.Logf("%.3f lists per second while there is nothing to do", float64(lists)/time.Hour.Seconds())
		assert.LessOrEqual(t, lists, int64(time.Hour/(15*time.Second))+1)
		stage.Pass(time.Second)
		began := time.Now()
		stage.Submitted(t, engine, "a")
		stage.Pass(time.Second)
		assert.LessOrEqual(t, l.After("a", began), 100*time.Millisecond)
	})
}

// Many announcements cost no more looks than a few.
func TestManyAnnouncementsMerge(t *testing.T) {
	t.Parallel()
	debates := longform.Sized(1000, 1000, 300)
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		engine.Store = kept
		l := stage.ListenTo(t.Context(), stage.Twin(engine))
		stage.Pass(time.Minute)
		lists, began := kept.lists.Load(), time.Now()
		for i := range debates {
			stage.Submitted(t, engine, fmt.Sprint("d", i))
			stage.Pass(10 * time.Millisecond)
		}
		pages := int64(debates/64 + 1)
		assert.LessOrEqual(t, kept.lists.Load()-lists, pages*int64(time.Since(began)/(100*time.Millisecond)))
		for i := range debates {
			assert.GreaterOrEqual(t, l.After(fmt.Sprint("d", i), began), time.Duration(0))
		}
	})
}

// A worker dies without a word. Another one takes over within the time of a lease and half a minute.
func TestADeadWorkersDebatesComeAgain(t *testing.T) {
	for _, lease := range []time.Duration{3 * time.Second, 15 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			memory := &store.Memory{}
			engine, _ := stage.Engine(stage.TwoDebaters())
			engine.Store, engine.Lease = memory, lease
			stage.Submitted(t, engine, "a")
			require.NoError(t, memory.Lease(t.Context(), "a", "who dies", lease))
			l := stage.ListenTo(t.Context(), engine)
			died := time.Now()
			stage.Pass(lease - time.Millisecond)
			assert.EqualValues(t, -1, l.After("a", died))
			stage.Pass(lease + time.Minute)
			assert.LessOrEqual(t, l.After("a", died), lease+30*time.Second)
		})
	}
}

// A debate whose process gives it up comes at once: a pause ended elsewhere, a session closed, an engine shut down.
func TestAReleasedDebateComesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		config := stage.TwoDebaters()
		config.ID = "a"
		_, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		l := stage.ListenTo(t.Context(), stage.Twin(engine))
		stage.Pass(500 * time.Millisecond)
		assert.EqualValues(t, -1, l.After("a", time.Now()))
		began := time.Now()
		require.NoError(t, stage.Abort(engine))
		stage.Pass(time.Second)
		assert.LessOrEqual(t, l.After("a", began), 100*time.Millisecond)
	})
}

// A store without announcements is looked at every second.
func TestDueOfAStoreThatAnnouncesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = stage.Mute{Store: &store.Memory{}}
		l := stage.ListenTo(t.Context(), engine)
		stage.Pass(time.Minute + 100*time.Millisecond)
		began := time.Now()
		stage.Submitted(t, engine, "a")
		stage.Pass(2 * time.Second)
		assert.LessOrEqual(t, l.After("a", began), time.Second)
		assert.Positive(t, l.After("a", began))
	})
}

// A store that fails for a while ends nothing.
func TestDueOfAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		kept := &lister{Memory: &store.Memory{}}
		engine.Store = kept
		stage.Submitted(t, engine, "a")
		kept.fails.Store(true)
		l := stage.ListenTo(t.Context(), engine)
		stage.Pass(time.Minute)
		assert.EqualValues(t, -1, l.After("a", time.Now()))
		l.Mu.Lock()
		assert.Positive(t, l.Failed)
		l.Mu.Unlock()
		kept.fails.Store(false)
		began := time.Now()
		stage.Pass(time.Minute)
		assert.LessOrEqual(t, l.After("a", began), 15*time.Second)
	})
}

// A worker whose places are full does not try what others have taken meanwhile.
func TestDueLooksAgainForWhoIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &store.Memory{}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = memory
		const debates = 200
		for i := range debates {
			stage.Submitted(t, engine, fmt.Sprintf("d%03d", i))
		}
		came, taken := map[string]bool{}, 0
		for info, err := range engine.Due(t.Context()) {
			require.NoError(t, err)
			if memory.Lease(t.Context(), info.ID, "me", time.Hour) != nil {
				taken++
			}
			came[info.ID] = true
			for i := range debates / 2 { // the second that is tried: others have been faster
				_ = memory.Lease(t.Context(), fmt.Sprintf("d%03d", i), "you", time.Hour)
			}
			stage.Pass(3 * time.Second)
			if len(came) == debates/2 {
				break
			}
		}
		assert.Zero(t, taken)
	})
}

// The loop ends with its context, and with the engine's mistakes.
func TestDueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, err := range engine.Due(ctx) {
			t.Error("there is no debate", err)
		}
		assert.Error(t, ctx.Err())
	})
	wrong := &debate.Engine{Detectors: map[string]debate.Detector{"": nil}}
	n := 0
	ended, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, err := range wrong.Due(ended) {
		require.Error(t, err)
		n++
	}
	assert.Equal(t, 1, n)
}
