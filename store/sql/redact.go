package sql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Redact implements [store.Redactor]. In SQLite it rewrites the whole file, as Vacuum does, unless [Options].VacuumLater is set:
// SQLite zeroes what it deletes, but a copy may remain where rows have moved. If another connection writes or reads for too long,
// Redact fails after the commit, and may be called again without events. In PostgreSQL, what was replaced stays in the files of
// the tables until Vacuum, and in the write-ahead log.
func (s *Store) Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if err := store.CheckRedact(after, events); err != nil {
		return err
	}
	r := &redaction{store: s, id: id, after: after, blobs: blobs}
	if err := r.encode(events); err != nil {
		return failed("redact", err)
	}
	err := s.transact(ctx, func(ctx context.Context) error { return r.run(ctx) })
	if errors.Is(err, flow.ErrConflict) || errors.Is(err, flow.ErrNotFound) {
		return err
	}
	if err != nil {
		return failed("redact", err)
	}
	if r.added != nil {
		s.appended(id, after, r.added.last)
	}
	if s.dialect.name != "sqlite" || s.later {
		return nil
	}
	return s.Vacuum(ctx)
}

// redaction rewrites one log.
type redaction struct {
	store *Store
	id    string
	after int64
	lines map[int64]string // the events that take the places of others, by number
	order []int64          // their numbers
	begun *begun           // nil: the start stays
	moved bool             // a transition is rewritten
	added *step            // nil: nothing is appended
	blobs []string
}

// encode writes the events as they are stored.
func (r *redaction) encode(events []flow.Event) error {
	r.lines = make(map[int64]string)
	for i := range events {
		if events[i].Seq > r.after {
			added, err := newStep(r.id, r.after, "", events[i:])
			r.added = added
			return err
		}
		one, err := newStep(r.id, events[i].Seq-1, "", events[i:i+1])
		if err != nil {
			return err
		}
		r.lines[events[i].Seq] = one.body
		r.order = append(r.order, events[i].Seq)
		if one.begun != nil {
			r.begun = one.begun
		}
		r.moved = r.moved || one.result != nil
	}
	return nil
}

func (r *redaction) run(ctx context.Context) error {
	defer r.store.dialect.turn(ctx)()
	tx, err := r.store.dialect.begin(ctx, r.store.write)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var log end
	// This locks the conversation's row: nobody appends until the transaction has ended.
	err = tx.QueryRowContext(ctx, `UPDATE debate SET seq = seq WHERE id = $1 RETURNING no, seq`, r.id).Scan(&log.no, &log.seq)
	switch {
	case errors.Is(err, stdsql.ErrNoRows):
		return flow.ErrNotFound
	case err != nil:
		return err
	case log.seq != r.after:
		return flow.ErrConflict
	}
	if err := r.replace(ctx, tx, log.no); err != nil {
		return err
	}
	if r.added != nil {
		kept, err := r.store.dialect.add(ctx, standard{tx}, r.added)
		if err == nil && !kept {
			err = flow.ErrConflict
		}
		if err != nil {
			return err
		}
	}
	for _, hash := range r.blobs {
		if _, err := tx.ExecContext(ctx, `DELETE FROM debate_blob WHERE id = $1 AND hash = $2`, r.id, hash); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// replace rewrites the commits that hold the events, and what is known of the start.
func (r *redaction) replace(ctx context.Context, tx *stdsql.Tx, no int64) error {
	for rest := r.order; len(rest) > 0; {
		var c commit
		err := tx.QueryRowContext(ctx, `SELECT key - $1, last, body FROM debate_commit WHERE key >= $1 AND key < $1 + $2
			ORDER BY key DESC LIMIT 1`, no*span, rest[0]).Scan(&c.after, &c.last, &c.body)
		if err != nil && !errors.Is(err, stdsql.ErrNoRows) {
			return err
		}
		lines := strings.Split(c.body, "\n")
		if err != nil || rest[0] > c.last || int64(len(lines)) != c.last-c.after {
			return fmt.Errorf("the log of %s is damaged: event %d is missing", r.id, rest[0])
		}
		for ; len(rest) > 0 && rest[0] <= c.last; rest = rest[1:] {
			lines[rest[0]-c.after-1] = r.lines[rest[0]]
		}
		_, err = tx.ExecContext(ctx, r.store.dialect.rewrite, no*span+c.after, strings.Join(lines, "\n"))
		if err != nil {
			return err
		}
	}
	if r.moved {
		if err := r.retell(ctx, tx, no); err != nil {
			return err
		}
	}
	if r.begun == nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, tell, r.id, r.begun.started, r.begun.about); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM debate_label WHERE debate = $1`, no); err != nil {
		return err
	}
	for _, pair := range r.begun.pairs {
		if _, err := tx.ExecContext(ctx, label, r.id, pair); err != nil {
			return err
		}
	}
	return nil
}

// retell stores what a list shows of the last transition.
func (r *redaction) retell(ctx context.Context, tx *stdsql.Tx, no int64) error {
	for before := (no + 1) * span; ; {
		var body string
		err := tx.QueryRowContext(ctx, `SELECT key, body FROM debate_commit WHERE key >= $1 AND key < $2 ORDER BY key DESC LIMIT 1`,
			no*span, before).Scan(&before, &body)
		if errors.Is(err, stdsql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, line := range slices.Backward(strings.Split(body, "\n")) {
			var e flow.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return err
			}
			if moved, ok := e.Body.(*flow.Transition); ok {
				result, err := json.Marshal(outcome{moved.Spent, moved.Unsettled, moved.Result})
				if err == nil {
					_, err = tx.ExecContext(ctx, `UPDATE debate SET result = $2 WHERE no = $1`, no, string(result))
				}
				return err
			}
		}
	}
}

// Vacuum rewrites the whole database, so that the files of its tables hold nothing of what redactions and deletions have removed.
// Meanwhile nobody can write, and with PostgreSQL nobody can read. It needs as much free space as the
// database takes. ctx bounds its time; in SQLite the store's timeout bounds how long it then waits for readers, who hold the
// write-ahead log.
func (s *Store) Vacuum(ctx context.Context) error {
	err := s.dialect.transact(ctx, func(ctx context.Context) error {
		defer s.dialect.turn(ctx)()
		for _, statement := range s.dialect.vacuum {
			if _, err := s.write.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.transact(ctx, func(ctx context.Context) error { return s.dialect.purge(ctx, s.write) })
	}
	return failed("vacuum", err)
}
