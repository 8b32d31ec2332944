package engine

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Stats counts what an engine does, and what it has seen; see debate.Stats.
type Stats struct{ Calls, Queued, GivenUp, Stuck, Open, Opened, Rested, Leased, Refused, Drained int64 }

// Stats returns the counts of this moment.
func (l *Engine) Stats() Stats {
	c := &l.host.Counts
	return Stats{
		Calls: l.calls.Load(), Queued: l.queued.Load(), GivenUp: l.givenUp.Load(), Stuck: l.stuck.Load(), Open: l.host.OpenNow(),
		Opened: c.Opened.Load(), Rested: c.Rested.Load(), Leased: c.Leased.Load(), Refused: c.Refused.Load(), Drained: c.Drained.Load(),
	}
}

// gaveUp counts a call that was given up, and logs whose code it is.
func (l *Engine) gaveUp(c *flow.Command) {
	l.givenUp.Add(1)
	l.stuck.Add(1)
	whose := name("provider", c.Provider)
	switch {
	case c.Use != nil:
		whose = name("tool", c.Tool)
	case c.Task != nil:
		whose = name("function", c.Function)
	}
	l.logger.Error("call given up", name("id", c.Conversation), name("call", c.Call), slog.Int("attempt", c.Attempt), whose)
}

// returned counts a call that was given up and has returned at last.
func (l *Engine) returned(c *flow.Command) {
	l.stuck.Add(-1)
	l.logger.Warn("call returned late", name("id", c.Conversation), name("call", c.Call), slog.Int("attempt", c.Attempt))
}

// gaveUpStore counts a store that was given up, and logs at which debate.
func (l *Engine) gaveUpStore(id string) {
	l.givenUp.Add(1)
	l.stuck.Add(1)
	l.logger.Error("store given up", name("id", id), slog.String("store", fmt.Sprintf("%T", l.host.Store)))
}

// storeReturned counts a store that was given up and has returned at last.
func (l *Engine) storeReturned(id string) {
	l.stuck.Add(-1)
	l.logger.Warn("store returned late", name("id", id))
}

// quarantined logs that a debate could not be opened.
func (l *Engine) quarantined(id string, q store.Quarantine) {
	l.logger.Warn("debate cannot be opened", name("id", id), slog.Int("count", q.Count), name("reason", q.Reason),
		slog.Duration("left alone for", time.Duration(q.Left)))
}
