package session_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// Sessions and readers of a conversation in which nothing happens ask a store that can be watched for nothing. They learn of what
// happens next all the same.
func TestIdleReadersAskNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stage.NewCompany(t, stage.TwoDebaters())
		holder, reader := c.Member(), c.Member()
		first := holder.Begun()
		var asked atomic.Int64
		for _, m := range []*stage.Member{holder, reader} {
			m.Goes(func(_ context.Context, _ string, do func() error) error {
				asked.Add(1)
				return do()
			})
		}
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(time.Second) // the lease is released
		second := reader.Opened(first.ID())
		var reading sync.WaitGroup
		var heard atomic.Int64
		for range 5 {
			other := c.Member()
			other.Goes(func(_ context.Context, _ string, do func() error) error {
				asked.Add(1)
				return do()
			})
			reading.Go(func() {
				for event, err := range other.Events(t.Context(), first.ID(), 0) {
					assert.NoError(t, err)
					if event.Kind() != flow.EventChunk {
						heard.Add(1)
					}
				}
			})
		}
		stage.Pass(time.Minute)
		before := asked.Load()
		stage.Pass(24 * time.Hour)
		assert.Equal(t, before, asked.Load())
		require.NoError(t, second.Resume(t.Context()))
		stage.Ended(t, first)
		reading.Wait()
		assert.EqualValues(t, 5*len(c.Log(first.ID())), heard.Load())
	})
}

// Who reads a conversation that is deleted is told so at once, and so is a session that has it open.
func TestReadersLearnOfADeletion(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		first := join().Begun()
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(time.Second) // the lease is released
		id, reader := first.ID(), join()
		second := join().Opened(id)
		var failed error
		var reading sync.WaitGroup
		reading.Go(func() {
			for _, err := range reader.Events(t.Context(), id, 0) {
				failed = err
			}
		})
		stage.Pass(time.Hour)
		require.NoError(t, c.Store.Delete(t.Context(), id))
		deleted := time.Now()
		reading.Wait()
		require.ErrorIs(t, failed, flow.ErrNotFound)
		_, err := second.Wait(t.Context())
		require.Error(t, err)
		assert.Less(t, time.Since(deleted), time.Second)
	})
}
