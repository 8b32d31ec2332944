package session_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// TestAReaderOutlivesTheSessionThatItReads: closed sessions, leases that move, a pause and a shutdown are no end for a reader of the
// engine. It gets each fact once, and ends after the last.
func TestAReaderOutlivesTheSessionThatItReads(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		here, there := join(), join()
		session := here.Begun()
		id, tr, ended := session.ID(), newTranscript(t), make(chan struct{})
		go func() {
			defer close(ended)
			for event, err := range here.Events(t.Context(), id, 0) {
				if !assert.NoError(t, err) {
					return
				}
				tr.read(event)
			}
		}()
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, session.Close(), "while Ben speaks")
		stage.Pass(time.Second)
		session = there.Opened(id)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, session.Control(t.Context(), flow.Pause{Drain: true}))
		_, err := session.WaitIdle(t.Context())
		require.ErrorIs(t, err, debate.ErrPaused)
		require.NoError(t, session.Close())
		stage.Pass(24 * time.Hour)
		session = here.Opened(id)
		require.NoError(t, session.Resume(t.Context()))
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, here.Shutdown(t.Context()))
		stage.Ended(t, there.Opened(id))
		<-ended
		assert.Equal(t, c.Record(id).Seq, tr.last)
		assert.Len(t, tr.done, 6)
	})
}

// TestAReaderIsNotShownTheNextDebateOfAnID: while it is busy, the debate is deleted, and another one begins under the id. The reader is told
// that there is none, whether it reads a log or a session.
func TestAReaderIsNotShownTheNextDebateOfAnID(t *testing.T) {
	for name, open := range map[string]bool{"log": false, "session": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "cars"
			engine, source := stage.Engine(config)
			stage.Slowly(source)
			engine.Store = &store.Memory{}
			var session *debate.Session
			if open {
				session = stage.Started(t, engine, config)
			} else {
				_, err := engine.Submit(t.Context(), config)
				require.NoError(t, err)
				require.NoError(t, engine.Control(t.Context(), "cars", flow.Pause{}))
			}
			var deleted time.Time
			var told error
			for event, err := range engine.Events(t.Context(), "cars", 0) {
				if err != nil {
					told = err
					break
				}
				if deleted.IsZero() {
					if open {
						stage.Ended(t, session)
					}
					require.NoError(t, engine.Delete(t.Context(), "cars"))
					deleted = time.Now()
					stage.Pass(time.Second)
					next := config
					next.Topic, next.Rounds = "Something else", config.Rounds+1
					stage.Run(t, stage.Twin(engine), next)
				}
				assert.True(t, event.Kind() == flow.EventChunk || !event.At.After(deleted), "%d %s", event.Seq, event.Kind())
			}
			require.ErrorIs(t, told, flow.ErrNotFound)
		}))
	}
}

// TestASlowReaderIsToldThatAnotherProcessSpeaks: while it is busy, its session is closed and another process takes over. It hears nothing
// of that one without a bus, and is told so, but not of the call that was broken off here.
func TestASlowReaderIsToldThatAnotherProcessSpeaks(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
		here, there := join(), join()
		session := here.Begun()
		id, busy, ended := session.ID(), make(chan struct{}), make(chan struct{})
		var untold []flow.Chunk
		go func() {
			defer close(ended)
			for event, err := range here.Events(t.Context(), id, 0) {
				if !assert.NoError(t, err) {
					return
				}
				if body.As[debate.Turn](event) != nil {
					<-busy
				}
				if c := body.As[flow.Chunk](event); c != nil && c.Missing != 0 {
					untold = append(untold, *c)
				}
			}
		}()
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, session.Close(), "while Ben speaks")
		session = there.Opened(id)
		stage.Pass(500 * time.Millisecond)
		close(busy)
		synctest.Wait()
		if assert.NotEmpty(t, untold, "at once") {
			assert.Equal(t, stage.BensOpening, untold[0].Call)
			assert.Equal(t, 2, untold[0].Attempt)
			assert.Equal(t, -1, untold[0].Missing)
		}
		stage.Ended(t, session)
		<-ended
		assert.Len(t, untold, 9, "each of the other process's calls, once")
	})
}

// TestAReaderOfASessionIsToldThatTheStoreHasFailed: by one error of kind store, though the session holds on.
func TestAReaderOfASessionIsToldThatTheStoreHasFailed(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		m := join()
		s := m.Begun()
		last, failed := int64(0), error(nil)
		for event, err := range m.Events(t.Context(), s.ID(), 0) {
			if err != nil {
				require.NoError(t, failed, "the error is the last that comes")
				failed = err
				continue
			}
			if last = event.Seq; last == 5 {
				m.Goes(func(_ context.Context, op string, do func() error) error {
					if op == "read" {
						return stage.ErrBroken
					}
					return do()
				})
			}
		}
		require.ErrorIs(t, failed, stage.ErrBroken)
		stage.RequireKind(t, failed, provider.KindStore)
		m.Goes(func(_ context.Context, _ string, do func() error) error { return do() })
		for event, err := range m.Events(t.Context(), s.ID(), last) {
			require.NoError(t, err)
			if event.Kind() != flow.EventChunk {
				assert.Equal(t, last+1, event.Seq)
				last = event.Seq
			}
		}
		assert.Equal(t, c.Record(s.ID()).Seq, last)
	})
}

// TestAReaderHasAHeartbeatWhileNothingHappens: each comes so long after the last that it got, whether the session is open or not, and
// none is a fact.
func TestAReaderHasAHeartbeatWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "beats"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		const every = 15 * time.Second
		tr, beats, ended := newTranscript(t), 0, make(chan struct{})
		go func() {
			defer close(ended)
			last := time.Now()
			for event, err := range engine.Events(t.Context(), "beats", 0, every) {
				if !assert.NoError(t, err) {
					return
				}
				if _, beat := event.Body.(*flow.Heartbeat); beat {
					beats++
					assert.Equal(t, every, time.Since(last))
					assert.Equal(t, tr.last, event.Seq)
					data, err := json.Marshal(event)
					assert.NoError(t, err)
					var read debate.Event
					assert.NoError(t, json.Unmarshal(data, &read))
					assert.Equal(t, flow.EventHeartbeat, read.Kind())
				} else {
					tr.read(event)
				}
				last = time.Now()
			}
		}()
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(10*time.Minute + time.Second)
		require.NoError(t, session.Close())
		stage.Pass(10*time.Minute + time.Second)
		session = stage.Reopen(t, engine, "beats")
		defer session.Close()
		require.NoError(t, session.Resume(t.Context()))
		<-ended
		assert.Equal(t, 80, beats)
		assert.Len(t, tr.done, 6)
	})
}

// spied is a store and a bus that count who watches and who subscribes.
type spied struct {
	*store.Memory
	*bus.Local

	mu       sync.Mutex
	watching []context.Context
}

func (c *spied) Watch(ctx context.Context, id string) <-chan struct{} {
	c.count(ctx)
	return c.Memory.Watch(ctx, id)
}

func (c *spied) Subscribe(ctx context.Context, topic string) <-chan []byte {
	if topic != "asks" { // an engine that speaks listens for those
		c.count(ctx)
	}
	return c.Local.Subscribe(ctx, topic)
}

func (c *spied) count(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watching = append(c.watching, ctx)
}

func (c *spied) now() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ctx := range c.watching {
		if ctx.Err() == nil {
			n++
		}
	}
	return n
}

// TestAReaderThatLeavesLeavesNothing: it watches the log and the bus only while the session is not open here, and has nothing after it
// has left or its context has ended.
func TestAReaderThatLeavesLeavesNothing(t *testing.T) {
	for name, leave := range map[string]bool{"leaves": true, "is told to end": false} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "left"
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			kept := &spied{Memory: &store.Memory{}, Local: &bus.Local{}}
			engine.Store, engine.Bus = kept, kept
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			var leaves atomic.Bool
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for _, err := range engine.Events(ctx, "left", 0, time.Minute) {
						if err != nil {
							assert.ErrorIs(t, err, context.Canceled)
						}
						if leaves.Load() {
							return
						}
					}
				})
			}
			stage.Pass(1500 * time.Millisecond)
			assert.LessOrEqual(t, kept.now(), 1, "the session watches its log, and tells its readers")
			require.NoError(t, session.Pause(t.Context()))
			require.NoError(t, session.Close())
			stage.Pass(time.Hour)
			assert.Equal(t, 6, kept.now(), "the log and the bus, for each")
			session = stage.Reopen(t, engine, "left")
			stage.Pass(time.Second)
			assert.LessOrEqual(t, kept.now(), 1)
			require.NoError(t, session.Close())
			stage.Pass(time.Second)
			assert.Equal(t, 6, kept.now())
			if leave {
				leaves.Store(true)
			} else {
				end()
			}
			readers.Wait()
			assert.Zero(t, kept.now())
			require.NoError(t, engine.Shutdown(t.Context()))
		}))
	}
}
