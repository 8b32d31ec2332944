package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/agonist-dev/debate"
)

// Append implements [debate.Store]. Appends to different debates that come at the same time share a
// transaction. When ctx ends first, an append that still waits is withdrawn; of one that is being written
// the error says that its outcome is not known, and the same writer may try again.
func (s *Store) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if err := debate.CheckID(id); err != nil || len(events) == 0 {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if after < 0 || after+int64(len(events)) >= span {
		return debate.ErrConflict // no log ends there
	}
	added, err := newStep(id, after, writer, events)
	if err != nil {
		return failed("append", err)
	}
	lone, err := s.queue.put(added)
	if err != nil {
		return err
	}
	if lone {
		s.commit(ctx, []*step{added})
		if err = <-added.done; err == nil || ctx.Err() == nil || errors.Is(err, debate.ErrConflict) {
			return err
		}
	} else {
		select {
		case err := <-added.done:
			return err
		case <-ctx.Done():
			if s.queue.leave(added) {
				return ctx.Err()
			}
		}
	}
	return fmt.Errorf("sql: it is not known whether the events were appended: %w", ctx.Err())
}

// run commits what is in the queue until that is closed.
func (s *Store) run() {
	for batch := s.queue.take(); batch != nil; batch = s.queue.take() {
		s.commit(context.Background(), batch)
		if len(batch) > 1 {
			runtime.Gosched() // those who have their answer may have more
		}
	}
}

// commit commits a batch and answers those who wait for it.
func (s *Store) commit(ctx context.Context, batch []*step) {
	outcomes := s.writeAll(ctx, batch)
	s.queue.end(batch)
	for i, step := range batch {
		if outcomes[i] == nil {
			s.watch.appended(step.id, step.after, step.last)
		}
		step.done <- outcomes[i]
	}
}

// writeAll writes steps together; if that fails for a reason that may lie in one of them, each by itself.
func (s *Store) writeAll(ctx context.Context, steps []*step) []error {
	outcomes := make([]error, len(steps))
	err := s.try(ctx, steps)
	alone := len(steps) > 1 && err != nil && s.dialect.single(err)
	for i, step := range steps {
		switch {
		case step.kept:
		case alone:
			outcomes[i] = s.writeAll(ctx, steps[i:i+1])[0]
		case err != nil:
			outcomes[i] = failed("append", err)
		default:
			outcomes[i] = s.recall(ctx, step)
		}
	}
	return outcomes
}

func (s *Store) try(ctx context.Context, steps []*step) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.again(func() error {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s *step) bool { return s.kept })
		return s.dialect.write(ctx, s.write, steps)
	})
}

// tries is how often a transaction is tried that fails because of others.
const tries = 10

func (s *Store) again(do func() error) (err error) {
	for range tries {
		if err = do(); err == nil || !s.dialect.again(err) {
			return err
		}
	}
	return err
}

// recall finds out about a step that was not kept: the log ends with it if an earlier try has succeeded.
func (s *Store) recall(ctx context.Context, step *step) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var after, last int64
	var writer string
	err := s.read.QueryRowContext(ctx, `
		SELECT c.key - d.no * 4294967296, c.last, c.writer FROM debate d, debate_commit c
		WHERE d.id = $1 AND c.key >= d.no * 4294967296 AND c.key < (d.no + 1) * 4294967296
		ORDER BY c.key DESC LIMIT 1`, step.id).Scan(&after, &last, &writer)
	switch {
	case err != nil && !errors.Is(err, stdsql.ErrNoRows):
		return failed("append", err)
	case err == nil && writer == step.writer && writer != "" && after == step.after && last == step.last:
		return nil
	default:
		return debate.ErrConflict
	}
}

const (
	// tell tells what a debate is about.
	tell = `UPDATE debate SET started = $2, about = $3 WHERE id = $1`
	// label lets a debate be found by a label.
	label = `INSERT INTO debate_label (pair, debate) SELECT $2, no FROM debate WHERE id = $1 ON CONFLICT DO NOTHING`
)
