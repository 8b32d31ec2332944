package storetest_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func deleteDefects() []defect {
	deletes := func(f func(s *spoiled, ctx context.Context, id string) error) func(s *spoiled) {
		return func(s *spoiled) { s.onDelete = func(ctx context.Context, id string) error { return f(s, ctx, id) } }
	}
	return []defect{
		{"deletes nothing", []string{"delete/the conversation*", "delete/the id*", "delete/what is not*", "delete/in a loop*", "random/*"}, "", deletes(func(*spoiled, context.Context, string) error { return nil })},
		{"deletes what begins with the id", []string{"delete/the others*"}, "no such conversation", deletes(func(s *spoiled, ctx context.Context, id string) error {
			for info := range s.matches(store.Filter{}) {
				if strings.HasPrefix(info.ID, id) {
					_ = s.good.Delete(ctx, info.ID)
				}
			}
			return nil
		})},
		{"keeps the lease", []string{"delete/the lease*"}, "holds the conversation's lease", deletes(func(s *spoiled, ctx context.Context, id string) error {
			owner := s.owner(id)
			_ = s.good.Delete(ctx, id)
			return s.good.Lease(ctx, id, owner, time.Hour)
		})},
		{"keeps the writers", []string{"delete/nothing of*"}, "want flow.ErrConflict", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				key := fmt.Sprint(id, after, writer)
				if s.shared[key] != nil && s.end(id) > 0 {
					return nil
				}
				s.shared[key] = true
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
		{"what is not there is an error", []string{"delete/what is not*"}, "Delete of", deletes(func(s *spoiled, ctx context.Context, id string) error {
			if s.end(id) == 0 {
				return flow.ErrNotFound
			}
			return s.good.Delete(ctx, id)
		})},
	}
}
