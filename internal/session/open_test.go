package session_test

import (
	"context"
	"iter"
	"sync"
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

func TestCloseLeavesTheDebateForTheNextOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		store := &store.Memory{}
		engine.Store = store
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(2500 * time.Millisecond) // the judge is at work
		before := stage.StoredRecord(t, engine, session.ID())
		var closing sync.WaitGroup
		for range 4 {
			closing.Go(func() { assert.NoError(t, session.Close()) })
		}
		closing.Wait()
		after := stage.StoredRecord(t, engine, session.ID())
		assert.Equal(t, before.Seq, after.Seq, "Close records nothing")
		_, err = session.Wait(t.Context())
		require.ErrorIs(t, err, flow.ErrClosed)
		require.ErrorIs(t, session.Pause(t.Context()), flow.ErrClosed)
		for _, err := range session.Events(t.Context(), after.Seq) {
			require.ErrorIs(t, err, flow.ErrClosed)
		}

		other, q := stage.Engine(config)
		other.Store = store
		again := stage.Reopen(t, other, session.ID())
		record := stage.Ended(t, again)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
		assert.Equal(t, 8, q.Calls(), "the two turns that are recorded are not asked again")
		again.Close()
	})
}

func TestAHeldDebateIsNotOpenedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		store := &store.Memory{}
		engine.Store = store
		session := stage.Started(t, engine, config)

		same := stage.Reopen(t, engine, session.ID())
		assert.Same(t, session, same)

		other, _ := stage.Engine(config)
		other.Store = store
		_, err := other.Open(t.Context(), session.ID())
		require.ErrorIs(t, err, debate.ErrLeased)
		var conflict *debate.Error
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, provider.KindConflict, conflict.Kind)
	})
}

func TestStartingAnExistingID(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "ban-cars"
	engine, p := stage.Engine(config)
	stage.Run(t, engine, config)
	calls := p.Calls()

	again, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record := stage.Ended(t, again)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, calls, p.Calls(), "the debate was opened, not repeated")
	again.Close()

	config.Topic = "Something else"
	_, err = engine.Start(t.Context(), config)
	var conflict *debate.Error
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, provider.KindConflict, conflict.Kind)
	assert.Equal(t, "topic", conflict.Field)
}

// unreadable is a store whose logs cannot be read for a while.
type unreadable struct {
	*store.Memory

	broken bool
}

func (s *unreadable) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	if s.broken {
		return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, stage.ErrDeaf) }
	}
	return s.Memory.Read(ctx, id, after)
}

// Neither a claim in the engine nor a lease in the store is left: whoever comes next need not wait.
func TestAStartThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	config.ID = "ban-cars"
	fails := map[string]struct {
		change func(*debate.Config, *unreadable)
		err    error
	}{
		"a conflict":                  {func(c *debate.Config, _ *unreadable) { c.Topic = "Something else" }, &debate.Error{Kind: provider.KindConflict}},
		"a store that cannot be read": {func(_ *debate.Config, s *unreadable) { s.broken = true }, stage.ErrDeaf},
	}
	goesOn := map[string]func(context.Context, *debate.Engine) (*debate.Session, error){
		"opened":  func(ctx context.Context, e *debate.Engine) (*debate.Session, error) { return e.Open(ctx, config.ID) },
		"started": func(ctx context.Context, e *debate.Engine) (*debate.Session, error) { return e.Start(ctx, config) },
	}
	for name, failing := range fails {
		for how, goOn := range goesOn {
			for where, elsewhere := range map[string]bool{"here": false, "elsewhere": true} {
				t.Run(name+"/"+how+" "+where, stage.Bubbled(func(t *testing.T) {
					engine, p := stage.Engine(config)
					stage.Slowly(p)
					store := &unreadable{Memory: &store.Memory{}}
					engine.Store = store
					first, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					stage.Pass(2500 * time.Millisecond)
					require.NoError(t, first.Close())

					next, other := stage.Twin(engine), config
					failing.change(&other, store)
					_, err = next.Start(t.Context(), other)
					require.ErrorIs(t, err, failing.err, "%v", err)
					store.broken = false

					if elsewhere {
						next = stage.Twin(engine)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					began := time.Now()
					session, err := goOn(ctx, next)
					require.NoError(t, err)
					defer session.Close()
					assert.Zero(t, time.Since(began))
					record, err := session.Wait(ctx)
					require.NoError(t, err)
					assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
				}))
			}
		}
	}
}

func TestStartingADebateThatIsOpenHere(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "twice"
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		first := stage.Started(t, engine, config)
		second, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		assert.Same(t, first, second)
		other := config
		other.Rounds = 9
		_, err = engine.Start(t.Context(), other)
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindConflict}, "%v", err)
		assert.ErrorContains(t, err, "rounds")
	})
}

// Whoever could not have a debate because somebody else holds it can try again.
func TestAStartThatIsRefusedTheLeaseCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "held"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		first, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		next := stage.Twin(engine)
		_, err = next.Start(t.Context(), config)
		require.ErrorIs(t, err, debate.ErrLeased)
		require.NoError(t, first.Close())

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		session, err := next.Start(ctx, config)
		require.NoError(t, err)
		require.NoError(t, session.Close())
	})
}

// A session that is being closed says so at once, however slow its provider is to obey.
func TestStartingAClosedSessionDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Providers["test"] = heedless{p}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(time.Second)
		closed := make(chan struct{})
		go func() {
			_ = session.Close()
			close(closed)
		}()
		synctest.Wait()
		began := time.Now()
		require.ErrorIs(t, session.Start(t.Context()), flow.ErrClosed)
		assert.Zero(t, time.Since(began))
		<-closed
	})
}

// heedless does not listen to its context.
type heedless struct{ *scripted.Provider }

func (p heedless) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.Background(), req, emit)
}
