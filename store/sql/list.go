package sql

import (
	"context"
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

const (
	// pageDebates is the number of conversations that are read at once.
	pageDebates = 128
	// pageDue is that of conversations that need a process. For each page the database puts all of them in order.
	pageDue = 1024
)

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
	shares := newShares(filter)
	for given := 0; ; {
		size := pageSize(filter, shares != nil, given)
		c := s.conditions(filter, after, gone)
		shares.leaveOut(c)
		infos, err := s.infos(ctx, filter, c, size)
		if err != nil {
			return err
		}
		for _, info := range infos {
			found, err := s.selects(ctx, filter, info)
			if err != nil {
				return err
			}
			if !found || !shares.take(info) {
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

// pageSize returns how many rows the next query asks for.
func pageSize(filter store.Filter, shared bool, given int) int {
	size := pageDebates
	if filter.Due {
		size = pageDue
	}
	if filter.Limit > 0 && !shared {
		size = min(size, filter.Limit-given)
	}
	return size
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
		names[i] = c.list([]any{value})
	}
	c.texts = append(c.texts, fmt.Sprintf(condition, names...))
}

// list returns parameters with these values, with commas between them.
func (c *conditions) list(values []any) string {
	names := make([]string, len(values))
	for i, value := range values {
		c.args = append(c.args, value)
		names[i] = fmt.Sprintf("$%d", len(c.args))
	}
	return strings.Join(names, ", ")
}

// where returns the clause, which is empty if there is no condition.
func (c *conditions) where() string {
	if len(c.texts) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(c.texts, " AND ")
}

// working is exactly the words of an index: the states in which something happens by itself.
const working = `d.state NOT IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')`

// gone returns the owners whose leases are over because their processes are gone, if a filter asks for conversations without one.
func (s *Store) gone(ctx context.Context, filter store.Filter) ([]any, error) {
	if !filter.Idle && !filter.Due {
		return nil, nil
	}
	return s.dead(ctx)
}

// dead returns the owners whose leases are over because their processes are gone.
func (s *Store) dead(ctx context.Context) ([]any, error) {
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
		var states []any
		for _, state := range filter.States {
			states = append(states, plain(string(state)))
		}
		c.add("d.state IN (" + c.list(states) + ")")
		unfinished = unfinished || !slices.Contains(filter.States, flow.StateCompleted) && !slices.Contains(filter.States, flow.StateCanceled)
	}
	if unfinished {
		c.add("d.state NOT IN ('completed', 'canceled')") // exactly the words of the index
	}
	if filter.Working {
		c.add(working)
	}
	if filter.Asking {
		c.add("(d.asked <> '' OR d.state = 'awaitingInput')") // exactly the words of the index
	}
	if filter.Idle || filter.Due {
		over := ""
		if len(gone) > 0 {
			over = " OR l.owner IN (" + c.list(gone) + ")"
		}
		c.add("(l.owner IS NULL" + over + ")")
	}
	if filter.Due {
		c.add("(q.id IS NULL OR q.until <= " + s.dialect.now + ")")
		c.add(s.dialect.due)
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

// infos reads a page of conversations: the first ones that meet the conditions.
func (s *Store) infos(ctx context.Context, filter store.Filter, c *conditions, size int) ([]store.Info, error) {
	order := "ORDER BY d.id"
	if filter.Newest {
		order = "ORDER BY d.id DESC"
	}
	return s.described(ctx, standard{s.read}, fmt.Sprintf("FROM %s %s %s LIMIT %d", s.joined(filter), c.where(), order, size), c.args...)
}

// Describe implements [store.Describer].
func (s *Store) Describe(ctx context.Context, id string) (store.Info, error) {
	if err := store.CheckID(id); err != nil {
		return store.Info{}, err
	}
	info, err := s.describe(ctx, standard{s.read}, id)
	if err != nil && !errors.Is(err, flow.ErrNotFound) {
		err = failed("describe", err)
	}
	return info, err
}

// describe reads the description of a conversation that there is.
func (s *Store) describe(ctx context.Context, on statements, id string) (store.Info, error) {
	infos, err := s.described(ctx, on, "FROM "+s.joined(store.Filter{})+" WHERE d.id = $1", id)
	if err == nil && len(infos) == 0 {
		err = flow.ErrNotFound
	}
	if err != nil {
		return store.Info{}, err
	}
	return infos[0], nil
}

// described reads the descriptions of the conversations that the end of a query selects.
func (s *Store) described(ctx context.Context, on statements, selected string, args ...any) (infos []store.Info, err error) {
	err = on.each(ctx, func(scan scanner) error {
		info, err := infoFrom(scan)
		if err != nil {
			return err
		}
		if s.life.gone(plain(info.Owner)) {
			info.Owner = ""
		}
		infos = append(infos, info)
		return nil
	}, fmt.Sprintf(`
		SELECT d.id, d.state, d.round, d.started, d.about, d.result, d.seq, d.at, d.hard, d.since, d.asked, d.wake, d.due,
			d.due - %[1]s, coalesce(l.owner, ''), coalesce(q.count, 0), coalesce(q.reason, ''), coalesce(q.until - %[1]s, 0) %[2]s`,
		s.dialect.now, selected), args...)
	return infos, err
}

// joined are the tables that the conditions of a filter are about.
func (s *Store) joined(filter store.Filter) string {
	index := ""
	if filter.Due {
		index = s.dialect.dueIndex
	}
	return `debate d ` + index + `
		LEFT JOIN debate_lease l ON l.id = d.id AND l.owner <> '' AND l.until > ` + s.dialect.now + `
		LEFT JOIN debate_quarantine q ON q.id = d.id`
}

// infoFrom reads a row. What is wrong with its content goes to Info.Err: it ends no list.
func infoFrom(scan scanner) (info store.Info, err error) {
	var state, started, last, encoded, result, since, asking, owner, reason string
	var wake, due, alarm, count, left int64
	err = scan(&info.ID, &state, &info.Round, &started, &encoded, &result, &info.Seq, &last, &info.Limit, &since, &asking, &wake, &due,
		&alarm, &owner, &count, &reason, &left)
	if err != nil {
		if info.ID == "" {
			return info, err
		}
		return store.Info{ID: info.ID, Err: fmt.Errorf("sql: the description of %s is damaged: %w", info.ID, err)}, nil
	}
	info.State, info.Owner, info.Quarantine = flow.State(original(state)), original(owner), quarantine(count, reason, left)
	if info.Alarm = alarmIn(due, alarm); wake > 0 {
		info.Wake = time.UnixMicro(wake).UTC()
	}
	var a about
	err = json.Unmarshal([]byte(encoded), &a)
	info.Flow, info.Format, info.Topic, info.Labels = a.Flow, a.Format, a.Topic, a.Labels
	info.Copied, info.CopiedUnsettled = a.Copied, a.CopiedUnsettled
	if result != "" {
		var o outcome
		err = errors.Join(err, json.Unmarshal([]byte(result), &o))
		info.Spent, info.Unsettled, info.Result = o.Spent, o.Unsettled, o.Result
	}
	var startedErr, lastErr, sinceErr error
	info.StartedAt, startedErr = time.Parse(timeFormat, started)
	info.LastAt, lastErr = time.Parse(timeFormat, last)
	if since != "" {
		info.Since, sinceErr = time.Parse(timeFormat, since)
	}
	if err := errors.Join(err, startedErr, lastErr, sinceErr, askedIn(asking, &info)); err != nil {
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
