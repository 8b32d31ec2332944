package sql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Limits of a page. No connection is held while the loop body runs.
const (
	pageCommits = 256
	pageBytes   = 1 << 20
)

// errLeft reports that the loop was left early.
var errLeft = errors.New("sql: the reader has left")

// Read implements [store.Store]. It reads events in pages, so that a long log takes little memory.
func (s *Store) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		err := s.events(ctx, id, after, func(e flow.Event) bool { return yield(e, nil) })
		if err != nil && !errors.Is(err, errLeft) {
			yield(flow.Event{}, err)
		}
	}
}

func (s *Store) events(ctx context.Context, id string, after int64, yield func(flow.Event) bool) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	log, err := s.end(ctx, id)
	if err != nil {
		return err
	}
	after = min(max(0, after), span-1)
	for more := true; more; {
		var commits []commit
		if commits, more, err = s.page(ctx, log.no, after); err != nil {
			return err
		}
		for _, c := range commits {
			if c.after > after {
				return s.gap(ctx, id, log, after)
			}
			if err := c.events(ctx, id, after, yield); err != nil {
				return err
			}
			after = c.last
		}
	}
	if after < log.seq {
		return s.gap(ctx, id, log, after)
	}
	return nil
}

// events yields the events of a commit after the given one. If the commit is damaged, it yields none.
func (c *commit) events(ctx context.Context, id string, after int64, yield func(flow.Event) bool) error {
	events, err := c.decode()
	if err != nil {
		return damaged(id, err)
	}
	for i := range events {
		if err := ctx.Err(); err != nil {
			return err
		}
		if events[i].Seq > after && !yield(events[i]) {
			return errLeft
		}
	}
	return nil
}

// gap returns why the event behind after is missing.
func (s *Store) gap(ctx context.Context, id string, log end, after int64) error {
	switch now, err := s.end(ctx, id); {
	case err != nil:
		return err
	case now.no != log.no:
		return flow.ErrNotFound // it was deleted meanwhile, and another one started
	default:
		return damaged(id, fmt.Errorf("event %d is missing", after+1))
	}
}

// end is the end of a log: the number of its conversation, which no other conversation with the same id will have,
// and that of its last event.
type end struct{ no, seq int64 }

func (s *Store) end(ctx context.Context, id string) (e end, err error) {
	found, err := first(ctx, s.reads(ctx), []any{&e.no, &e.seq}, `SELECT no, seq FROM debate WHERE id = $1`, id)
	if err == nil && !found {
		return e, flow.ErrNotFound
	}
	return e, failed("read", err)
}

// commit is a row of a log.
type commit struct {
	after, last int64
	body        string
}

// page reads the next commits of a log that hold events after the given one, and reports whether there
// may be more.
func (s *Store) page(ctx context.Context, no, after int64) (commits []commit, more bool, err error) {
	size := 0
	err = s.reads(ctx).each(ctx, func(scan scanner) error {
		if more {
			return errLeft
		}
		var c commit
		if err := scan(&c.after, &c.last, &c.body); err != nil {
			return err
		}
		commits, size = append(commits, c), size+len(c.body)
		more = size >= pageBytes || len(commits) == pageCommits
		return nil
	}, `
		SELECT key - $1, last, body FROM debate_commit
		WHERE key >= coalesce((SELECT key FROM debate_commit WHERE key >= $1 AND key <= $1 + $2 ORDER BY key DESC LIMIT 1), $1)
			AND key < $3 AND last > $2
		ORDER BY key LIMIT $4`, no*span, after, (no+1)*span, pageCommits)
	if err != nil && !errors.Is(err, errLeft) {
		return nil, false, failed("read", err)
	}
	return commits, more, nil
}

// decode decodes the events of a commit.
func (c *commit) decode() ([]flow.Event, error) {
	events := make([]flow.Event, 0, min(max(0, c.last-c.after), 1024))
	for line := range strings.SplitSeq(c.body, "\n") {
		var e flow.Event
		seq := c.after + int64(len(events)) + 1
		if err := e.UnmarshalJSON([]byte(line)); err != nil {
			return nil, fmt.Errorf("event %d: %w", seq, err)
		}
		if e.Seq != seq {
			return nil, fmt.Errorf("event %d is numbered %d", seq, e.Seq)
		}
		events = append(events, e)
	}
	if c.after+int64(len(events)) != c.last {
		return nil, fmt.Errorf("there are %d events in place of events %d to %d", len(events), c.after+1, c.last)
	}
	return events, nil
}
