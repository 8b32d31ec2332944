package storetest_test

import (
	"context"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func alarmDefects() []defect {
	all := []string{"alarm/every*", "alarm/a conversation*", "alarm/it rings*", "alarm/it wakes*", "alarm/a lease*"}
	return []defect{
		{"forgets alarms", all, "", func(s *spoiled) {
			s.onAlarm = func(context.Context, string, int64, time.Duration) error { return nil }
		}},
		{"never rings", []string{"alarm/it rings*", "alarm/it wakes*"}, "still not", func(s *spoiled) {
			s.onAlarm = func(ctx context.Context, id string, seq int64, d time.Duration) error {
				return s.good.SetAlarm(ctx, id, seq, 1000*d)
			}
		}},
		{"has no alarms in its filter", []string{"alarm/a conversation*"}, "b needs nobody yet: List yields", func(s *spoiled) {
			s.filters(func(f *store.Filter) {
				if f.Due {
					f.Due, f.Working, f.Idle = false, true, true
				}
			})
		}},
		{"wakes nobody who waits", []string{"alarm/it wakes*"}, "still not", func(s *spoiled) {
			s.filters(func(f *store.Filter) { f.Working = f.Working || f.Due })
		}},
		{"keeps the alarm of a log that grows", []string{"alarm/an append*"}, "the log has grown", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				info, _ := s.good.Describe(ctx, id)
				err := s.good.Append(ctx, id, after, writer, events)
				if err == nil && info.Alarm > 0 {
					err = s.good.SetAlarm(ctx, id, after+int64(len(events)), time.Duration(info.Alarm))
				}
				return err
			}
		}},
		{"does not know how long a person has", []string{"alarm/a log*"}, "it waits", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				events = slices.Clone(events)
				for i := range events {
					if q, ok := events[i].Body.(*flow.Questions); ok {
						events[i].Body = &flow.Questions{Open: q.Open, Since: q.Since}
					}
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
		{"removes the alarm with a lease", []string{"alarm/a lease*"}, "it was held again", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				if err := s.good.SetAlarm(ctx, id, s.end(id), 0); err != nil {
					return err
				}
				return s.good.Lease(ctx, id, owner, d)
			}
		}},
		{"sets the alarm of any log", []string{"alarm/of a log*"}, "no log ends there", func(s *spoiled) {
			s.onAlarm = func(ctx context.Context, id string, _ int64, d time.Duration) error {
				return s.good.SetAlarm(ctx, id, s.end(id), d)
			}
		}},
		{"misses a conversation", []string{"alarm/of no*"}, "SetAlarm of", func(s *spoiled) {
			s.onAlarm = func(ctx context.Context, id string, seq int64, d time.Duration) error {
				if s.end(id) == 0 {
					return flow.ErrNotFound
				}
				return s.good.SetAlarm(ctx, id, seq, d)
			}
		}},
		{"keeps the alarm of what is deleted", []string{"alarm/it goes*"}, "another conversation of this id", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				err := s.good.Append(ctx, id, after, writer, events)
				if err == nil && after == 0 {
					err = s.good.SetAlarm(ctx, id, int64(len(events)), time.Hour)
				}
				return err
			}
		}},
	}
}
