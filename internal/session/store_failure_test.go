package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// An append seems to have failed, and has not. What it has begun is the session's own.
func TestAnAppendThatSucceedsAfterAll(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
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
			stage.Ended(t, s)
			assert.Equal(t, 10, c.Calls()-before)
			c.Finished(s.ID())
			c.Config.ID = ""
		}
	})
}

// A store that fails for less than a lease costs nothing but time; one that fails for longer, the session.
func TestAStoreThatFailsForAWhile(t *testing.T) {
	for _, op := range []string{"append", "lease", "read"} {
		for name, fails := range map[string]time.Duration{"shortly": stage.LeaseTime - 2*time.Second, "for long": 3 * stage.LeaseTime} {
			t.Run(op+" "+name, func(t *testing.T) {
				stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Slow("Ben", stage.LeaseTime)
					m := join()
					s := m.Begun()
					stage.Pass(500 * time.Millisecond)
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
					stage.Pass(fails)
					if op == "read" {
						stage.Pass(stage.LeaseTime)
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
		"Shutdown": func(_ context.Context, m *stage.Member, _ *debate.Session) error { return stage.Abort(m) },
	} {
		for _, op := range []string{"append", "lease", "read", "release", "all"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					working, resting := join(), join()
					for _, m := range []*stage.Member{working, resting} {
						s := m.Begun()
						stage.Pass(500 * time.Millisecond)
						if m == resting {
							require.NoError(t, s.Pause(t.Context()))
							stage.Pass(time.Second)
						}
						m.Goes(func(_ context.Context, which string, do func() error) error {
							if op == which || op == "all" {
								return stage.ErrBroken
							}
							return do()
						})
						stage.Pass(6500 * time.Millisecond) // beats and results meet the failure
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

// A store that hangs is left soon after a context says so, and Close waits for it no longer than a lease.
func TestAStoreThatHangs(t *testing.T) {
	for _, op := range []string{"append", "lease", "read", "release"} {
		for name, deaf := range map[string]bool{"until its context ends": false, "for good": true} {
			t.Run(op+" "+name, func(t *testing.T) {
				stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					for _, resting := range []bool{false, true} {
						m := join()
						m.Grace = time.Second
						s := m.Begun()
						stage.Pass(500 * time.Millisecond)
						if resting {
							require.NoError(t, s.Pause(t.Context()))
							stage.Pass(time.Second)
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
						stage.Pass(stage.LeaseTime / 2)
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						began := time.Now()
						err := m.Shutdown(ctx)
						assert.LessOrEqual(t, time.Since(began), time.Second+2*m.Grace, "resting %v", resting)
						if err != nil {
							require.ErrorIs(t, err, context.DeadlineExceeded)
						}
						if !deaf {
							began = time.Now()
							require.NoError(t, s.Close())
							assert.LessOrEqual(t, time.Since(began), stage.LeaseTime)
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
		t.Run(op, stage.Bubbled(func(t *testing.T) {
			c := stage.NewCompany(t, stage.TwoDebaters())
			c.Slow("Ada", 2*stage.LeaseTime) // until then nothing is saved, and the lease runs out
			m := c.Member()
			s := m.Begun()
			stage.Pass(500 * time.Millisecond)
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
			stage.Pass(5 * stage.LeaseTime)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := s.Stop(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NoError(t, ctx.Err(), "the session is still there, and stuck")
			again, err := c.Member().Open(t.Context(), s.ID())
			require.NoError(t, err, "another can go on")
			require.NoError(t, again.Close())
		}))
	}
}
