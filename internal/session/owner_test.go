package session_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestALeaseLastsAsLongAsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		store := &store.Memory{}
		engine, p := stage.Engine(config)
		engine.Store = store
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Delay = 100 * time.Second // longer than a lease
		})
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		other, _ := stage.Engine(config)
		other.Store = store
		for range 9 {
			stage.Pass(100 * time.Second)
			_, err := other.Open(t.Context(), session.ID())
			require.ErrorIs(t, err, debate.ErrLeased)
		}
		require.NoError(t, session.Close())
		again := stage.Reopen(t, other, session.ID())
		require.NoError(t, again.Close())
	})
}

// thief is a store whose lease is lost at half-time.
type thief struct {
	store.Memory
	leases int
}

func (s *thief) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if s.leases++; s.leases > 1 {
		return debate.ErrLeased
	}
	return s.Memory.Lease(ctx, id, owner, d)
}

func TestWhoLosesItsLeaseLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		engine.Store = &thief{}
		p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Delay: time.Hour} }
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		_, err = session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrLeased)
		require.NoError(t, session.Close())
	})
}

func TestNothingIsStartedInAContextThatIsDone(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := engine.Start(done, config)
	require.ErrorIs(t, err, context.Canceled)
	for _, err := range engine.Run(done, config) {
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.Zero(t, p.Calls())
}

// stuck is a store whose appends hang, after the first few.
type stuck struct {
	store.Memory
	free int
	hold chan struct{}
}

func (s *stuck) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if s.free--; s.free < 0 {
		<-s.hold
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

func TestNobodyWaitsForAStoreLongerThanAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		store := &stuck{free: 2, hold: make(chan struct{})}
		engine.Store = store
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(5 * time.Second) // the third append hangs
		for name, do := range map[string]func(context.Context) error{
			"Pause": func(ctx context.Context) error { return session.Pause(ctx) },
			"Wait":  func(ctx context.Context) error { _, err := session.Wait(ctx); return err },
			"Events": func(ctx context.Context) (last error) {
				for _, err := range session.Events(ctx, 0) {
					last = err
				}
				return last
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			require.ErrorIs(t, do(ctx), context.DeadlineExceeded, name)
			assert.Equal(t, time.Second, time.Since(began), name)
			cancel()
		}
		assert.Equal(t, debate.StateAwaitingResponses, session.State())
		close(store.hold)
		require.NoError(t, session.Close())
	})
}

// deaf is a store that takes nothing after the first few appends.
type deaf struct {
	store.Memory
	free int
}

func (s *deaf) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if s.free--; s.free < 0 {
		return stage.ErrDeaf
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

func TestWhatIsNotSavedIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		for free := range 12 { // appends that succeed; then the store is tried for as long as a lease lasts
			engine, p := stage.Engine(config)
			store := &deaf{free: free}
			engine.Store = store
			session, err := engine.New(config)
			require.NoError(t, err)
			require.NoError(t, session.Validate(t.Context()))
			if err := session.Start(t.Context()); err == nil {
				_, err = session.Wait(t.Context())
				if free < 11 {
					require.ErrorIs(t, err, stage.ErrDeaf)
				}
			} else {
				require.ErrorIs(t, err, stage.ErrDeaf)
			}
			assert.LessOrEqual(t, p.Calls(), free, "nobody is asked before the intent is saved")
			if free == 0 {
				assert.Equal(t, flow.StateReady, session.State())
			}
			require.NoError(t, session.Close())

			store.free = 1000
			if free > 0 {
				again := stage.Reopen(t, engine, session.ID())
				record := stage.Ended(t, again)
				assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
				require.NoError(t, again.Close())
			}
		}
	})
}

// leaving ends its goroutine in the middle of a call, as require does in a test's fake.
type leaving struct{}

func (leaving) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	runtime.Goexit()
	return nil, stage.ErrDeaf
}

func TestCloseReturnsAfterAProviderHasEndedItsGoroutine(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Providers["test"] = leaving{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, session.Close())
}

func TestRunOfADebateThatOnceFailed(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "recovered"
	engine, p := stage.Engine(config)
	reply, broken := p.Reply, true
	p.Reply = func(req *provider.Request) scripted.Reply {
		if broken {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota, Status: 429}}
		}
		return reply(req)
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	_, err = session.Wait(t.Context())
	require.Error(t, err)
	broken = false
	require.NoError(t, session.Retry(t.Context()))
	stage.Ended(t, session)
	require.NoError(t, session.Close())

	turns := 0
	for event, err := range engine.Run(t.Context(), config) {
		require.NoError(t, err)
		if body.As[debate.Turn](event) != nil {
			turns++
		}
	}
	assert.Equal(t, 6, turns)
}

func TestFormatsOfTheEngineAreChecked(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Formats = map[string]debate.Format{"mine": {End: "round"}}
	err := engine.Validate(t.Context(), config)
	require.ErrorContains(t, err, "Formats[mine].end")
	assert.ErrorContains(t, err, "Formats[mine].phases")
}

func TestWhatIsKnownOfAFailedAttemptIsCharged(t *testing.T) {
	config := stage.TwoDebaters()
	config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindAPI: 0}}
	engine, p := stage.Engine(config)
	p.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{
			Text: "half a", Usage: provider.Usage{Input: 5000, Output: 700}, AfterChunks: 1,
			Err: &provider.Error{Kind: provider.KindAPI, Status: 502},
		}
	}
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	require.Error(t, err)
	assert.Equal(t, 5000*debate.Money(1_000_000)+700*debate.Money(2_000_000), record.Spent().Cost)
}

// late is a store whose next append is told to have failed again and again, and is written all the same:
// just before the one after it.
type late struct {
	store.Memory
	armed   bool
	pending func() error
}

func (s *late) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if s.armed {
		kept := slices.Clone(events)
		s.pending = func() error { return s.Memory.Append(ctx, id, after, writer, kept) }
		return stage.ErrDeaf
	}
	if write := s.pending; write != nil {
		s.pending = nil
		if err := write(); err != nil {
			return err
		}
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

func TestAnotherSessionsAppendIsNeverTakenForOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		store := &late{}
		engine.Store = store
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(500 * time.Millisecond)
		store.armed = true
		require.ErrorIs(t, session.Pause(t.Context()), stage.ErrDeaf)
		require.NoError(t, session.Close())

		store.armed = false
		again, err := engine.Open(t.Context(), session.ID()) // reads the log before the pause is in it
		require.NoError(t, err)
		defer again.Close()
		assert.Equal(t, flow.StatePaused, again.State())
		require.NoError(t, again.Resume(t.Context()))
		record := stage.Ended(t, again)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
}

func TestALogOfTooManyCallsIsRefusedSoon(t *testing.T) {
	longform.Lone(t)
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	core, signals, err := kernel.Begin(kernel.Of(t, engine), "many", config)
	require.NoError(t, err)
	var out flow.Output
	for _, signal := range signals {
		out, err = core.Step(flow.Input{At: time.Now(), Signal: signal})
		require.NoError(t, err)
	}
	log := slices.Clone(out.Events)
	for i := range 5000 {
		name := strconv.Itoa(i)
		log = append(log, debate.Event{
			Seq: int64(len(log) + 1), At: time.Now(),
			Body: &flow.Intent{Call: name, By: name, Attempt: 1},
		})
	}
	_, err = kernel.Of(t, engine).NewCore("many", log)
	require.ErrorIs(t, err, &debate.Error{Kind: provider.KindValidation}, "%v", err)
	assert.ErrorContains(t, err, "in flight")
}

func TestAnyNumberOfTokensMayBeAllowed(t *testing.T) {
	config := stage.TwoDebaters()
	config.MaxTokens = math.MaxInt
	engine, _ := stage.Engine(config)
	assert.Equal(t, flow.StateCompleted, stage.Run(t, engine, config).State)
}
