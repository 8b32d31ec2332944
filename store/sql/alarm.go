package sql

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// SetAlarm implements [store.Alarms]. Its time is measured by the clock of the database. In SQLite it does not wait for the disk: without
// an alarm that was set, a conversation is opened once more.
func (s *Store) SetAlarm(ctx context.Context, id string, seq int64, d time.Duration) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	due, args := "CASE WHEN state = 'awaitingInput' THEN wake ELSE 0 END", []any{id, seq}
	if d > 0 {
		due, args = s.dialect.now+" + $3", append(args, d.Microseconds())
	}
	_, err := s.lent(ctx, `UPDATE debate SET due = `+due+` WHERE id = $1 AND seq = $2`, args...)
	return failed("set alarm", err)
}

// alarmIn returns the time until an alarm, as store.Info has it. due and left are microseconds; due is 0 if there is none.
func alarmIn(due, left int64) flow.Duration {
	if due <= 0 {
		return 0
	}
	return store.AlarmIn(time.Duration(left) * time.Microsecond)
}
