package storetest_test

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/store"
)

func damageDefects() []defect {
	const listed = "damage/others are listed*"
	return []defect{
		{"ends its list at what is damaged", []string{listed}, "List failed", func(s *spoiled) {
			s.onDamaged = func(*store.Info) error { return errors.New("is damaged") }
		}},
		{"says nothing of damage", []string{listed}, "is damaged", func(s *spoiled) {
			s.onDamaged = func(*store.Info) error { return nil }
		}},
		{"knows nothing of what is damaged", []string{listed}, "List yields", func(s *spoiled) {
			s.onDamaged = func(info *store.Info) error {
				*info = store.Info{Err: errors.New("is damaged")}
				return nil
			}
		}},
		{"keeps what is damaged", []string{"damage/others are used*"}, "List yields", func(s *spoiled) {
			s.onDelete = func(ctx context.Context, id string) error {
				if s.isDamaged(id) {
					return nil
				}
				return s.good.Delete(ctx, id)
			}
		}},
	}
}
