package session_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Of the same control from many at once one is taken, and the others are refused.
func TestOneOfManyControlsIsTaken(t *testing.T) {
	const many = 4
	for name, test := range map[string]struct {
		signal func(*debate.Record) flow.Signal
		on     debate.Trigger
		before func(*testing.T, *stage.Company, *debate.Session)
	}{
		"pause": {
			func(*debate.Record) flow.Signal { return flow.Pause{} },
			flow.TriggerPause,
			func(*testing.T, *stage.Company, *debate.Session) {},
		},
		"resume": {
			func(*debate.Record) flow.Signal { return flow.Resume{} },
			flow.TriggerResume,
			func(t *testing.T, _ *stage.Company, s *debate.Session) { require.NoError(t, s.Pause(t.Context())) },
		},
		"cancel": {
			func(*debate.Record) flow.Signal { return flow.Cancel{} },
			flow.TriggerCancel,
			func(*testing.T, *stage.Company, *debate.Session) {},
		},
		"answer": {
			func(r *debate.Record) flow.Signal {
				return flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}
			},
			flow.TriggerAnswered,
			func(_ *testing.T, c *stage.Company, _ *debate.Session) {
				mend := c.Failing(stage.BensOpening, &provider.Error{Kind: provider.KindAuthentication, Status: 401})
				stage.Pass(4 * time.Second)
				mend()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				dice := rand.New(rand.NewPCG(uint64(len(name)), 7))
				for range max(2, 12/longform.Fewer()) {
					c.Config.ID = ""
					m := join()
					s := m.Begun()
					stage.Pass(100 * time.Millisecond)
					test.before(t, c, s)
					stage.Pass(300 * time.Millisecond)
					signal := test.signal(c.Record(s.ID()))
					do := []func() error{func() error { return m.Control(t.Context(), s.ID(), signal) }}
					for range many - 1 {
						other := join()
						if dice.IntN(2) == 0 && s.State().Idle() {
							other.Opened(s.ID())
						}
						do = append(do, func() error { return other.Control(t.Context(), s.ID(), signal) })
					}
					dice.Shuffle(len(do), func(i, k int) { do[i], do[k] = do[k], do[i] })
					errs := make([]error, many)
					var group sync.WaitGroup
					for i := range do {
						group.Go(func() { errs[i] = do[i]() })
					}
					group.Wait()
					taken := 0
					for _, err := range errs {
						if err == nil {
							taken++
							continue
						}
						stage.RequireKind(t, err, provider.KindState)
					}
					assert.Equal(t, 1, taken)
					stage.Pass(beatTime + time.Second)
					times := 0
					for _, e := range c.Log(s.ID()) {
						if body.As[flow.Transition](e) != nil && body.As[flow.Transition](e).On == test.on {
							times++
						}
					}
					assert.Equal(t, 1, times)
					if test.on == flow.TriggerCancel {
						assert.Zero(t, c.Record(s.ID()).InFlight())
						continue
					}
					if s.State() == flow.StatePaused {
						require.NoError(t, s.Resume(t.Context()))
					}
					stage.Ended(t, s)
					c.Finished(s.ID())
				}
			})
		})
	}
}

// The log grows under a control again and again.
func TestAControlThatIsAlwaysTooLate(t *testing.T) {
	for name, test := range map[string]struct {
		conflicts int
		err       error
	}{"at last it is taken": {40, nil}, "it is given up": {1 << 20, debate.ErrConflict}} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			c := stage.NewCompany(t, stage.TwoDebaters())
			s, other := c.Member().Begun(), c.Member()
			stage.Pass(500 * time.Millisecond)
			left := test.conflicts
			other.Goes(func(_ context.Context, op string, do func() error) error {
				if op == "append" {
					if left--; left >= 0 {
						return debate.ErrConflict
					}
				}
				return do()
			})
			err := other.Control(t.Context(), s.ID(), flow.Pause{})
			require.ErrorIs(t, err, test.err)
			if test.err != nil {
				stage.RequireKind(t, err, provider.KindConflict)
			}
		}))
	}
}
