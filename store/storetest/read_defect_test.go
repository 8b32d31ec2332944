package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/agonist-dev/debate/flow"
)

type reading = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error]

func readDefects() []defect {
	reads := func(f func(s *spoiled) reading) func(s *spoiled) { return func(s *spoiled) { s.onRead = f(s) } }
	return []defect{
		{"an unknown conversation is an empty one", []string{"read/an unknown*", "delete/the conversation is gone", "lease/a lease is no*"}, "want flow.ErrNotFound", reads(func(s *spoiled) reading {
			return func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				if s.end(id) == 0 {
					return func(func(flow.Event, error) bool) {}
				}
				return s.good.Read(ctx, id, after)
			}
		})},
		{"the cursor is an index", []string{"read/from*", "append/many*"}, "not what was appended", reads(func(s *spoiled) reading {
			return func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				return s.good.Read(ctx, id, max(after-1, 0))
			}
		})},
		{"beyond the end is not found", []string{"read/beyond*"}, "Read of", reads(func(s *spoiled) reading {
			return func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				if after >= s.end(id) {
					return s.good.Read(ctx, "none", 0)
				}
				return s.good.Read(ctx, id, after)
			}
		})},
		{"reads what it remembers", []string{"read/sees*", "append/through*", "delete/the id*"}, "", reads(func(s *spoiled) reading {
			known := map[string]iter.Seq2[flow.Event, error]{}
			return func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				key := fmt.Sprint(id, after)
				if known[key] == nil {
					var events []flow.Event
					for e, err := range s.good.Read(ctx, id, after) {
						if err == nil {
							events = append(events, e)
						}
					}
					known[key] = func(yield func(flow.Event, error) bool) {
						for _, e := range events {
							if !yield(e, nil) {
								return
							}
						}
					}
				}
				return known[key]
			}
		})},
		{"the context means nothing to Read", []string{"read/stops with its*"}, "although its context was over", reads(func(s *spoiled) reading {
			return func(_ context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				return s.good.Read(context.Background(), id, after)
			}
		})},
		{"holds a lock while it reads", []string{"read/the loop*"}, "takes more than", func(s *spoiled) {
			s.onRead = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				return func(yield func(flow.Event, error) bool) {
					release, err := s.exclusive()
					if err != nil {
						yield(flow.Event{}, err)
						return
					}
					defer release()
					s.good.Read(ctx, id, after)(yield)
				}
			}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				release, err := s.exclusive()
				if err != nil {
					return err
				}
				defer release()
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
		{"a loop that is left holds a lock", []string{"read/stops with the*"}, "locked", func(s *spoiled) {
			locked := false
			s.onRead = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				return func(yield func(flow.Event, error) bool) {
					if locked {
						yield(flow.Event{}, errors.New("locked"))
						return
					}
					for e, err := range s.good.Read(ctx, id, after) {
						if !yield(e, err) {
							locked = true
							return
						}
					}
				}
			}
		}},
		{"a sequence is read once", []string{"read/a sequence*"}, "something else each time", reads(func(s *spoiled) reading {
			return func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
				once := false
				return func(yield func(flow.Event, error) bool) {
					if !once {
						once = true
						s.good.Read(ctx, id, after)(yield)
					}
				}
			}
		})},
	}
}
