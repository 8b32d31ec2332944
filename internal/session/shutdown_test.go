package session_test

import (
	"context"
	"errors"
	"fmt"
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
)

// The clocks of two engines are behind that of one which is gone, so that what both append has the time of
// its last event. The first is so slow that the second takes over, and then they try the same: what stands
// in the log is not the second one's, for the first makes its calls.
func TestTwoEnginesInDoubtWhoseClocksAreBehind(t *testing.T) {
	for name, doubt := range map[string]bool{"sure": false, "in doubt": true} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				gone, a, b := join(), join(), join()
				id := gone.Begun().ID()
				stage.Pass(500 * time.Millisecond)
				gone.Die()
				log := c.Log(id)
				for i := range log {
					log[i].At = log[i].At.Add(time.Hour)
				}
				require.NoError(t, c.Store.Delete(t.Context(), id))
				require.NoError(t, c.Store.Append(t.Context(), id, 0, "", log))
				late := func(m *stage.Member, by time.Duration, fails bool) {
					appends := 0
					m.Goes(func(_ context.Context, op string, do func() error) error {
						if op != "append" {
							return do()
						}
						if appends++; appends == 1 {
							stage.Pass(by)
							if fails { // before it has taken effect
								return stage.ErrBroken
							}
						}
						return do()
					})
				}
				late(a, stage.LeaseTime+time.Second, false)
				late(b, time.Second, doubt)
				var group sync.WaitGroup
				group.Go(func() { a.Opened(id) })
				stage.Pass(stage.LeaseTime + 500*time.Millisecond)
				second := b.Opened(id)
				group.Wait()
				stage.Ended(t, second)
				c.Finished(id)
			})
		})
	}
}

// A debate is canceled by an engine in which it is not open, and is opened there meanwhile: that session is
// the host's to close.
func TestAControlClosesNobodysSession(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
		holder, m := join(), join()
		first := holder.Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(500 * time.Millisecond)
		var second *debate.Session
		once := sync.OnceFunc(func() { // between the reading of the log and the append
			second = m.Opened(first.ID())
			assert.NoError(t, first.Resume(t.Context()))
		})
		m.Goes(func(_ context.Context, op string, do func() error) error {
			if op == "append" {
				once()
			}
			return do()
		})
		require.NoError(t, m.Control(t.Context(), first.ID(), flow.Cancel{}))
		for _, s := range []*debate.Session{first, second} {
			record := stage.Ended(t, s)
			assert.Equal(t, flow.StateCanceled, record.State)
		}
	})
}

// An engine is shut down while it starts or opens debates, of a store that is slow. When the shutdown is over
// another engine can go on.
func TestShutdownWhileDebatesAreOpened(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"lease", "append", "read", "release"} {
		for name, do := range map[string]func(context.Context, *stage.Member, string) (*debate.Session, error){
			"start": func(ctx context.Context, m *stage.Member, _ string) (*debate.Session, error) {
				return m.Start(ctx, m.Company.Config)
			},
			"open": func(ctx context.Context, m *stage.Member, id string) (*debate.Session, error) { return m.Open(ctx, id) },
		} {
			t.Run(name+", slow "+op, func(t *testing.T) {
				stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Config.ID = "opened"
					if name == "open" {
						s := join().Begun()
						stage.Pass(500 * time.Millisecond)
						require.NoError(t, s.Close())
					}
					m := join()
					m.Goes(func(_ context.Context, which string, do func() error) error {
						if which == op {
							stage.Pass(time.Second)
						}
						if which == "lease" {
							stage.Pass(100 * time.Millisecond)
						}
						return do()
					})
					var group sync.WaitGroup
					group.Go(func() {
						_, err := do(t.Context(), m, c.Config.ID)
						assert.ErrorIs(t, err, flow.ErrClosed)
					})
					stage.Pass(50 * time.Millisecond)
					require.NoError(t, stage.Abort(m))
					assert.Empty(t, c.Owner(c.Config.ID))
					again, err := join().Start(t.Context(), c.Config)
					assert.NoError(t, err)
					group.Wait()
					stage.Pass(2 * time.Second)
					if err == nil {
						stage.Ended(t, again)
						c.Finished(c.Config.ID)
					}
				})
			})
		}
	}
}

func TestCloseAndShutdownWhileListening(t *testing.T) {
	for name, end := range map[string]func(context.Context, *stage.Member, *debate.Session) error{
		"Close":    func(_ context.Context, _ *stage.Member, s *debate.Session) error { return s.Close() },
		"Shutdown": func(_ context.Context, m *stage.Member, _ *debate.Session) error { return stage.Abort(m) },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				a := join()
				s := a.Begun()
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, s.Pause(t.Context()))
				stage.Pass(time.Minute)
				began := time.Now()
				require.NoError(t, end(t.Context(), a, s))
				assert.Zero(t, time.Since(began))
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, flow.ErrClosed)
				require.ErrorIs(t, s.Resume(t.Context()), flow.ErrClosed)
				again := join().Opened(s.ID())
				require.NoError(t, again.Resume(t.Context()))
				stage.Ended(t, again)
				c.Finished(s.ID())
			})
		})
	}
}

// Of a hundred debates some speak, some rest and some drain. Another process goes on with all of them.
func TestAfterShutdownAnotherEngineGoesOn(t *testing.T) {
	t.Parallel()
	const debates = 100
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		var ids []string
		for i := range debates {
			c.Config.ID = fmt.Sprintf("many-%d", i)
			s := a.Begun()
			ids = append(ids, s.ID())
			stage.Pass(10 * time.Millisecond)
			switch i % 4 {
			case 0:
				require.NoError(t, s.Pause(t.Context()))
			case 1:
				require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
			default:
			}
		}
		began := time.Now()
		require.NoError(t, stage.Abort(a))
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
			stage.Ended(t, sessions[i])
			c.Config.ID = id
			c.Finished(id)
		}
	})
}

// Whatever needs an engine that runs says that it is shut down. So do the sessions that the shutdown has closed. One that was closed
// before says that it is closed. What is stored can be read and controlled.
func TestAnEngineThatIsShutDownSaysSo(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, m *stage.Member) error{
		"aborting": func(_ context.Context, m *stage.Member) error { return stage.Abort(m) },
		"draining": func(ctx context.Context, m *stage.Member) error { return m.Shutdown(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				m := join()
				m.Fetch = func(context.Context, string) (debate.Fetched, error) {
					return debate.Fetched{}, errors.New("an engine that is shut down fetches nothing")
				}
				s := m.Begun()
				c.Config.ID = "before"
				before := m.Begun()
				c.Config.ID = "made"
				made, err := m.New(c.Config)
				require.NoError(t, err)
				require.NoError(t, made.Validate(t.Context()))
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, before.Close())
				require.NoError(t, end(t.Context(), m))
				c.Config.ID = "another"
				c.Config.Attachments = []flow.File{{Name: "figures.txt", URL: "https://example.org/figures.txt"}}
				last := func(events iter.Seq2[flow.Event, error]) (last error) {
					for _, err := range events {
						last = err
					}
					return last
				}
				for name, do := range map[string]func(ctx context.Context) error{
					"Submit":  func(ctx context.Context) error { _, err := m.Submit(ctx, c.Config); return err },
					"Start":   func(ctx context.Context) error { _, err := m.Start(ctx, c.Config); return err },
					"Run":     func(ctx context.Context) error { return last(m.Run(ctx, c.Config)) },
					"Play":    func(ctx context.Context) error { _, err := m.Play(ctx, c.Config); return err },
					"New":     func(context.Context) error { _, err := m.New(c.Config); return err },
					"Open":    func(ctx context.Context) error { _, err := m.Open(ctx, s.ID()); return err },
					"Advance": func(ctx context.Context) error { _, err := m.Advance(ctx, s.ID(), "runtime", nil); return err },

					"Session.Start":    made.Start,
					"Session.Wait":     func(ctx context.Context) error { _, err := s.Wait(ctx); return err },
					"Session.WaitIdle": func(ctx context.Context) error { _, err := s.WaitIdle(ctx); return err },
					"Session.Resume":   func(ctx context.Context) error { return s.Resume(ctx) },
					"Session.Stop":     s.Stop,
					"Session.Answer":   func(ctx context.Context) error { return s.Answer(ctx, flow.Answer{Inquiry: "question", Text: "Yes."}) },
					"Session.Events":   func(ctx context.Context) error { return last(s.Events(ctx, 0)) },
				} {
					err := do(t.Context())
					require.ErrorIs(t, err, flow.ErrClosed, name)
					require.EqualError(t, err, "the engine is shut down: use another one", name)
				}
				_, err = before.Wait(t.Context())
				require.EqualError(t, err, "the session is closed: open the conversation again")
				stage.SessionRecord(t, s)
				require.NoError(t, m.Control(t.Context(), s.ID(), flow.Pause{}))
			})
		})
	}
}

func TestShutdownLetsGoOfEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		var sessions []*debate.Session
		for range 20 {
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			sessions = append(sessions, s)
		}
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, stage.Abort(engine))
		for _, s := range sessions {
			_, err := s.Wait(t.Context())
			require.ErrorIs(t, err, flow.ErrClosed)
		}
	})
}
