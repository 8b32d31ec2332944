package storetest_test

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/store"
)

func describeDefects() []defect {
	return []defect{
		{"describes no lease", []string{"describe/every*"}, "Describe yields", func(s *spoiled) {
			s.onTell = func(ctx context.Context, id string) (store.Info, error) {
				info, err := s.good.Describe(ctx, id)
				info.Owner = ""
				return info, err
			}
		}},
		{"describes no alarm", []string{"describe/every*"}, "Describe yields", func(s *spoiled) {
			s.onTell = func(ctx context.Context, id string) (store.Info, error) {
				info, err := s.good.Describe(ctx, id)
				info.Alarm = 0
				return info, err
			}
		}},
		{"describes what there is not", []string{"describe/of no*"}, "want flow.ErrNotFound", func(s *spoiled) {
			s.onTell = func(ctx context.Context, id string) (store.Info, error) {
				info, _ := s.good.Describe(ctx, id)
				return info, nil
			}
		}},
		{"fails for damage", []string{"describe/of a damaged*"}, "Describe of", func(s *spoiled) {
			s.onDamaged = func(*store.Info) error { return errors.ErrUnsupported }
		}},
	}
}
