package engine

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/agonist-dev/debate/store"
)

const (
	// dueMost is the longest time between two looks for work, also where nothing is announced: a lease may have ended.
	dueMost = 30 * time.Second
	// duePage is how many debates a look reads at once.
	duePage = 64
)

// Due yields the conversations that need a process; see debate.Engine.
func (l *Engine) Due(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		every, announced := min(l.host.Lease, dueMost), (<-chan struct{})(nil)
		if a, ok := l.host.Store.(store.Announcer); ok {
			announced = a.Announce(ctx)
		} else {
			every = min(every, lookBlind)
		}
		looker := &dueLook{engine: l, yield: yield}
		for looker.look(ctx) {
			rest := max(lookRest, lookShare*looker.took)
			if !pause(ctx, rest, nil) || !looker.stale && !pause(ctx, max(0, every-rest), announced) {
				return
			}
		}
	}
}

// pause waits for a time to pass or a value to come. It returns false if ctx is done first.
func pause(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-until:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// dueLook is one loop over Due.
type dueLook struct {
	engine *Engine
	yield  func(store.Info, error) bool
	took   time.Duration // to read the list, in the last look
	stale  bool          // the last look has ended early: its list was old
}

// look yields what is due now. It returns false if the loop was left, or ctx is done.
func (d *dueLook) look(ctx context.Context) bool {
	d.took, d.stale = 0, false
	filter := store.Filter{Due: true, Limit: duePage}
	for {
		began := time.Now()
		page, err := d.page(ctx, filter)
		d.took += time.Since(began)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			return d.yield(store.Info{}, err)
		}
		more := len(page) == duePage
		if more {
			filter.After = page[duePage-1].ID
		}
		if goesOn := d.give(ctx, page); !goesOn || d.stale || !more {
			return goesOn
		}
	}
}

func (d *dueLook) page(ctx context.Context, filter store.Filter) (page []store.Info, err error) {
	for info, err := range d.engine.host.Store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		page = append(page, info)
	}
	return page, nil
}

// give yields a page in an order of its own, until it is old.
func (d *dueLook) give(ctx context.Context, page []store.Info) bool {
	read := time.Now()
	for _, i := range rand.Perm(len(page)) { //nolint:gosec // no secret: workers should begin at different places
		if d.engine.host.Shuns(page[i].ID) {
			continue
		}
		if d.stale = time.Since(read) > lookFresh; d.stale {
			return true
		}
		if !d.yield(page[i], nil) || ctx.Err() != nil {
			return false
		}
	}
	return true
}
