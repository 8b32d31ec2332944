package debate_test

import (
	"context"
	"fmt"
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
	"github.com/agonist-dev/debate/store"
)

// A worker has fewer slots than there are paused debates. It gets through all others, and when it is told to end, nothing is lost.
func TestWorkPassesWhatIsPaused(t *testing.T) {
	t.Parallel()
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		const debates = 12
		host, worker, second, control, began := join(), join(), join(), join(), time.Now()
		var ids []string
		for i := range debates {
			c.Config.ID = fmt.Sprintf("loop-%d", i)
			s := host.Begun()
			stage.Pass(20 * time.Millisecond)
			ids = append(ids, s.ID())
		}
		require.NoError(t, host.Shutdown(t.Context()))
		begin := func(m *stage.Member) (end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { assert.NoError(t, m.Work(ctx, debate.Work{Slots: 2})) })
			return func() { cancel(); group.Wait() }
		}
		final := func(ids []string) (n int) {
			for _, id := range ids {
				if c.Record(id).Final() {
					n++
				}
			}
			return n
		}
		toPause, others, paused := ids[:6], ids[6:], make(map[string]bool)
		end := begin(worker)
		for len(paused) < len(toPause) || final(others) < 3 {
			stage.Pass(50 * time.Millisecond)
			require.Less(t, time.Since(began), time.Hour, "paused %v, final %d", paused, final(others))
			for _, id := range toPause { // each as soon as it is worked on
				if !paused[id] && c.Owner(id) != "" {
					require.NoError(t, control.Control(t.Context(), id, flow.Pause{Drain: true}))
					paused[id] = true
				}
			}
		}
		end()
		for _, id := range ids {
			assert.Zero(t, c.Record(id).InFlight(), id)
			assert.Empty(t, c.Owner(id), id)
		}
		end = begin(second)
		for final(others) < len(others) {
			stage.Pass(time.Second)
			require.Less(t, time.Since(began), time.Hour)
		}
		end()
		assert.Zero(t, final(toPause))
		for _, id := range others {
			c.Config.ID = id
			c.Finished(id)
		}
	})
}

// A worker closes a session at each pause. Readers in its engine wait through it, and end with the debate.
func TestAReaderBesideAWorkerReadsThroughEachPause(t *testing.T) {
	t.Parallel()
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		worker, control, began := join(), join(), time.Now()
		c.Config.ID = "read"
		_, err := worker.Submit(t.Context(), c.Config)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, worker.Work(ctx, debate.Work{Slots: 1})) })
		until := func(held bool) {
			for (c.Owner("read") != "") != held {
				stage.Pass(50 * time.Millisecond)
				require.Less(t, time.Since(began), 12*time.Hour)
			}
		}
		until(true) // the session is open when the reader comes
		var seqs []int64
		group.Go(func() {
			defer cancel()
			for event, err := range worker.Events(t.Context(), "read", 0) {
				assert.NoError(t, err)
				if event.Kind() != flow.EventChunk {
					seqs = append(seqs, event.Seq)
				}
			}
		})
		for range 3 {
			until(true)
			stage.Pass(1500 * time.Millisecond)
			require.NoError(t, control.Control(t.Context(), "read", flow.Pause{Drain: true}))
			until(false)
			stage.Pass(time.Hour)
			require.NoError(t, control.Control(t.Context(), "read", flow.Resume{}))
		}
		group.Wait()
		log := c.Log("read")
		require.Len(t, seqs, len(log))
		for i, seq := range seqs {
			assert.EqualValues(t, i+1, seq)
		}
		c.Finished("read")
	})
}

// A worker passes a debate that is damaged and one that its engine lacks something for, with one slot, and goes on.
func TestWorkPassesWhatItCannotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &stage.Spoilt{Memory: &store.Memory{}, ID: "a"}
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = kept
		rich := stage.Twin(engine)
		rich.Providers = map[string]debate.Provider{"test": engine.Providers["test"], "rare": engine.Providers["test"]}
		stage.Submitted(t, engine, "a")
		config := stage.TwoDebaters()
		config.ID, config.Participants[0].Model = "b", "rare/debater"
		_, err := rich.Submit(t.Context(), config)
		require.NoError(t, err)
		kept.Damaged.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, engine.Work(ctx, debate.Work{Slots: 1})) })
		for _, id := range []string{"c", "d", "e"} {
			stage.Pass(time.Minute)
			stage.Submitted(t, rich, id)
			stage.Pass(time.Minute)
			record := stage.StoredRecord(t, rich, id)
			assert.True(t, record.Final(), id)
		}
		cancel()
		group.Wait()
		assert.LessOrEqual(t, kept.Reads.Load(), int64(5))
	})
}

// Work runs all that is submitted, with one slot, hands each session to With, and returns when its context is done.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = &store.Memory{}
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			stage.Submitted(t, engine, id)
		}
		var read atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- engine.Work(ctx, debate.Work{Slots: 1, With: func(ctx context.Context, s *debate.Session) {
				assert.Contains(t, ids, s.ID())
				<-ctx.Done()
				read.Add(1)
			}})
		}()
		stage.Pass(time.Hour)
		for _, id := range ids {
			record := stage.StoredRecord(t, engine, id)
			assert.True(t, record.Final(), id)
		}
		assert.EqualValues(t, len(ids), read.Load(), "each session has ended")
		cancel()
		require.NoError(t, <-ended)
	})
}

// A reader that is behind reads a session to the end, though that is closed and Work is over.
func TestWorkWaitsForItsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Store = &store.Memory{}
		stage.Submitted(t, engine, "a")
		var read atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- engine.Work(ctx, debate.Work{With: func(ctx context.Context, s *debate.Session) {
				for event, err := range s.Events(ctx, 0) {
					assert.NoError(t, err)
					read.Store(event.Seq)
					assert.NoError(t, stage.Sleep(ctx, 10*time.Millisecond))
				}
			}})
		}()
		stage.Pass(50 * time.Millisecond)
		record := stage.StoredRecord(t, engine, "a")
		require.True(t, record.Final())
		require.Less(t, read.Load(), record.Seq)
		cancel()
		require.NoError(t, <-ended)
		assert.Equal(t, record.Seq, read.Load())
	})
}

// Calls that take longer than Drain are aborted, and Work says so. Another engine goes on.
func TestWorkAbortsWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		stage.Submitted(t, engine, "a")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- engine.Work(ctx, debate.Work{Drain: time.Millisecond}) }()
		stage.Pass(500 * time.Millisecond)
		require.EqualValues(t, 1, engine.Stats().Calls)
		cancel()
		err := <-ended
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "1 of 1")
		ctx, cancel = context.WithCancel(t.Context())
		go func() { ended <- stage.Twin(engine).Work(ctx, debate.Work{}) }()
		stage.Pass(time.Hour)
		record := stage.StoredRecord(t, engine, "a")
		assert.True(t, record.Final())
		cancel()
		require.NoError(t, <-ended)
	})
}

// What a worker cannot do is refused by the names of all fields. An engine that is shut down works no more.
func TestWorkRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		err := engine.Work(t.Context(), debate.Work{
			Slots: -1, Drain: -1, Filter: store.Filter{Newest: true, After: "a", Limit: 1, Text: "text", Per: "tenant", Each: 1},
		})
		stage.RequireKind(t, err, provider.KindValidation)
		for _, field := range []string{"Slots", "Drain", "Newest", "After", "Limit", "Text", "Per", "Each"} {
			assert.ErrorContains(t, err, field)
		}
		ended := make(chan error, 1)
		go func() { ended <- engine.Work(t.Context(), debate.Work{}) }()
		stage.Pass(time.Minute)
		require.NoError(t, engine.Shutdown(t.Context()))
		require.ErrorIs(t, <-ended, flow.ErrClosed)
	})
}
