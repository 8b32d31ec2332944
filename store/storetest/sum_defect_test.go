package storetest_test

import (
	"context"

	"github.com/agonist-dev/debate/store"
)

func sumDefects() []defect {
	return []defect{
		{"forgets limits", []string{"sum/what*"}, "SumList yields", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Limit = 0 })
		}},
		{"sums up what was copied", []string{"sum/what*"}, "a fork counts without what it has copied: SumOf yields", func(s *spoiled) {
			s.onSum = func(ctx context.Context, filter store.Filter) (sum store.Sum, err error) {
				for info, err := range s.List(ctx, filter) {
					if err != nil {
						return sum, err
					}
					info.Copied = 0
					sum.Add(&info)
				}
				return sum, nil
			}
		}},
		{"sums up all", []string{"sum/of what*"}, "of a tenant: SumOf yields", func(s *spoiled) {
			s.onSum = func(ctx context.Context, _ store.Filter) (store.Sum, error) {
				return store.SumList(ctx, s, store.Filter{})
			}
		}},
	}
}
