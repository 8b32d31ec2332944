package session_test

import (
	"context"
	"errors"
	"iter"
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
	"github.com/agonist-dev/debate/store"
)

// laptop is the store as a machine reaches it. While the machine is asleep, nothing that it does succeeds. The clock of the store goes
// on meanwhile and that of the machine stands: in a bubble of one clock, that of the store is set forward.
type laptop struct {
	*store.Memory

	asleep atomic.Bool
	cut    atomic.Bool // each read breaks off after the last event
	silent atomic.Bool // the store does not tell its time
}

var errAsleep = errors.New("the machine is asleep")

func (l *laptop) do(op func() error) error {
	if l.asleep.Load() {
		return errAsleep
	}
	return op()
}

func (l *laptop) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	return l.do(func() error { return l.Memory.Append(ctx, id, after, writer, events) })
}

func (l *laptop) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	return l.do(func() error { return l.Memory.Lease(ctx, id, owner, d) })
}

func (l *laptop) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for event, err := range l.Memory.Read(ctx, id, after) {
			if l.asleep.Load() {
				break
			}
			if !yield(event, err) {
				return
			}
		}
		if l.asleep.Load() || l.cut.Load() {
			yield(flow.Event{}, errAsleep)
		}
	}
}

func (l *laptop) Time(ctx context.Context) (at time.Time, err error) {
	if l.silent.Load() {
		return time.Time{}, errAsleep
	}
	err = l.do(func() error {
		at, err = l.Memory.Time(ctx)
		return err
	})
	return at, err
}

// answering is a provider whose answers do not arrive while the machine is asleep.
func (l *laptop) answering(p provider.Provider) provider.Provider {
	return stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		response, err := p.Generate(ctx, req, emit)
		for l.asleep.Load() && ctx.Err() == nil {
			stage.Pass(time.Second)
		}
		return response, err
	})
}

// A machine sleeps while it holds a debate. Another one plays it until a person is asked, and leaves. The first wakes, and renews its
// lease; the answer comes from a third. The time of the sleep is time of the debate once, and not again with each lease that follows.
func TestASleepIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := setStore(30*time.Second, 45*time.Minute)
		sleeper := &laptop{Memory: kept}
		config, a := limited("a person", sleeper)
		config.Budget = &debate.Budget{HardTime: 70 * time.Minute}
		a.Providers["test"] = sleeper.answering(a.Providers["test"])
		_, b := limited("a person", kept)
		_, c := limited("a person", kept)
		session := stage.Started(t, a, config)
		stage.Pass(29 * time.Second)
		sleeper.asleep.Store(true)
		stage.Pass(2 * time.Second)
		another := stage.Reopen(t, b, config.ID)
		_, err := another.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.NoError(t, another.Close())
		sleeper.asleep.Store(false)
		stage.Pass(time.Minute)
		var record *debate.Record
		for {
			record, err = session.Wait(t.Context())
			if !errors.Is(err, debate.ErrAwaitingInput) {
				break
			}
			require.NoError(t, c.Control(t.Context(), config.ID, exampleOf(record.Inquiries[0])))
			stage.Pass(time.Second)
		}
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndRounds, record.Reason)
		assert.Len(t, record.Turns, 6)
		assert.Greater(t, record.Duration(), 45*time.Minute)
		assert.Less(t, record.Duration(), time.Hour)
	})
}

// Two workers of one owner make the steps of a debate in turn, and the clock of the store is set forward while both have it folded. The
// time by which it was set counts once.
func TestWorkersOfOneOwnerCountAJumpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := setStore(10*time.Second, time.Hour)
		config, a := limited("a hard limit", kept)
		config.Budget = &debate.Budget{HardTime: 100 * time.Minute}
		_, b := limited("a hard limit", kept)
		n := &stage.Nomad{T: t, Config: config, Store: kept, Same: a}
		n.Begin()
		next := n.Advance(flow.Opened{})
		for _, worker := range []*debate.Engine{a, b, a} {
			var err error
			next, err = worker.Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
		next = n.Advance(flow.Pause{})
		for len(next.Calls) > 0 {
			var err error
			next, err = a.Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
		require.Equal(t, flow.StatePaused, next.State)
		stage.Pass(time.Minute)
		require.NoError(t, a.Control(t.Context(), config.ID, flow.Resume{}))
		record := n.Run(n.Advance(flow.Tick{}))
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, flow.EndRounds, record.Reason)
		assert.Greater(t, record.Duration(), time.Hour)
		assert.Less(t, record.Duration(), 70*time.Minute)
	})
}

// What others have appended while a process had no lease makes it read the clock of the store at its next lease, also where it was
// folded long before that: by a read that broke off, or while another owner had the lease. Meanwhile the machine has slept.
func TestTheNextLeaseReadsTheClock(t *testing.T) {
	t.Run("in a session", stage.Bubbled(func(t *testing.T) {
		kept := setStore(10*time.Minute, time.Hour)
		broken := &laptop{Memory: kept}
		config, a := limited("a person", broken)
		config.Budget = nil
		_, c := limited("a person", kept)
		session := stage.Started(t, a, config)
		record := stage.AwaitsInput(t, session)
		broken.cut.Store(true)
		require.NoError(t, c.Control(t.Context(), config.ID, exampleOf(record.Inquiries[0])))
		stage.Pass(10 * time.Minute)
		broken.cut.Store(false)
		stage.Pass(time.Minute)
		record = stage.SessionRecord(t, session)
		assert.Greater(t, record.Duration(), time.Hour)
	}))
	t.Run("by a runtime", stage.Bubbled(func(t *testing.T) {
		kept := setStore(10*time.Minute, time.Hour)
		config, a := limited("a retry", kept)
		_, b := limited("a retry", kept)
		n := &stage.Nomad{T: t, Config: config, Store: kept, Same: a}
		n.Begin()
		n.Advance(flow.Opened{})
		stage.Pass(time.Minute)
		_, err := b.Advance(t.Context(), config.ID, "another", flow.Opened{})
		require.NoError(t, err)
		_, err = a.Advance(t.Context(), config.ID, "nomad", flow.Tick{})
		require.ErrorIs(t, err, flow.ErrLeased)
		stage.Pass(10 * time.Minute)
		n.Advance(flow.Opened{})
		record := stage.StoredRecord(t, a, config.ID)
		assert.Greater(t, record.Duration(), time.Hour)
	}))
}

// A store that does not tell its time once is asked again at the next lease, and not only after a third of one.
func TestAClockThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := setStore(30*time.Second, time.Hour)
		silent := &laptop{Memory: kept}
		config := stage.TwoDebaters()
		engine, _ := stage.Engine(config)
		engine.Store = silent
		stage.Run(t, engine, config)
		stage.Pass(time.Minute)
		silent.silent.Store(true)
		stage.Run(t, engine, config)
		silent.silent.Store(false)
		assert.WithinDuration(t, kept.Now(), stage.Run(t, engine, config).StartedAt, time.Minute)
	})
}
