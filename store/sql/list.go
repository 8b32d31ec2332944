package sql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// pageDebates is the number of conversations that are read at once.
const pageDebates = 128

// List implements [store.Store]. It reads conversations in pages, so that a long list takes little memory, and
// holds no connection while the loop body runs. A conversation that is started, changed or deleted meanwhile is
// listed accordingly if its page was not read yet. List reads descriptions and no logs, so Info.Err is not set if only
// the log is damaged.
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		err := s.list(ctx, filter, func(info store.Info) bool { return yield(info, nil) })
		if err != nil && !errors.Is(err, errLeft) {
			yield(store.Info{}, failed("list", err))
		}
	}
}

func (s *Store) list(ctx context.Context, filter store.Filter, yield func(store.Info) bool) error {
	after := ""
	if store.CheckID(filter.After) == nil {
		after = filter.After
	}
	gone, err := s.gone(ctx, filter)
	if err != nil {
		return err
	}
	for given := 0; ; {
		size := pageDebates
		if filter.Limit > 0 {
			size = min(size, filter.Limit-given)
		}
		infos, err := s.infos(ctx, filter, after, size, gone)
		if err != nil {
			return err
		}
		for _, info := range infos {
			found, err := s.selects(ctx, filter, info)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			if !yield(info) {
				return errLeft
			}
			if given++; given == filter.Limit {
				return nil
			}
		}
		if len(infos) < size {
			return nil
		}
		after = infos[len(infos)-1].ID
	}
}

// selects checks a conversation that a query has found, because the query's conditions admit slightly too much.
func (s *Store) selects(ctx context.Context, filter store.Filter, info store.Info) (bool, error) {
	if err := ctx.Err(); err != nil || !filter.Matches(info) {
		return false, err
	}
	if filter.Text == "" {
		return true, nil
	}
	return s.finds(ctx, info.ID, filter)
}

// conditions builds a WHERE clause.
type conditions struct {
	texts []string
	args  []any
}

// add adds a condition, in which %s stands for a parameter with each of the values.
func (c *conditions) add(condition string, values ...any) {
	names := make([]any, len(values))
	for i, value := range values {
		c.args = append(c.args, value)
		names[i] = fmt.Sprintf("$%d", len(c.args))
	}
	c.texts = append(c.texts, fmt.Sprintf(condition, names...))
}

// in adds a condition that a value is one of several.
func (c *conditions) in(condition string, values []flow.State) {
	args := make([]any, len(values))
	for i, value := range values {
		args[i] = plain(string(value))
	}
	c.add(fmt.Sprintf(condition, strings.TrimSuffix(strings.Repeat("%s, ", len(values)), ", ")), args...)
}

// working is exactly the words of an index: the states in which something happens by itself.
const working = `d.state NOT IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')`

// gone returns the owners whose leases are over because their processes are gone, if a filter asks for conversations without one.
func (s *Store) gone(ctx context.Context, filter store.Filter) ([]any, error) {
	if !filter.Idle && !filter.Due {
		return nil, nil
	}
	files := s.life.files()
	if len(files) == 0 {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx,
		`SELECT DISTINCT owner FROM debate_lease WHERE owner <> '' AND until > `+s.dialect.now) //nolint:gosec // a constant
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var owners []any
	for rows.Next() {
		var owner string
		if err := rows.Scan(&owner); err != nil {
			return nil, err
		}
		if files[s.life.file(owner)] {
			owners = append(owners, owner)
		}
	}
	return owners, rows.Err()
}

// conditions writes what a filter asks for. gone are owners whose leases are over.
func (s *Store) conditions(filter store.Filter, after string, gone []any) *conditions {
	c := &conditions{}
	unfinished := filter.Unfinished
	if len(filter.States) > 0 {
		c.in("d.state IN (%s)", filter.States)
		unfinished = unfinished || !slices.Contains(filter.States, flow.StateCompleted) && !slices.Contains(filter.States, flow.StateCanceled)
	}
	if unfinished {
		c.add("d.state NOT IN ('completed', 'canceled')") // exactly the words of the index
	}
	if filter.Working || filter.Due {
		c.add(working)
	}
	if filter.Idle || filter.Due {
		over := ""
		if len(gone) > 0 {
			over = " OR l.owner IN (%s" + strings.Repeat(", %s", len(gone)-1) + ")"
		}
		c.add("(l.owner IS NULL"+over+")", gone...)
	}
	if filter.Due {
		c.add("(q.id IS NULL OR q.until <= " + s.dialect.now + ")")
	}
	if tellable(filter.From) && !filter.From.IsZero() {
		c.add("d.started >= %s", text(filter.From))
	}
	if tellable(filter.Until) && !filter.Until.IsZero() {
		c.add("d.started < %s", text(filter.Until))
	}
	for name, value := range filter.Labels {
		c.add("EXISTS (SELECT 1 FROM debate_label b WHERE b.pair = %s AND b.debate = d.no)", pair(name, value))
	}
	switch {
	case after == "":
	case filter.Newest:
		c.add("d.id < %s", after)
	default:
		c.add("d.id > %s", after)
	}
	if filter.Text != "" {
		c.add(`EXISTS (SELECT 1 FROM debate_commit t
			WHERE t.key >= d.no * 4294967296 AND t.key < (d.no + 1) * 4294967296
			AND t.body `+s.dialect.like+` %s ESCAPE '!')`, pattern(filter.Text))
	}
	return c
}

// infos reads a page of conversations, those after the id after.
func (s *Store) infos(ctx context.Context, filter store.Filter, after string, size int, gone []any) ([]store.Info, error) {
	c := s.conditions(filter, after, gone)
	where := ""
	if len(c.texts) > 0 {
		where = "WHERE " + strings.Join(c.texts, " AND ")
	}
	order := "ORDER BY d.id"
	if filter.Newest {
		order = "ORDER BY d.id DESC"
	}
	return s.described(ctx, s.read, fmt.Sprintf("%s %s LIMIT %d", where, order, size), c.args...)
}

// Describe implements [store.Describer].
func (s *Store) Describe(ctx context.Context, id string) (store.Info, error) {
	if err := store.CheckID(id); err != nil {
		return store.Info{}, err
	}
	info, err := s.describe(ctx, s.read, id)
	if err != nil && !errors.Is(err, flow.ErrNotFound) {
		err = failed("describe", err)
	}
	return info, err
}

// describe reads the description of a conversation that there is.
func (s *Store) describe(ctx context.Context, db reader, id string) (store.Info, error) {
	infos, err := s.described(ctx, db, "WHERE d.id = $1", id)
	if err == nil && len(infos) == 0 {
		err = flow.ErrNotFound
	}
	if err != nil {
		return store.Info{}, err
	}
	return infos[0], nil
}

// reader is a database or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*stdsql.Rows, error)
}

// described reads the descriptions of the conversations that the end of a query selects.
func (s *Store) described(ctx context.Context, db reader, selected string, args ...any) ([]store.Info, error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`
		SELECT d.id, d.state, d.round, d.started, d.about, d.result, d.seq, d.at, d.hard, coalesce(l.owner, ''),
			coalesce(q.count, 0), coalesce(q.reason, ''), coalesce(q.until - %[1]s, 0)
		FROM %[2]s %[3]s`, s.dialect.now, s.joined(), selected), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var infos []store.Info
	for rows.Next() {
		info, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if s.life.gone(plain(info.Owner)) {
			info.Owner = ""
		}
		infos = append(infos, info)
	}
	return infos, rows.Err()
}

// joined are the tables that conditions are about.
func (s *Store) joined() string {
	return `debate d
		LEFT JOIN debate_lease l ON l.id = d.id AND l.owner <> '' AND l.until > ` + s.dialect.now + `
		LEFT JOIN debate_quarantine q ON q.id = d.id`
}

// scan reads a row. What is wrong with its content goes to Info.Err: it ends no list.
func scan(rows *stdsql.Rows) (info store.Info, err error) {
	var state, started, last, encoded, result, owner, reason string
	var count, left int64
	err = rows.Scan(&info.ID, &state, &info.Round, &started, &encoded, &result, &info.Seq, &last, &info.Limit, &owner, &count, &reason, &left)
	if err != nil {
		if info.ID == "" {
			return info, err
		}
		return store.Info{ID: info.ID, Err: fmt.Errorf("sql: the description of %s is damaged: %w", info.ID, err)}, nil
	}
	info.State, info.Owner, info.Quarantine = flow.State(original(state)), original(owner), quarantine(count, reason, left)
	var a about
	err = json.Unmarshal([]byte(encoded), &a)
	info.Flow, info.Format, info.Topic, info.Labels = a.Flow, a.Format, a.Topic, a.Labels
	info.Copied, info.CopiedUnsettled = a.Copied, a.CopiedUnsettled
	if result != "" {
		var o outcome
		err = errors.Join(err, json.Unmarshal([]byte(result), &o))
		info.Spent, info.Unsettled, info.Result = o.Spent, o.Unsettled, o.Result
	}
	var startedErr, lastErr error
	info.StartedAt, startedErr = time.Parse(timeFormat, started)
	info.LastAt, lastErr = time.Parse(timeFormat, last)
	if err := errors.Join(err, startedErr, lastErr); err != nil {
		info.Err = fmt.Errorf("sql: the description of %s is damaged: %w", info.ID, err)
	}
	return info, nil
}

// finds searches for the filter's text in what the database has found.
func (s *Store) finds(ctx context.Context, id string, filter store.Filter) (bool, error) {
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`
		SELECT c.key - d.no * 4294967296, c.last, c.body FROM debate d, debate_commit c
		WHERE d.id = $1 AND c.key >= d.no * 4294967296 AND c.key < (d.no + 1) * 4294967296 AND c.body %s $2 ESCAPE '!'`,
		s.dialect.like), id, pattern(filter.Text))
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c commit
		if err := rows.Scan(&c.after, &c.last, &c.body); err != nil {
			return false, err
		}
		events, err := c.decode()
		if err != nil {
			continue // Read reports damage
		}
		for i := range events {
			if filter.Finds(&events[i]) {
				return true, nil
			}
		}
	}
	return false, rows.Err()
}
