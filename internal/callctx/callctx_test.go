package callctx_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/callctx"
)

// tendedUntil looks at a context as often as it is promised, until it has ended.
func tendedUntil(c *callctx.Context) {
	for {
		select {
		case <-c.Done():
			return
		case <-time.After(callctx.Near / 2):
			c.Look()
		}
	}
}

// A tended context ends exactly at its deadline, and its clock can stand.
func TestATendedContextEndsInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit time.Duration
		queue time.Duration // after 100 ms
	}{
		"long":                        {10123 * time.Millisecond, 0},
		"short":                       {10 * time.Millisecond, 0},
		"long, and it queues":         {10123 * time.Millisecond, time.Hour},
		"nearly over when it queues":  {101 * time.Millisecond, time.Hour},
		"queues for less than a look": {10123 * time.Millisecond, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var c callctx.Context
				defer c.Cancel()
				c.Tend()
				c.Limit(test.limit)
				began := time.Now()
				if test.queue > 0 {
					go func() {
						<-time.After(100 * time.Millisecond)
						resume := c.Pause()
						<-time.After(test.queue)
						resume()
					}()
				}
				tendedUntil(&c)
				assert.Equal(t, test.limit+test.queue, time.Since(began))
				assert.Equal(t, test.queue, c.Queued())
				require.ErrorIs(t, c.Err(), context.DeadlineExceeded)
			})
		})
	}
}

// As long as nobody looks at a tended context, it has no timer. It knows all the same that its time is over.
func TestATendedContextHasNoTimerBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c callctx.Context
		defer c.Cancel()
		c.Tend()
		c.Limit(time.Minute)
		done := c.Done()
		<-time.After(2 * time.Minute)
		synctest.Wait()
		select {
		case <-done:
			t.Error("a timer has ended it")
		default:
		}
		require.ErrorIs(t, c.Err(), context.DeadlineExceeded)
		<-done
	})
}

// The time in a queue before the time of the call begins is counted apart.
func TestAContextQueuesBeforeItsTimeBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c callctx.Context
		defer c.Cancel()
		resume := c.Pause()
		<-time.After(time.Minute)
		assert.Equal(t, time.Minute, c.Queued())
		resume()
		c.Limit(10 * time.Second)
		<-time.After(time.Second)
		assert.Equal(t, time.Minute, c.Queued())
		assert.Equal(t, time.Second, c.Took())
		end, known := c.End()
		assert.True(t, known)
		assert.Equal(t, 9*time.Second, time.Until(end))
	})
}
