package storetest_test

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func quarantineDefects() []defect {
	return []defect{
		{"forgets quarantines", []string{"quarantine/every*", "quarantine/workers*", "quarantine/its time*", "quarantine/of a damaged*"}, "", func(s *spoiled) {
			s.onConfine = func(context.Context, string, store.Quarantine) error { return nil }
		}},
		{"lists no quarantine", []string{"quarantine/every*"}, "List tells", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Quarantine = store.Quarantine{} })
		}},
		{"keeps the first reason", []string{"quarantine/every*"}, "tells of a quarantine", func(s *spoiled) {
			s.onConfine = func(ctx context.Context, id string, q store.Quarantine) error {
				if old, _ := s.good.Quarantine(ctx, id); old.Reason != "" {
					q.Reason = old.Reason
				}
				return s.good.SetQuarantine(ctx, id, q)
			}
		}},
		{"tells what was set in place of what is left", []string{"quarantine/its time*"}, "are left", func(s *spoiled) {
			s.onInquire = func(ctx context.Context, id string) (store.Quarantine, error) {
				q, err := s.good.Quarantine(ctx, id)
				q.Left = flow.Duration(1 << 50)
				return q, err
			}
		}},
		{"has no quarantine in its filter", []string{"quarantine/workers*"}, "List yields", func(s *spoiled) {
			s.filters(func(f *store.Filter) {
				if f.Due {
					f.Due, f.Working, f.Idle = false, true, true
				}
			})
		}},
		{"never lets out", []string{"quarantine/its time*"}, "still not", func(s *spoiled) {
			s.onConfine = func(ctx context.Context, id string, q store.Quarantine) error {
				q.Left *= 1000
				return s.good.SetQuarantine(ctx, id, q)
			}
		}},
		{"does not end a quarantine", []string{"quarantine/it is ended"}, "no value has come", func(s *spoiled) {
			s.onConfine = func(ctx context.Context, id string, q store.Quarantine) error {
				if q == (store.Quarantine{}) {
					return nil
				}
				return s.good.SetQuarantine(ctx, id, q)
			}
		}},
		{"keeps the quarantine of what is deleted", []string{"quarantine/it goes*"}, "quarantine", func(s *spoiled) {
			s.onDelete = func(ctx context.Context, id string) error {
				q, _ := s.good.Quarantine(ctx, id)
				err := s.good.Delete(ctx, id)
				_ = s.good.SetQuarantine(ctx, id, q)
				return err
			}
		}},
	}
}
