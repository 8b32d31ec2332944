package sql

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// CountStates implements [store.StateCounter] by one statement. If the filter has conditions that the database alone cannot decide (see
// [Store.Sum]), CountStates lists the conversations.
func (s *Store) CountStates(ctx context.Context, filter store.Filter) ([]store.StateCount, error) {
	if !decides(filter) {
		return store.CountList(ctx, s, filter)
	}
	counts, err := s.countStates(ctx, filter)
	return counts, failed("count states", err)
}

func (s *Store) countStates(ctx context.Context, filter store.Filter) (counts []store.StateCount, err error) {
	gone, err := s.dead(ctx)
	if err != nil {
		return nil, err
	}
	filter.Unfinished = true
	c := s.conditions(filter, "", gone)
	held := "l.owner IS NOT NULL"
	if len(gone) > 0 {
		held += " AND l.owner NOT IN (" + c.list(gone) + ")"
	}
	first, rang := "min(CASE WHEN d.since = '' THEN d.at ELSE d.since END)", "0"
	if filter.Due {
		first, rang = "coalesce(min(CASE WHEN d.due > 0 THEN NULL ELSE d.at END), '')", "coalesce(min(CASE WHEN d.due > 0 THEN d.due END), 0)"
	}
	query := `SELECT d.state, CASE WHEN ` + held + ` THEN 1 ELSE 0 END, CASE WHEN q.until > ` + s.dialect.began + ` THEN 1 ELSE 0 END,
			count(*), ` + first + `, ` + rang + `, ` + s.dialect.now + `
		FROM ` + s.joined(filter) + ` ` + c.where() + ` GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
	err = standard{s.read}.each(ctx, func(scan scanner) error {
		var count store.StateCount
		var state, since string
		var holders, quarantines int
		var rang, now int64
		if err := scan(&state, &holders, &quarantines, &count.Count, &since, &rang, &now); err != nil {
			return err
		}
		count.State, count.Held, count.Quarantined = flow.State(original(state)), holders > 0, quarantines > 0
		if first, err := time.Parse(timeFormat, since); err == nil {
			count.Oldest = max(0, time.UnixMicro(now).Sub(first))
		}
		if rang > 0 {
			count.Oldest = max(count.Oldest, time.Duration(now-rang)*time.Microsecond)
		}
		counts = append(counts, count)
		return nil
	}, query, c.args...)
	return counts, err
}
