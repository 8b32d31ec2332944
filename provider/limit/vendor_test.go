package limit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// vendor answers at once, after a delay or as answer says, and notes when what was asked. It is made inside
// a bubble, and its times count from then.
type vendor struct {
	took   time.Duration
	answer func(req *provider.Request) (*provider.Response, error) // may be nil

	began time.Time
	mu    sync.Mutex
	calls []call
	now   int // under way
	most  int // at once
}

type call struct {
	id, model string
	at        time.Duration
}

func newVendor(took time.Duration) *vendor { return &vendor{took: took, began: time.Now()} }

func (v *vendor) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	v.mu.Lock()
	v.calls = append(v.calls, call{req.ID, req.Model, time.Since(v.began)})
	v.now++
	v.most = max(v.most, v.now)
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		v.now--
		v.mu.Unlock()
	}()
	if v.took > 0 {
		timer := time.NewTimer(v.took)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, &provider.Error{Kind: provider.KindCanceled, Err: ctx.Err()}
		}
	}
	if v.answer != nil {
		return v.answer(req)
	}
	emit(provider.Chunk{Text: "Yes."})
	return &provider.Response{Text: "Yes.", Stop: provider.StopEnd}, nil
}

// starts returns when the calls were made, in their order.
func (v *vendor) starts() []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	var at []time.Duration
	for _, c := range v.calls {
		at = append(at, c.at)
	}
	return at
}

func (v *vendor) ids() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []string
	for _, c := range v.calls {
		ids = append(ids, c.id)
	}
	return ids
}

func (v *vendor) peak() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.most
}

// broken does what no provider may.
func broken() (*provider.Response, error) {
	panic("vendor") //nolint:forbidigo // some do
}

// pass lets time pass, in a bubble.
func pass(d time.Duration) { <-time.After(d) }

func silent(provider.Chunk) {}

func ask(ctx context.Context, p provider.Provider, model string) error {
	_, err := p.Generate(ctx, &provider.Request{Model: model}, silent)
	return err
}

// askAll makes so many calls at once and waits for them.
func askAll(t *testing.T, p provider.Provider, n int) {
	t.Helper()
	var group sync.WaitGroup
	for range n {
		group.Go(func() { _ = ask(t.Context(), p, "m") })
	}
	group.Wait()
}

// wantEnded expects the failure of a call that was given up in a queue.
func wantEnded(t *testing.T, err error, kind provider.Kind) {
	t.Helper()
	e, ok := errors.AsType[*provider.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, kind, e.Kind)
	assert.True(t, e.NotSent)
}

func seconds(at ...float64) []time.Duration {
	var list []time.Duration
	for _, s := range at {
		list = append(list, time.Duration(s*float64(time.Second)).Round(time.Microsecond))
	}
	return list
}

// lateContext ends without anybody being told: who looks at it after its turn has come finds that it is over.
type lateContext struct {
	context.Context
	over atomic.Bool
}

func (c *lateContext) Err() error {
	if c.over.Load() {
		return context.Canceled
	}
	return nil
}

// clockContext has a deadline that stands while somebody waits, as an engine's calls do.
type clockContext struct {
	context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	left   time.Duration
	since  time.Time
	timer  *time.Timer
	pauses int // open ones
	stood  time.Duration
}

func withClock(ctx context.Context, left time.Duration) *clockContext {
	c := &clockContext{left: left, since: time.Now()}
	c.Context, c.cancel = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(left, func() { c.cancel(context.DeadlineExceeded) })
	return c
}

func (c *clockContext) Value(key any) any {
	if key == (provider.ClockKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (c *clockContext) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return context.Cause(c.Context)
}

func (c *clockContext) Pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 {
		c.timer.Stop()
		c.left -= time.Since(c.since)
		c.since = time.Now()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pauses--; c.pauses == 0 {
			c.stood += time.Since(c.since)
			c.since = time.Now()
			c.timer.Reset(c.left)
		}
	}
}

// still returns how long the clock stood, and whether it runs again.
func (c *clockContext) still() (stood time.Duration, runs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stood, c.pauses == 0
}
