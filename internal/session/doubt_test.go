package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// unsure is a store whose next append takes effect, is written behind by somebody else, and then seems to
// have failed.
type unsure struct {
	debate.Store
	behind atomic.Pointer[func()]
}

var errReset = errors.New("the connection was reset")

func (s *unsure) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	err := s.Store.Append(ctx, id, after, writer, events)
	if behind := s.behind.Swap(nil); behind != nil && err == nil {
		(*behind)()
		return errReset
	}
	return err
}

// A control whose append seemed to fail is recorded once, whoever brings it.
func TestAControlInDoubtIsRecordedOnce(t *testing.T) {
	for _, holder := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "doubtful"
			memory := &store.Memory{}
			mine := &unsure{Store: memory}
			engine := func(store debate.Store) *debate.Engine {
				e, p := stage.Engine(config)
				stage.Slowly(p)
				e.Flows, e.Store = map[string]*debate.Flow{"notes": stage.Notes()}, store
				return e
			}
			first, other := engine(memory), engine(memory)
			if holder {
				first = engine(mine)
			}
			session := stage.Started(t, first, flow.Named("notes", config))
			stage.Pass(500 * time.Millisecond)
			control := engine(mine).Control
			if holder {
				control = first.Control
			}
			writing := func() {
				assert.NoError(t, other.Control(t.Context(), config.ID, flow.Sent{Trigger: stage.Noted, Payload: json.RawMessage(`"other"`)}))
			}
			mine.behind.Store(&writing)
			require.NoError(t, control(t.Context(), config.ID, flow.Sent{Trigger: stage.Noted, Payload: json.RawMessage(`"mine"`)}))
			require.Nil(t, mine.behind.Load())
			mine.behind.Store(&writing)
			require.NoError(t, control(t.Context(), config.ID, flow.Pause{Drain: true}), "it has succeeded")
			stage.Pass(20 * time.Second)
			require.NoError(t, control(t.Context(), config.ID, flow.Resume{}))
			stage.Pass(20 * time.Second)
			record := stage.Ended(t, session)
			assert.Len(t, record.Inputs, 3)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
		})
	}
}

// While one engine holds a debate, all who start it in another get the same error, and no session.
func TestASessionIsSeenOnceItHasItsDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "held"
		memory := &store.Memory{}
		holder, p := stage.Engine(config)
		holder.Store = memory
		stage.Slowly(p)
		session, err := holder.Start(t.Context(), config)
		require.NoError(t, err)
		engine, _ := stage.Engine(config)
		engine.Store = &sluggish{Store: memory}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				var s *debate.Session
				var err error
				if i%2 == 0 {
					s, err = engine.Start(t.Context(), config)
				} else {
					s, err = engine.Open(t.Context(), config.ID)
				}
				assert.ErrorIs(t, err, debate.ErrLeased)
				assert.Nil(t, s)
			})
		}
		all.Wait()
		all.Go(func() {
			_, err := engine.Open(t.Context(), config.ID)
			assert.ErrorIs(t, err, debate.ErrLeased)
		})
		stage.Pass(50 * time.Millisecond)
		assert.NoError(t, engine.Control(t.Context(), config.ID, flow.Cancel{}), "it goes to the debate itself")
		all.Wait()
		record := stage.Ended(t, session)
		assert.Equal(t, flow.StateCanceled, record.State)
		require.NoError(t, engine.Shutdown(t.Context()))
		_, err = engine.Start(t.Context(), stage.TwoDebaters())
		require.ErrorIs(t, err, flow.ErrClosed)
	})
}

// sluggish is a store whose leases take a while.
type sluggish struct{ debate.Store }

func (s *sluggish) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	stage.Pass(100 * time.Millisecond)
	return s.Store.Lease(ctx, id, owner, d)
}

// Who is shut down while a debate is being opened has none open afterwards.
func TestShutdownWaitsForWhatIsBeingOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		memory := &store.Memory{}
		engine, p := stage.Engine(config)
		engine.Store = &sluggish{Store: memory}
		stage.Slowly(p)
		var all sync.WaitGroup
		all.Go(func() {
			_, err := engine.Start(t.Context(), config)
			assert.ErrorIs(t, err, flow.ErrClosed)
		})
		stage.Pass(50 * time.Millisecond)
		require.NoError(t, stage.Abort(engine))
		all.Wait()
		for info, err := range memory.List(t.Context(), debate.Filter{}) {
			require.NoError(t, err)
			assert.Empty(t, info.Owner)
		}
	})
}

// A reader elsewhere sees the costs that come in after the end.
func TestAReaderElsewhereSeesTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Mode = debate.Simultaneous
		memory := &store.Memory{}
		engine, p := stage.Engine(config)
		engine.Store = memory
		outliving(engine, p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(time.Second)
		other, _ := stage.Engine(config)
		other.Store = memory
		last := int64(0)
		var all sync.WaitGroup
		all.Go(func() {
			for event, err := range other.Events(t.Context(), session.ID(), 0) {
				assert.NoError(t, err)
				last = event.Seq
			}
		})
		stage.Pass(time.Second)
		require.NoError(t, session.Cancel(t.Context()))
		record := stage.Ended(t, session)
		all.Wait()
		assert.Equal(t, record.Seq, last)
		assert.Zero(t, record.InFlight())
	})
}

// outliving lets the calls come to their end whatever becomes of their contexts, at different times.
func outliving(engine *debate.Engine, p *scripted.Provider) {
	engine.Grace = time.Minute
	engine.Providers["test"] = stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		stage.Pass(5 * time.Second)
		if req.Self == "Ben" {
			stage.Pass(5 * time.Second)
		}
		return p.Generate(context.WithoutCancel(ctx), req, emit)
	})
}

// A call that was in flight when its process died is charged, also if the debate is canceled from elsewhere.
func TestWhatWasInFlightIsChargedThoughTheDebateIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		memory := &store.Memory{}
		engine, p := stage.Engine(config)
		engine.Store = memory
		stage.Slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, session.Close()) // as good as dead: nothing of the call is recorded
		other, _ := stage.Engine(config)
		other.Store = memory
		require.NoError(t, other.Control(t.Context(), session.ID(), flow.Cancel{}))
		record := stage.StoredRecord(t, other, session.ID())
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Zero(t, record.InFlight())
		assert.Positive(t, record.Spent().AtMost)
	})
}

func TestAStoreThatFailsIsSaidToHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, _ := stage.Engine(config)
		engine.Store = &deaf{}
		_, err := engine.Start(t.Context(), config)
		require.ErrorIs(t, err, stage.ErrDeaf)
		stage.RequireKind(t, err, provider.KindStore)
	})
}
