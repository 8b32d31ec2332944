package durable_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// counting counts what is asked of a store.
type counting struct {
	store.Store

	calls, events, leases atomic.Int64
}

func (c *counting) Describe(ctx context.Context, id string) (store.Info, error) {
	c.calls.Add(1)
	return c.Store.(store.Describer).Describe(ctx, id)
}

func (c *counting) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	c.calls.Add(1)
	c.leases.Add(1)
	return c.Store.Lease(ctx, id, owner, d)
}

func (c *counting) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	c.calls.Add(1)
	return func(yield func(flow.Event, error) bool) {
		for event, err := range c.Store.Read(ctx, id, after) {
			c.events.Add(1)
			if !yield(event, err) {
				return
			}
		}
	}
}

// Whoever finds a debate leased elsewhere has read nothing of its log, however long that is. Whoever may have it asks for the
// lease once. A debate that is over, or that there is not, is not leased.
func TestALeasedDebateIsNotRead(t *testing.T) {
	t.Parallel()
	for _, kind := range append(kinds(), "memory") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var kept store.Store = &store.Memory{}
			if kind != "memory" {
				kept = opened(t, newPlace(t, kind))
			}
			conclude(t, kept, "long", 30)
			log := logOf(t, kept, "long")
			end := len(log) - 1
			for end > 0 && !working(log[:end]) {
				end--
			}
			require.NoError(t, kept.Append(t.Context(), "cut", 0, "w", log[:end]))
			require.NoError(t, kept.Lease(t.Context(), "cut", "elsewhere", time.Hour))
			c := &counting{Store: kept}
			engine := engineOfW1(c)
			engine.Lease = time.Hour // it is not renewed
			for what, try := range map[string]func() error{
				"open": func() error { _, err := engine.Open(t.Context(), "cut"); return err },
				"advance": func() error {
					_, err := engine.Advance(t.Context(), "cut", "runtime", flow.Tick{})
					return err
				},
			} {
				c.calls.Store(0)
				require.ErrorIs(t, try(), debate.ErrLeased)
				assert.LessOrEqual(t, c.calls.Load(), int64(2), "%s: a description, and in Advance a lease", what)
				assert.Zero(t, c.events.Load(), what)
			}
			c.leases.Store(0)
			stage.Reopen(t, engine, "long")
			_, err := engine.Open(t.Context(), "none")
			require.ErrorIs(t, err, debate.ErrNotFound)
			_, err = engine.Advance(t.Context(), "none", "runtime", flow.Tick{})
			require.ErrorIs(t, err, debate.ErrNotFound)
			assert.Zero(t, c.leases.Load())
			require.NoError(t, kept.Release(t.Context(), "cut", "elsewhere"))
			c.leases.Store(0)
			session := stage.Reopen(t, engine, "cut")
			stage.Ended(t, session)
			assert.EqualValues(t, 1, c.leases.Load())
			figuref("%s: a debate of %d events that is leased elsewhere: at most 2 questions, 0 events read", kind, end)
		})
	}
}

// working reports whether a log ends in a state in which something happens by itself, and with a whole commit: a transition.
func working(log []flow.Event) bool {
	change, ok := log[len(log)-1].Body.(*flow.Transition)
	return ok && !change.To.Idle()
}
