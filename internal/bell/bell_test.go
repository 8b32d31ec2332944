package bell_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/bell"
)

func TestBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, running atomic.Int64
		b := &bell.Bell{Source: func(ctx context.Context) {
			runs.Add(1)
			running.Add(1)
			<-ctx.Done()
			running.Add(-1)
		}}
		b.Ring()
		ctx, cancel := context.WithCancel(t.Context())
		one, two := b.Listen(ctx), b.Listen(t.Context())
		assert.Empty(t, one, "what was before does not count")
		b.Ring()
		b.Ring()
		assert.Len(t, one, 1, "values merge")
		assert.Len(t, two, 1)
		<-one
		cancel()
		synctest.Wait()
		b.Ring()
		assert.Empty(t, one)
		assert.EqualValues(t, 1, runs.Load())
		assert.EqualValues(t, 1, running.Load())

		again := &bell.Bell{Source: b.Source}
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			again.Listen(ctx)
			cancel()
			synctest.Wait()
			assert.EqualValues(t, 1, running.Load(), "a source ends with the last listener")
		}
		assert.EqualValues(t, 3, runs.Load())
		b.Close()
		assert.Zero(t, running.Load())
		<-two
		b.Listen(t.Context())
		b.Ring()
		b.Close()
		assert.Empty(t, two)
		assert.EqualValues(t, 3, runs.Load())
	})
}
