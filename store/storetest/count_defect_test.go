package storetest_test

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func countDefects() []defect {
	counts := func(edit func(all []store.StateCount) []store.StateCount) func(s *spoiled) {
		return func(s *spoiled) {
			s.onCount = func(ctx context.Context, filter store.Filter) ([]store.StateCount, error) {
				all, err := store.CountList(ctx, s, filter)
				return edit(all), err
			}
		}
	}
	return []defect{
		{"counts what is over", []string{"count/*"}, "CountStates yields", counts(func(all []store.StateCount) []store.StateCount {
			return append(all, store.StateCount{State: flow.StateCompleted, Count: 1})
		})},
		{"counts no leases", []string{"count/unfinished*"}, "one is held: CountStates yields", counts(func(all []store.StateCount) []store.StateCount {
			for i := range all {
				all[i].Held = false
			}
			return all
		})},
		{"counts from now", []string{"count/unfinished*"}, "nobody has them: CountStates yields", counts(func(all []store.StateCount) []store.StateCount {
			for i := range all {
				all[i].Oldest = 0
			}
			return all
		})},
		{"counts all", []string{"count/of what*"}, "of a tenant: CountStates yields", func(s *spoiled) {
			s.onCount = func(ctx context.Context, _ store.Filter) ([]store.StateCount, error) {
				return store.CountList(ctx, s, store.Filter{})
			}
		}},
	}
}
