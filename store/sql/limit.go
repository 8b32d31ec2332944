package sql

import (
	"context"
	stdsql "database/sql"
	"time"
)

// UpdateLimit makes the store a ledger of limits that several machines share; package provider/limit has the
// contract, and is what calls it. The clock is that of the database: in PostgreSQL the server's, in SQLite this
// machine's.
//
// An update takes two statements and no transaction: one reads the value, the other writes the new one if nobody
// else has written meanwhile. So a stopped machine does not delay the others.
func (s *Store) UpdateLimit(ctx context.Context, name string, change func(value []byte, now time.Time) []byte) error {
	name = plain(name)
	return failed("update limit", s.transact(ctx, func(ctx context.Context) error {
		for {
			done, err := s.tryLimit(ctx, name, change)
			if done || err != nil {
				return err
			}
		}
	}))
}

// tryLimit reports whether nobody else has written between its two statements.
func (s *Store) tryLimit(ctx context.Context, name string, change func(value []byte, now time.Time) []byte) (bool, error) {
	var version, now int64
	var value stdsql.NullString
	err := s.read.QueryRowContext(ctx, `
		SELECT coalesce(l.version, 0), l.value, `+s.dialect.now+`
		FROM (SELECT 1) one LEFT JOIN debate_limit l ON l.name = $1`, name).Scan(&version, &value, &now)
	if err != nil {
		return false, err
	}
	changed := change([]byte(value.String), time.UnixMicro(now).UTC())
	n, err := s.dialect.lend(ctx, s.lend, `
		INSERT INTO debate_limit (name, version, value) VALUES ($1, 1, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, version = debate_limit.version + 1
		WHERE debate_limit.version = $2`, name, version, string(changed))
	return n > 0, err
}
