package session_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A process is stopped right after it has recorded that a call begins, for longer than its lease. When it goes on, it
// looks at its lease before it makes the call.
func TestACallStartsOnlyUnderALease(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(t *testing.T, other *stage.Member, id string)
		first     int // how often the first attempt is made
		closed    bool
	}{
		"nobody came": {func(*testing.T, *stage.Member, string) {}, 1, false},
		"another process holds the debate": {func(_ *testing.T, other *stage.Member, id string) {
			other.Opened(id)
		}, 0, true},
		"another process came and went": {func(t *testing.T, other *stage.Member, id string) {
			s := other.Opened(id)
			stage.Pass(1500 * time.Millisecond) // Ada has spoken, Ben speaks
			require.NoError(t, s.Close())
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Config.ID = "stopped"
				var mu sync.Mutex
				times := make(map[string]int)
				c.Asks = func(id string) {
					mu.Lock()
					defer mu.Unlock()
					times[id]++
				}
				a, b := join(), join()
				stop := sync.OnceFunc(func() { stage.Pass(stage.LeaseTime + 5*time.Second) })
				a.Goes(func(_ context.Context, op string, do func() error) error {
					err := do()
					if op == "append" {
						stop()
					}
					return err
				})
				var group sync.WaitGroup
				var first *debate.Session
				group.Go(func() { first = a.Begun() })
				stage.Pass(stage.LeaseTime + time.Second)
				test.meanwhile(t, b, "stopped")
				group.Wait()
				stage.Pass(100 * time.Millisecond)
				mu.Lock()
				assert.Equal(t, test.first, times["stopped/r1.opening.Ada/1"], "%v", times)
				mu.Unlock()
				_, err := first.Wait(t.Context())
				if test.closed {
					require.ErrorIs(t, err, debate.ErrLeased)
					_, err = b.Opened("stopped").Wait(t.Context())
				}
				require.NoError(t, err)
				c.Finished("stopped")
			})
		})
	}
}

// A call waits for a slot, and another process takes the debate over meanwhile.
func TestACallThatQueuesStartsOnlyUnderALease(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		a.MaxCalls = 1
		a.Providers["busy"] = stage.ProviderFunc(func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
			stage.Pass(stage.LeaseTime + 5*time.Second)
			return nil, &provider.Error{Kind: provider.KindRefusal}
		})
		busy := c.Config
		busy.ID, busy.Participants = "busy", slices.Clone(busy.Participants)
		for i := range busy.Participants {
			busy.Participants[i].Model = "busy/talker"
		}
		has, err := a.Start(t.Context(), busy) // its first call has the slot
		require.NoError(t, err)
		defer has.Close()
		stage.Pass(100 * time.Millisecond)
		first := a.Begun()
		a.Goes(func(_ context.Context, op string, do func() error) error {
			if op == "lease" {
				return stage.ErrBroken
			}
			return do()
		})
		stage.Pass(stage.LeaseTime + time.Second)
		second := b.Opened(first.ID())
		a.Goes(func(_ context.Context, _ string, do func() error) error { return do() })
		_, err = first.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrLeased)
		stage.Ended(t, second)
		assert.Equal(t, 10, c.Calls())
		c.Finished(first.ID())
	})
}
