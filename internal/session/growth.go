package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/store"
)

// pollInterval is how often a log is read that may have grown, if the store cannot watch it.
const pollInterval = 250 * time.Millisecond

// growth reports when a log may have grown, or was deleted.
type growth struct {
	watched <-chan struct{} // nil: the store cannot watch the log, or no longer does
	ticker  *time.Ticker
}

// growthOf watches a log until ctx is done. every is how often whoever has a reason to looks at the clock; if the store cannot watch,
// the log is read at the pollInterval. The caller calls stop.
func (h *Host) growthOf(ctx context.Context, id string, every time.Duration) *growth {
	w, ok := h.Store.(store.Watcher)
	if !ok {
		return &growth{ticker: time.NewTicker(pollInterval)}
	}
	return &growth{watched: w.Watch(ctx, id), ticker: time.NewTicker(every)}
}

// ticks returns the channel of the ticker. A log that the store watches needs none, unless something depends on the time.
func (g *growth) ticks(timed bool) <-chan time.Time {
	if g.watched != nil && !timed {
		return nil
	}
	return g.ticker.C
}

// wait returns nil when the log may have grown, and the error of ctx when ctx is done. timed says that something depends on the time.
func (g *growth) wait(ctx context.Context, timed bool) error {
	select {
	case _, open := <-g.watched:
		if !open {
			g.watched = nil
		}
	case <-g.ticks(timed):
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stop ends the polling.
func (g *growth) stop() { g.ticker.Stop() }
