package sql

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Sum implements [store.Summer] by one statement. If some of the descriptions are damaged, or the filter has conditions that the
// database alone cannot decide (Text, After, Limit, Each, a long label, a year of five digits), Sum lists the conversations. The JSON
// numbers of a conversation are exact up to 2,000 USD.
func (s *Store) Sum(ctx context.Context, filter store.Filter) (store.Sum, error) {
	if !decides(filter) {
		return store.SumList(ctx, s, filter)
	}
	gone, err := s.gone(ctx, filter)
	if err != nil {
		return store.Sum{}, failed("sum", err)
	}
	sum, err := s.sum(ctx, filter, s.conditions(filter, "", gone))
	if err != nil && ctx.Err() == nil {
		return store.SumList(ctx, s, filter) // it reads on behind what is damaged, and caps what is too large
	}
	return sum, failed("sum", err)
}

// decides reports whether the conditions of a query are exactly those of a filter.
func decides(filter store.Filter) bool {
	for name, value := range filter.Labels {
		if !uncut(pair(name, value)) {
			return false
		}
	}
	each := filter.Per != "" && filter.Each > 0
	return filter.Text == "" && filter.After == "" && filter.Limit == 0 && !each && tellable(filter.From) && tellable(filter.Until)
}

func (s *Store) sum(ctx context.Context, filter store.Filter, c *conditions) (sum store.Sum, err error) {
	number := func(name, column string, path ...string) string {
		return fmt.Sprintf(", coalesce(%s, 0) AS %s", s.dialect.json(column, path...), name)
	}
	amount := func(name, column string, path ...string) string {
		return fmt.Sprintf(", CAST(round(coalesce(%s, 0) * %d) AS bigint) AS %s", s.dialect.json(column, path...), flow.USD, name)
	}
	total := func(expression string) string {
		return fmt.Sprintf(", CAST(coalesce(sum(%s), 0) AS bigint)", expression)
	}
	beyond := func(a, b string) string {
		return fmt.Sprintf("CASE WHEN %[1]s > %[2]s THEN %[1]s - (%[2]s) ELSE 0 END", a, b)
	}
	const used = "(CASE WHEN spent + most > copied + copied_most THEN spent + most ELSE copied + copied_most END)"
	query := "SELECT count(*)" + total(beyond("spent", "copied")) + total(beyond("most", "copied_most")) +
		total(beyond("broken", "copied_broken")) + total(beyond("unreported", "copied_unreported")) +
		total("CASE WHEN ended = 0 THEN "+beyond("hard", used)+" ELSE 0 END") +
		total("CASE WHEN ended = 0 AND hard = 0 THEN 1 ELSE 0 END") +
		" FROM (SELECT CASE WHEN d.state IN ('completed', 'canceled') THEN 1 ELSE 0 END AS ended, d.hard AS hard" +
		amount("spent", "d.result", "spent") + amount("most", "d.result", "atMost") +
		number("broken", "d.result", "brokenOff") + number("unreported", "d.result", "unreported") +
		amount("copied", "d.about", "copied") + amount("copied_most", "d.about", "copiedUnsettled", "atMost") +
		number("copied_broken", "d.about", "copiedUnsettled", "brokenOff") +
		number("copied_unreported", "d.about", "copiedUnsettled", "unreported") +
		" FROM " + s.joined(filter) + " " + c.where() + ") x"
	err = s.read.QueryRowContext(ctx, query, c.args...).Scan(
		&sum.Count, &sum.Spent, &sum.AtMost, &sum.BrokenOff, &sum.Unreported, &sum.Left, &sum.Unlimited)
	return sum, err
}
