package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Quarantine implements [store.Quarantines]. Its time is measured by the clock of the database.
func (s *Store) Quarantine(ctx context.Context, id string) (store.Quarantine, error) {
	if err := store.CheckID(id); err != nil {
		return store.Quarantine{}, err
	}
	var count, left int64
	var reason string
	err := s.read.QueryRowContext(ctx, `SELECT count, reason, until - `+s.dialect.now+` FROM debate_quarantine WHERE id = $1`, id).
		Scan(&count, &reason, &left)
	if errors.Is(err, stdsql.ErrNoRows) {
		return store.Quarantine{}, nil
	}
	return quarantine(count, reason, left), failed("quarantine", err)
}

// quarantine returns what a row says.
func quarantine(count int64, reason string, micros int64) store.Quarantine {
	left := time.Duration(max(0, micros)) * time.Microsecond
	return store.Quarantine{Count: int(count), Reason: original(reason), Left: flow.Duration(left)}
}

// SetQuarantine implements [store.Quarantines].
func (s *Store) SetQuarantine(ctx context.Context, id string, q store.Quarantine) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if q == (store.Quarantine{}) {
		_, err := s.lent(ctx, `DELETE FROM debate_quarantine WHERE id = $1`, id)
		return failed("quarantine", err)
	}
	_, err := s.lent(ctx, `
		INSERT INTO debate_quarantine (id, count, reason, until) VALUES ($1, $2, $3, `+s.dialect.now+` + $4)
		ON CONFLICT (id) DO UPDATE SET count = excluded.count, reason = excluded.reason, until = excluded.until`,
		id, q.Count, plain(q.Reason), time.Duration(q.Left).Microseconds())
	return failed("quarantine", err)
}
