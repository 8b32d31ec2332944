package sql

import (
	"context"
	stdsql "database/sql"
	"errors"

	"github.com/agonist-dev/debate/store"
)

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	err := s.transact(ctx, func(ctx context.Context) error { return s.remove(ctx, id) })
	if err == nil {
		s.removed(id)
	}
	return failed("delete", err)
}

func (s *Store) remove(ctx context.Context, id string) error {
	tx, err := s.dialect.begin(ctx, s.write)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// This waits for an append that has locked the conversation's row, so that the next statements see what it
	// has written.
	var no int64
	err = tx.QueryRowContext(ctx, `DELETE FROM debate WHERE id = $1 RETURNING no`, id).Scan(&no)
	if err != nil && !errors.Is(err, stdsql.ErrNoRows) {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM debate_commit WHERE key >= $1 AND key < $2`, no*span, (no+1)*span); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM debate_label WHERE debate = $1`, no); err != nil {
		return err
	}
	for _, beside := range []string{
		`DELETE FROM debate_blob WHERE id = $1`, `DELETE FROM debate_lease WHERE id = $1`, `DELETE FROM debate_quarantine WHERE id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, beside, id); err != nil {
			return err
		}
	}
	return tx.Commit()
}
