package session

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// setAlarm sets the time at which a conversation needs a process next, if the store keeps alarms and the log ends at seq. Zero: it needs
// none. If that fails, a process opens the conversation too early, or a limit of a person's time counts late.
func (h *Host) setAlarm(ctx context.Context, id string, seq int64, at time.Time) {
	alarms, ok := h.Store.(store.Alarms)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, h.Lease)
	defer cancel()
	var d time.Duration
	if !at.IsZero() {
		now, err := h.Now(ctx, "alarm")
		if err != nil {
			return
		}
		d = max(1, at.Sub(now))
	}
	_ = alarms.SetAlarm(ctx, id, seq, d)
}

// keepAlarm sets the alarm of a conversation that waits for a person: an append without a session has removed it.
func (h *Host) keepAlarm(ctx context.Context, core *flow.Core) {
	if wake := core.Wake(); !wake.IsZero() {
		h.setAlarm(ctx, core.Record().ID, core.Record().Seq, wake)
	}
}

// keepAlarmOf is keepAlarm for a log that has to be read.
func (h *Host) keepAlarmOf(ctx context.Context, id string) {
	if _, keeps := h.Store.(store.Alarms); !keeps {
		return
	}
	if core, err := h.Load(ctx, id); err == nil {
		h.keepAlarm(ctx, core)
	}
}

// alarm returns when a process is needed next, if nobody has the conversation open until then. Zero: none is needed, or one is needed
// now. The lock is held.
func (s *Session) alarm() time.Time {
	if s.far > 0 && s.far == s.core.Record().Seq {
		return s.due
	}
	return s.core.Wake()
}

// resetAlarm sets the alarm of a conversation that waits and that this session has no lease of. It may have rung, which has opened the
// conversation: it rings again, or is removed. The lock is held.
func (s *Session) resetAlarm() {
	seq, at := s.core.Record().Seq, s.alarm()
	if _, keeps := s.host.Store.(store.Alarms); !keeps || s.leased || s.alarmed == seq {
		return // it is set with the release of the lease, or was
	}
	s.alarmed = seq
	s.spawn(func() { s.host.setAlarm(context.Background(), s.ID, seq, at) })
}
