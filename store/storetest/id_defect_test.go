package storetest_test

import (
	"context"
	"errors"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func idDefects() []defect {
	ids := func(f func(id string) string) func(s *spoiled) {
		return func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				return s.good.Append(ctx, f(id), after, writer, events)
			}
			s.onRead = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				return s.good.Read(ctx, f(id), after)
			}
			s.onDelete = func(ctx context.Context, id string) error { return s.good.Delete(ctx, f(id)) }
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				return s.good.Lease(ctx, f(id), owner, d)
			}
			s.onRelease = func(ctx context.Context, id, owner string) error { return s.good.Release(ctx, f(id), owner) }
		}
	}
	return []defect{
		{"ids have no case", []string{"id/upper*", "id/all that*", "lease/another*"}, "", ids(strings.ToLower)},
		{"ids are paths", []string{"id/what is not*"}, "want a *flow.Error of kind validation", ids(path.Base)},
		{"ids are cut", []string{"id/all that*"}, "", ids(func(id string) string { return id[:min(len(id), 127)] })},
		{"an id names files beside", []string{"id/all that*"}, "", ids(func(id string) string { return strings.TrimSuffix(id, ".tmp") })},
		{"a bad id is deleted by its name", []string{"id/what is not*"}, "", func(s *spoiled) {
			s.onDelete = func(ctx context.Context, id string) error { return s.good.Delete(ctx, path.Base(id)) }
		}},
		{"a bad id is a plain error", []string{"id/what is not*"}, "want a *flow.Error of kind validation", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if store.CheckID(id) != nil {
					return errors.New("a bad id")
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
	}
}
