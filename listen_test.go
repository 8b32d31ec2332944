package debate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
)

// The company's engines keep the lease that they have by default, which is renewed and looked at after a third.
const (
	leaseTime = 15 * time.Second
	beatTime  = leaseTime / 3
	pollTime  = 250 * time.Millisecond
)

func TestTheLeaseIsGivenBackAtRest(t *testing.T) {
	noKey := &provider.Error{Kind: provider.KindAuthentication, Status: 401}
	noQuota := &provider.Error{Kind: provider.KindQuota, Status: 429}
	for name, test := range map[string]struct {
		change func(*debate.Config)
		fail   *provider.Error
		call   string // that fails
		then   func(*testing.T, *debate.Session)
		state  debate.State
	}{
		"paused": {
			then:  func(t *testing.T, s *debate.Session) { require.NoError(t, s.Pause(t.Context())) },
			state: flow.StatePaused,
		},
		"an error":   {fail: noQuota, call: adasOpening, state: flow.StateError},
		"a question": {fail: noKey, call: "r2.rebuttal.Ben", state: flow.StateAwaitingInput},
		"a warning": {
			change: func(c *debate.Config) { c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true} },
			state:  flow.StateAwaitingInput,
		},
		"canceled": {
			then:  func(t *testing.T, s *debate.Session) { require.NoError(t, s.Cancel(t.Context())) },
			state: flow.StateCanceled,
		},
		"completed": {state: flow.StateCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			if test.change != nil {
				test.change(&config)
			}
			stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				if test.fail != nil {
					c.Failing(test.call, test.fail)
				}
				s := join().Begun()
				assert.NotEmpty(t, c.Owner(s.ID()))
				pass(500 * time.Millisecond)
				if test.then != nil {
					test.then(t, s)
				}
				pass(30 * time.Second)
				assert.Equal(t, test.state, s.State())
				assert.Empty(t, c.Owner(s.ID()), "whoever says something next may be in another process")
				var idle []string
				for info, err := range join().List(t.Context(), debate.Filter{Idle: true}) {
					require.NoError(t, err)
					idle = append(idle, info.ID)
				}
				assert.Equal(t, []string{s.ID()}, idle)
				other := join().Opened(s.ID())
				assert.Equal(t, test.state, other.State())
				assert.Empty(t, c.Owner(s.ID()), "who opens it takes no lease either")
			})
		})
	}
}

func TestTheLeaseIsKeptWhileACallIsInFlight(t *testing.T) {
	for name, do := range map[string]func(context.Context, *debate.Session) error{
		"a draining pause": func(ctx context.Context, s *debate.Session) error { return s.Pause(ctx, debate.Drain) },
		// The provider goes on: what was broken off is still to be charged.
		"a pause": func(ctx context.Context, s *debate.Session) error { return s.Pause(ctx) },
		"the end": func(ctx context.Context, s *debate.Session) error { return s.Cancel(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Slow("Ada", time.Minute)
				m := join()
				m.Providers["test"] = stubborn{m}
				s := m.Begun()
				pass(500 * time.Millisecond)
				require.NoError(t, do(t.Context(), s))
				pass(time.Minute)
				assert.NotEmpty(t, c.Owner(s.ID()))
				_, err := join().Open(t.Context(), s.ID())
				require.ErrorIs(t, err, debate.ErrLeased)
				pass(time.Second)
				assert.Empty(t, c.Owner(s.ID()))
				assert.Zero(t, c.Record(s.ID()).InFlight())
			})
		})
	}
}

// stubborn is a provider that does not hear that it is broken off.
type stubborn struct{ debate.Provider }

func (p stubborn) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.WithoutCancel(ctx), req, emit)
}

// reader collects what a session's Events and Wait give.
type reader struct {
	sync.WaitGroup

	facts  []debate.Event
	record *debate.Record
	err    error
}

// listening reads a session until its debate is over, or the session is.
func listening(t *testing.T, s *debate.Session) *reader {
	r := &reader{}
	r.Go(func() {
		for event, err := range s.Events(t.Context(), 0) {
			if err != nil {
				r.err = err
				return
			}
			if event.Kind() != flow.EventChunk {
				r.facts = append(r.facts, event)
			}
		}
	})
	r.Go(func() {
		for r.record == nil || !r.record.Final() { // it also returns where a person is needed
			record, err := s.Wait(t.Context())
			if err != nil && s.State() != flow.StateError && !errors.Is(err, debate.ErrAwaitingInput) {
				return
			}
			r.record = record
			pass(100 * time.Millisecond)
		}
	})
	return r
}

// sawAll checks that a reader was given the whole log, and the record of its end.
func (r *reader) sawAll(t *testing.T, c *stage.Company, id string) {
	t.Helper()
	r.Wait()
	require.NoError(t, r.err)
	require.NotNil(t, r.record)
	log := c.Log(id)
	for i := range log {
		log[i] = shownEvent(log[i])
	}
	assert.Equal(t, log, r.facts)
	assert.Equal(t, canonical(t, c.Record(id)), canonical(t, r.record))
}

func TestAnotherEngineResumesWhatOnePaused(t *testing.T) {
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		first := a.Begun()
		ra := listening(t, first)
		pass(1500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		pass(time.Hour)
		second := b.Opened(first.ID())
		rb := listening(t, second)
		require.NoError(t, second.Resume(t.Context()))
		pass(500 * time.Millisecond)
		owner := c.Owner(first.ID())
		assert.NotEmpty(t, owner)
		assert.Equal(t, second.State(), first.State(), "who listens sees the debate go on")
		ra.sawAll(t, c, first.ID())
		rb.sawAll(t, c, first.ID())
		assert.Equal(t, 11, c.Calls(), "ten calls and the one that was broken off")
		assert.Empty(t, c.Owner(first.ID()))
		c.Finished(first.ID())
	})
}

// A debate goes from one engine to the other and back.
func TestADebateIsPassedToAndFro(t *testing.T) {
	stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		first := join().Begun()
		sessions := []*debate.Session{first}
		var readers []*reader
		pass(300 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context(), debate.Drain))
		pass(time.Second)
		for range 2 {
			sessions = append(sessions, join().Opened(first.ID()))
		}
		for _, s := range sessions {
			readers = append(readers, listening(t, s))
		}
		for i := range 4 {
			s := sessions[(i+1)%len(sessions)]
			require.NoError(t, s.Resume(t.Context()))
			pass(300 * time.Millisecond)
			require.NoError(t, s.Pause(t.Context(), debate.Drain))
			pass(5 * time.Second)
			assert.Empty(t, c.Owner(first.ID()))
		}
		require.NoError(t, first.Resume(t.Context()))
		for _, r := range readers {
			r.sawAll(t, c, first.ID())
		}
		assert.Equal(t, 10, c.Calls())
		c.Finished(first.ID())
	})
}

// simultaneous is a config of three rounds in which both speak at once.
func simultaneous() debate.Config {
	config := twoDebaters()
	config.Mode = debate.Simultaneous
	return config
}

func TestWhoListensTakesOverFromWhoIsGone(t *testing.T) {
	stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		first := a.Begun()
		pass(500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		pass(time.Second)
		second := b.Opened(first.ID())
		require.NoError(t, first.Resume(t.Context()))
		pass(500 * time.Millisecond)
		a.Die()
		gone := time.Now()
		_, err := second.Wait(t.Context())
		require.NoError(t, err)
		assert.Less(t, time.Since(gone), 2*leaseTime+8*time.Second, "the lease, a look at it, and what was left to say")
		c.Finished(first.ID())
	})
}

// What was in flight when its holder went away in a pause is settled by who listens.
func TestWhatADeadHolderHasLeftInAPauseIsSettled(t *testing.T) {
	for name, late := range map[string]bool{"by itself": true, "by a control": false} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Saved = c.Leased
				a, b := join(), join()
				first := a.Begun()
				pass(500 * time.Millisecond)
				require.NoError(t, first.Pause(t.Context()))
				pass(500 * time.Millisecond)
				second := b.Opened(first.ID())
				pass(500 * time.Millisecond)
				require.NoError(t, first.Resume(t.Context()))
				pass(500 * time.Millisecond)
				require.NoError(t, first.Pause(t.Context(), debate.Drain))
				a.Die()
				pass(leaseTime) // it has run out just now
				calls := c.Calls()
				if late {
					pass(leaseTime)
					assert.Zero(t, c.Record(first.ID()).InFlight())
					assert.Empty(t, c.Owner(first.ID()))
				}
				assert.Equal(t, calls, c.Calls(), "nothing is asked in a pause")
				require.NoError(t, second.Resume(t.Context()))
				pass(500 * time.Millisecond)
				assert.NotEmpty(t, c.Owner(first.ID()), "who goes on has the lease")
				assert.Equal(t, calls+2, c.Calls(), "each of the two is asked again once")
				_, err := second.Wait(t.Context())
				require.NoError(t, err)
				c.Finished(first.ID())
			})
		})
	}
}

func TestADebateIsDeletedUnderItsSessions(t *testing.T) {
	t.Run("at rest", func(t *testing.T) {
		stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
			first := join().Begun()
			pass(500 * time.Millisecond)
			require.NoError(t, first.Pause(t.Context()))
			pass(time.Second)
			second := join().Opened(first.ID())
			pass(time.Second)
			require.NoError(t, c.Store.Delete(t.Context(), first.ID()))
			deleted := time.Now()
			for _, s := range []*debate.Session{first, second} {
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrNotFound)
				assert.LessOrEqual(t, time.Since(deleted), leaseTime)
				require.ErrorIs(t, s.Resume(t.Context()), debate.ErrNotFound)
			}
			nothing(c, first.ID())
		})
	})
	t.Run("at work", func(t *testing.T) {
		for name, after := range map[string]time.Duration{"noticed at the next result": 0, "noticed at the next look": time.Hour} {
			t.Run(name, func(t *testing.T) {
				stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Slow("Ada", after)
					first := join().Begun()
					pass(500 * time.Millisecond)
					require.NoError(t, c.Store.Delete(t.Context(), first.ID()))
					deleted := time.Now()
					_, err := first.Wait(t.Context())
					require.ErrorIs(t, err, debate.ErrNotFound)
					assert.LessOrEqual(t, time.Since(deleted), beatTime)
					pass(time.Second)
					nothing(c, first.ID())
				})
			})
		}
	})
}

// nothing checks that the store knows nothing of a debate: its id is free.
func nothing(c *stage.Company, id string) {
	c.T.Helper()
	_, err := c.Member().Record(c.T.Context(), id)
	require.ErrorIs(c.T, err, debate.ErrNotFound)
	require.NoError(c.T, c.Store.Lease(c.T.Context(), id, "anybody", time.Second))
}

func TestCloseAndShutdownWhileListening(t *testing.T) {
	for name, end := range map[string]func(context.Context, *stage.Member, *debate.Session) error{
		"Close":    func(_ context.Context, _ *stage.Member, s *debate.Session) error { return s.Close() },
		"Shutdown": func(ctx context.Context, m *stage.Member, _ *debate.Session) error { return m.Shutdown(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				a := join()
				s := a.Begun()
				pass(500 * time.Millisecond)
				require.NoError(t, s.Pause(t.Context()))
				pass(time.Minute)
				began := time.Now()
				require.NoError(t, end(t.Context(), a, s))
				assert.Zero(t, time.Since(began))
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, flow.ErrClosed)
				require.ErrorIs(t, s.Resume(t.Context()), flow.ErrClosed)
				again := join().Opened(s.ID())
				require.NoError(t, again.Resume(t.Context()))
				_, err = again.Wait(t.Context())
				require.NoError(t, err)
				c.Finished(s.ID())
			})
		})
	}
}

// Of a hundred debates some speak, some rest and some drain. Another process goes on with all of them.
func TestAfterShutdownAnotherEngineGoesOn(t *testing.T) {
	const debates = 100
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		var ids []string
		for i := range debates {
			c.Config.ID = fmt.Sprintf("many-%d", i)
			s := a.Begun()
			ids = append(ids, s.ID())
			pass(10 * time.Millisecond)
			switch i % 4 {
			case 0:
				require.NoError(t, s.Pause(t.Context()))
			case 1:
				require.NoError(t, s.Pause(t.Context(), debate.Drain))
			default:
			}
		}
		began := time.Now()
		require.NoError(t, a.Shutdown(t.Context()))
		assert.Zero(t, time.Since(began))
		_, err := a.Open(t.Context(), ids[0])
		require.ErrorIs(t, err, flow.ErrClosed, "a shutdown is final")
		c.Config.ID = "another"
		_, err = a.Start(t.Context(), c.Config)
		require.ErrorIs(t, err, flow.ErrClosed)
		_, err = a.Record(t.Context(), ids[0])
		require.NoError(t, err, "what is stored can still be read")
		for _, id := range ids {
			assert.Empty(t, c.Owner(id))
		}

		sessions := make([]*debate.Session, debates)
		for i, id := range ids {
			sessions[i] = b.Opened(id)
			if sessions[i].State() == flow.StatePaused {
				require.NoError(t, sessions[i].Resume(t.Context()))
			}
		}
		assert.Less(t, time.Since(began), time.Second)
		for i, id := range ids {
			_, err := sessions[i].Wait(t.Context())
			require.NoError(t, err)
			c.Config.ID = id
			c.Finished(id)
		}
	})
}

// An append seems to have failed, and has not. What it has begun is the session's own.
func TestAnAppendThatSucceedsAfterAll(t *testing.T) {
	stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		for nth := range 12 {
			m, appends := join(), 0
			m.Goes(func(_ context.Context, op string, do func() error) error {
				if err := do(); err != nil || op != "append" {
					return err
				}
				if appends++; appends == nth+1 {
					return stage.ErrBroken
				}
				return nil
			})
			before := c.Calls()
			s := m.Begun()
			_, err := s.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 10, c.Calls()-before)
			c.Finished(s.ID())
			c.Config.ID = ""
		}
	})
}

// A store that fails for less than a lease costs nothing but time; one that fails for longer, the session.
func TestAStoreThatFailsForAWhile(t *testing.T) {
	for _, op := range []string{"append", "lease", "read"} {
		for name, fails := range map[string]time.Duration{"shortly": leaseTime - 2*time.Second, "for long": 3 * leaseTime} {
			t.Run(op+" "+name, func(t *testing.T) {
				stage.InCompany(t, simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Slow("Ben", leaseTime)
					m := join()
					s := m.Begun()
					pass(500 * time.Millisecond)
					if op == "read" { // which happens where somebody else has appended
						require.NoError(t, join().Control(t.Context(), s.ID(), flow.Pause{Drain: true}))
					}
					until := time.Now().Add(fails)
					m.Goes(func(_ context.Context, which string, do func() error) error {
						if which == op && time.Now().Before(until) {
							return stage.ErrBroken
						}
						return do()
					})
					pass(fails)
					if op == "read" {
						pass(leaseTime)
						_ = join().Control(t.Context(), s.ID(), flow.Resume{})
					}
					_, err := s.Wait(t.Context())
					if name == "for long" {
						require.ErrorIs(t, err, stage.ErrBroken)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, 10, c.Calls())
					c.Finished(s.ID())
				})
			})
		}
	}
}

// Whoever closes a session does not wait for a store that has failed.
func TestPatienceEndsAtOnce(t *testing.T) {
	for name, end := range map[string]func(context.Context, *stage.Member, *debate.Session) error{
		"Close":    func(_ context.Context, _ *stage.Member, s *debate.Session) error { return s.Close() },
		"Shutdown": func(ctx context.Context, m *stage.Member, _ *debate.Session) error { return m.Shutdown(ctx) },
	} {
		for _, op := range []string{"append", "lease", "read", "release", "all"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					working, resting := join(), join()
					for _, m := range []*stage.Member{working, resting} {
						s := m.Begun()
						pass(500 * time.Millisecond)
						if m == resting {
							require.NoError(t, s.Pause(t.Context()))
							pass(time.Second)
						}
						m.Goes(func(_ context.Context, which string, do func() error) error {
							if op == which || op == "all" {
								return stage.ErrBroken
							}
							return do()
						})
						pass(6500 * time.Millisecond) // beats and results meet the failure
						began := time.Now()
						require.NoError(t, end(t.Context(), m, s))
						assert.Zero(t, time.Since(began))
						c.Config.ID = ""
					}
				})
			})
		}
	}
}

// A store that hangs is left as soon as a context says so, and Close waits for it no longer than a lease.
func TestAStoreThatHangs(t *testing.T) {
	for _, op := range []string{"append", "lease", "read", "release"} {
		for name, deaf := range map[string]bool{"until its context ends": false, "for good": true} {
			t.Run(op+" "+name, func(t *testing.T) {
				stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					for _, resting := range []bool{false, true} {
						m := join()
						s := m.Begun()
						pass(500 * time.Millisecond)
						if resting {
							require.NoError(t, s.Pause(t.Context()))
							pass(time.Second)
						}
						free := make(chan struct{})
						m.Goes(func(ctx context.Context, which string, do func() error) error {
							if op != which {
								return do()
							}
							if deaf {
								ctx = context.Background()
							}
							select {
							case <-ctx.Done():
								return ctx.Err()
							case <-free:
								return stage.ErrBroken
							}
						})
						pass(leaseTime / 2)
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						began := time.Now()
						err := m.Shutdown(ctx)
						assert.LessOrEqual(t, time.Since(began), time.Second, "resting %v", resting)
						if err != nil {
							require.ErrorIs(t, err, context.DeadlineExceeded)
						}
						if !deaf {
							began = time.Now()
							require.NoError(t, s.Close())
							assert.LessOrEqual(t, time.Since(began), leaseTime)
						}
						close(free)
						require.NoError(t, s.Close())
						cancel()
						c.Config.ID = ""
					}
				})
			})
		}
	}
}

// A store that hangs is a store that fails: after a lease the session is dropped.
func TestASessionIsDroppedByAStoreThatHangs(t *testing.T) {
	for _, op := range []string{"append", "lease", "read"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := stage.NewCompany(t, twoDebaters())
				c.Slow("Ada", 2*leaseTime) // until then nothing is saved, and the lease runs out
				m := c.Member()
				s := m.Begun()
				pass(500 * time.Millisecond)
				if op == "read" { // which happens where somebody else has appended
					require.NoError(t, c.Member().Control(t.Context(), s.ID(), flow.Pause{Drain: true}))
				}
				m.Goes(func(ctx context.Context, which string, do func() error) error {
					if which != op {
						return do()
					}
					<-ctx.Done()
					return ctx.Err()
				})
				pass(5 * leaseTime)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := s.Stop(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NoError(t, ctx.Err(), "the session is still there, and stuck")
				again, err := c.Member().Open(t.Context(), s.ID())
				require.NoError(t, err, "another can go on")
				require.NoError(t, again.Close())
			})
		})
	}
}

// Three workers look for debates with which nobody goes on. Each debate is finished once.
func TestWorkers(t *testing.T) {
	const debates, workers = 30, 3
	stage.InCompany(t, twoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		host := join()
		var ids []string
		for i := range debates {
			c.Config.ID = fmt.Sprintf("work-%d", i)
			s := host.Begun()
			ids = append(ids, s.ID())
			pass(20 * time.Millisecond)
			if i%5 == 0 {
				require.NoError(t, s.Pause(t.Context()))
				pass(20 * time.Millisecond)
			}
		}
		require.NoError(t, host.Shutdown(t.Context()))
		for i := 0; i < debates; i += 5 { // another process has no session of it, and no lease
			require.NoError(t, join().Control(t.Context(), ids[i], flow.Resume{}))
		}
		find := debate.Filter{Working: true, Idle: true, Limit: 2}
		opened := make([][]string, workers)
		var group sync.WaitGroup
		for w := range workers {
			m := join()
			group.Go(func() {
				for range 1000 {
					var found []string
					for info, err := range m.List(t.Context(), find) {
						require.NoError(t, err)
						found = append(found, info.ID)
					}
					if len(found) == 0 {
						return
					}
					for _, id := range found {
						s, err := m.Open(t.Context(), id)
						if errors.Is(err, debate.ErrLeased) {
							continue // somebody was faster
						}
						require.NoError(t, err)
						if s.State() == flow.StateCompleted {
							continue
						}
						opened[w] = append(opened[w], id)
						_, err = s.Wait(t.Context())
						assert.NoError(t, err)
					}
				}
			})
		}
		group.Wait()
		all := slices.Concat(opened...)
		slices.Sort(ids)
		slices.Sort(all)
		assert.Equal(t, ids, all, "each was opened by one")
		for w := range workers {
			assert.NotEmpty(t, opened[w])
		}
		for _, id := range ids {
			c.Config.ID = id
			c.Finished(id)
		}
	})
}
