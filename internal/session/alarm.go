package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// setAlarm sets the time at which a conversation needs a process next, if the store keeps alarms and the log ends at seq. If that fails, a
// process opens the conversation too early.
func (h *Host) setAlarm(ctx context.Context, id string, seq int64, at time.Time) {
	alarms, ok := h.Store.(store.Alarms)
	if !ok {
		return
	}
	if now, err := h.Now(ctx, "alarm"); err == nil {
		_ = alarms.SetAlarm(ctx, id, seq, max(1, at.Sub(now)))
	}
}

// keepAlarm sets the alarm of a conversation whose log does not say until when somebody is awaited.
func (h *Host) keepAlarm(ctx context.Context, core *flow.Core) {
	if at := core.Untold(); !at.IsZero() {
		h.setAlarm(ctx, core.Record().ID, core.Record().Seq, at)
	}
}

// alarm returns when a process is needed next, if nobody has the conversation open until then and the log does not say so: the next call is
// due long after. Zero: one is needed now, or the log says when. The lock is held.
func (s *Session) alarm() time.Time {
	if s.far > 0 && s.far == s.core.Record().Seq {
		return s.due
	}
	return time.Time{}
}
