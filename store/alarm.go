package store

import (
	"cmp"
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Alarms is an optional ability of a [Store]: it keeps when a conversation that nobody works on needs a process next. A worker sets
// an alarm before it releases the lease of a conversation whose next call is due later. Where persons are awaited, the log says until
// when, and an append sets the alarm: nothing that happens to a process afterwards loses it. Until the alarm rings, the conversation
// costs no worker anything. Package store/storetest tests it.
//
// List reports alarms in Info.Alarm, and [Filter].Due heeds them. Without this ability a worker keeps a conversation open until its
// next call, and a person's time limit that passes meanwhile takes effect when somebody opens the conversation.
type Alarms interface {
	// SetAlarm makes a conversation due after d by the store's clock, not before, in whatever state it is, until the next append.
	// It replaces the alarm before. If d is not positive, SetAlarm removes what was set since the last append.
	//
	// If the log does not end at seq, or there is no such conversation, SetAlarm changes nothing, and returns nil. No lease is
	// needed. An append replaces the alarm in the same commit: in the state awaitingInput by [Info].Wake, else by none. Delete
	// removes it.
	SetAlarm(ctx context.Context, id string, seq int64, d time.Duration) error
}

// AlarmAt sets Alarm. set is the time by the store's clock to which SetAlarm has set the alarm since the last append; zero: it has not.
func (i *Info) AlarmAt(set, now time.Time) {
	if set.IsZero() && i.State == flow.StateAwaitingInput {
		set = i.Wake
	}
	if i.Alarm = 0; !set.IsZero() {
		i.Alarm = AlarmIn(set.Sub(now))
	}
}

// AlarmIn returns the Info.Alarm of a conversation whose alarm rings after d. If it rings at this very moment, it has rung.
func AlarmIn(d time.Duration) flow.Duration { return flow.Duration(cmp.Or(d, -1)) }
