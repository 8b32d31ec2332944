package debate

import (
	"fmt"
	"log/slog"

	"github.com/agonist-dev/debate/flow"
)

// Stats counts what an engine does, and what it has seen since its first use.
type Stats struct {
	// Calls is how many calls are being made now, uses of tools and those that are stuck included.
	Calls int64
	// Queued is how many calls wait now for a slot under Engine.MaxCalls.
	Queued int64
	// GivenUp is how many calls were given up, because a provider, judge, tool or store has not returned within
	// Engine.Grace after the context of the call had ended. Each of them has a line in Engine.Logger.
	GivenUp int64
	// Stuck is how many of these have not returned yet. Each holds a goroutine.
	Stuck int64
}

// Stats returns the counts of this moment. It is zero if the engine's fields are wrong.
func (e *Engine) Stats() Stats {
	l, err := e.freeze()
	if err != nil {
		return Stats{}
	}
	return Stats{
		Calls: l.calls.Load(), Queued: l.queued.Load(), GivenUp: l.givenUp.Load(), Stuck: l.stuck.Load(),
	}
}

// gaveUp counts a call that was given up, and logs whose code it is.
func (l *engine) gaveUp(c *flow.Command) {
	l.givenUp.Add(1)
	l.stuck.Add(1)
	if l.logger == nil {
		return
	}
	whose := slog.String("provider", c.Provider)
	switch {
	case c.Use != nil:
		whose = slog.String("tool", c.Tool)
	case c.Task != nil:
		whose = slog.String("judge", c.Function)
	}
	l.logger.Error("call given up", slog.String("id", c.Conversation), slog.String("call", c.Call), slog.Int("attempt", c.Attempt),
		whose)
}

// returned counts a call that was given up and has returned at last.
func (l *engine) returned(c *flow.Command) {
	l.stuck.Add(-1)
	if l.logger != nil {
		l.logger.Warn("call returned late", slog.String("id", c.Conversation), slog.String("call", c.Call), slog.Int("attempt", c.Attempt))
	}
}

// gaveUpStore counts a store that was given up, and logs at which debate.
func (l *engine) gaveUpStore(id string) {
	l.givenUp.Add(1)
	l.stuck.Add(1)
	if l.logger != nil {
		l.logger.Error("store given up", slog.String("id", id), slog.String("store", fmt.Sprintf("%T", l.host.Store)))
	}
}

// storeReturned counts a store that was given up and has returned at last.
func (l *engine) storeReturned(id string) {
	l.stuck.Add(-1)
	if l.logger != nil {
		l.logger.Warn("store returned late", slog.String("id", id))
	}
}
