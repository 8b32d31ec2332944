package sql

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Append implements [store.Store]. Simultaneous appends to different conversations share a transaction.
//
// If ctx ends while an append waits, it is withdrawn. If ctx ends while it is being written, the error
// says that the outcome is unknown; the same writer may then retry. An append that comes alone to SQLite
// is written by its caller. The caller then waits for the disk even if ctx ends, but not for a lock.
func (s *Store) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if err := store.CheckID(id); err != nil || len(events) == 0 {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if after < 0 || after+int64(len(events)) >= span {
		return flow.ErrConflict // no log ends there
	}
	added, err := newStep(id, after, writer, events)
	if err != nil {
		return failed("append", err)
	}
	if host := hostedBy(ctx); host != nil {
		return s.appendHosted(ctx, host, added)
	}
	lone, err := s.queue.put(added)
	if err != nil {
		return err
	}
	if lone {
		s.commit(ctx, []*step{added}) // by the caller: to wake a goroutine and be woken takes another quarter of the time
	}
	select {
	case err = <-added.done:
		if err == nil || ctx.Err() == nil || !lone || errors.Is(err, flow.ErrConflict) {
			return err
		}
	case <-ctx.Done():
		if s.queue.leave(added) {
			return ctx.Err()
		}
		if len(added.done) > 0 && <-added.done == nil {
			return nil
		}
	}
	return fmt.Errorf("sql: it is unknown whether the events were appended: %w", ctx.Err())
}

// run commits the steps in the queue until the queue is closed.
func (s *Store) run() {
	for batch := s.queue.take(); batch != nil; batch = s.queue.take() {
		s.commit(context.Background(), batch)
		if len(batch) > 1 {
			runtime.Gosched() // callers that have their answer may append more
		}
	}
}

// commit commits a batch, and answers the callers that wait for it. A step in whose transaction the host's function may
// run is written by itself. If the others fail for a reason that may lie in a single step, each of them is too, so that
// no step has to wait for the others.
func (s *Store) commit(ctx context.Context, batch []*step) {
	shared := s.wake.others(batch)
	err := s.try(ctx, shared, true)
	alone := func(one *step) bool {
		return s.wake.concerns(one) || !one.kept && err != nil && s.dialect.single(err) && (len(shared) > 1 || s.dialect.again(err, 1))
	}
	var written []*step
	for _, one := range batch {
		if alone(one) {
			s.committers.Go(func() {
				outcome := s.outcome(ctx, one, s.try(ctx, []*step{one}, false))
				s.queue.release(one)
				s.answer(one, outcome)
			})
		} else {
			written = append(written, one)
		}
	}
	outcomes := make([]error, len(written))
	for i, step := range written {
		outcomes[i] = s.outcome(ctx, step, err)
	}
	s.queue.end(written)
	for i, step := range written {
		s.answer(step, outcomes[i])
	}
}

// answer reports the outcome to the caller that waits for it.
func (s *Store) answer(step *step, outcome error) {
	if outcome == nil {
		s.appended(step.id, step.after, step.last)
		if step.wakes {
			s.work.Ring()
		}
	}
	step.done <- outcome
}

// try writes the steps that are not committed yet. A shared try fails with errors that may be due to a
// single step, and with the error that a row is locked: the other steps must not wait for that.
func (s *Store) try(ctx context.Context, steps []*step, shared bool) error {
	var refused error
	err := s.transact(ctx, func(ctx context.Context) error {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s *step) bool { return s.kept })
		if len(steps) == 0 {
			return nil
		}
		var err error
		if s.wake.concerns(steps[0]) {
			err = s.writeAlone(ctx, steps[0])
		} else {
			err = s.dialect.write(ctx, s.write, steps)
		}
		if shared && err != nil && s.dialect.single(err) {
			refused = err
			return nil
		}
		return err
	})
	if refused != nil {
		return refused
	}
	return err
}

// outcome returns the result of a step for which try returned err.
func (s *Store) outcome(ctx context.Context, step *step, err error) error {
	switch {
	case step.kept:
		return nil
	case err != nil:
		return failed("append", err)
	default:
		return s.recall(ctx, step)
	}
}

// recall finds out what became of a step that was not committed: if the log ends with it, an earlier try
// has succeeded.
func (s *Store) recall(ctx context.Context, step *step) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var after, last int64
	var writer string
	found, err := first(ctx, s.reads(ctx), []any{&after, &last, &writer}, `
		SELECT c.key - d.no * 4294967296, c.last, c.writer FROM debate d, debate_commit c
		WHERE d.id = $1 AND c.key >= d.no * 4294967296 AND c.key < (d.no + 1) * 4294967296
		ORDER BY c.key DESC LIMIT 1`, step.id)
	switch {
	case err != nil:
		return failed("append", err)
	case found && writer == step.writer && writer != "" && after == step.after && last == step.last:
		return nil
	default:
		return flow.ErrConflict
	}
}

const (
	// tell stores what a conversation is about.
	tell = `UPDATE debate SET started = $2, about = $3 WHERE id = $1`
	// limit stores the limit of a conversation's cost.
	limit = `UPDATE debate SET hard = $2 WHERE id = $1`
	// label makes a conversation searchable by a label.
	label = `INSERT INTO debate_label (pair, debate) SELECT $2, no FROM debate WHERE id = $1 ON CONFLICT DO NOTHING`
)

// describe writes what a conversation is about, in the transaction of its step. If told, its row has it already, but for the labels.
func (s *step) describe(ctx context.Context, on statements, told bool) error {
	if !told {
		if _, err := on.exec(ctx, tell, s.id, s.begun.started, s.begun.about); err != nil {
			return err
		}
	}
	for _, pair := range s.begun.pairs {
		if _, err := on.exec(ctx, label, s.id, pair); err != nil {
			return err
		}
	}
	return nil
}
