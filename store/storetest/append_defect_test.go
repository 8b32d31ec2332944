package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

type appending = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error

func appendDefects() []defect {
	appends := func(f func(s *spoiled) appending) func(s *spoiled) { return func(s *spoiled) { s.onAppend = f(s) } }
	return []defect{
		{"keeps nothing", []string{"append/what is appended*", "append/through*", "append/needs*", "append/canceled", "append/many*", "read/from*"}, "Read of", appends(func(*spoiled) appending {
			return func(context.Context, string, int64, string, []flow.Event) error { return nil }
		})},
		{"appends at the end, wherever the caller thinks it is", []string{"append/a gap*", "append/a place*", "append/a conflict*", "append/a writer that*", "crowd/of many*"}, "", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, _ int64, writer string, events []flow.Event) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.good.Append(ctx, id, s.end(id), writer, events)
			}
		})},
		{"says conflict in words only", []string{"append/a gap*", "append/a place*", "append/a conflict*", "crowd/of many*", "random/*"}, "flow.ErrConflict", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if err := s.good.Append(ctx, id, after, writer, events); err != nil {
					return errors.New(err.Error())
				}
				return nil
			}
		})},
		{"each handle believes what it has seen", []string{"append/a conflict*", "append/a writer that*", "delete/the id*"}, "Append after", appends(func(s *spoiled) appending {
			seen := map[string]int64{}
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if n, ok := seen[id]; ok && n == after {
					after = s.end(id)
				}
				err := s.good.Append(ctx, id, after, writer, events)
				if err == nil {
					seen[id] = after + int64(len(events))
				}
				return err
			}
		})},
		{"knows no second try", []string{"append/the second try of*", "append/the second try succeeds*", "crowd/one commit*", "random/*"}, "", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, _ string, events []flow.Event) error {
				return s.good.Append(ctx, id, after, "", events)
			}
		})},
		{"knows a second try of the same handle only", []string{"append/the second try succeeds*"}, "through a handle", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if writer != "" {
					writer += fmt.Sprint(" of handle ", s.handle)
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"nobody is a writer", []string{"append/the second try without*"}, "want flow.ErrConflict", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				return s.good.Append(ctx, id, after, "writer "+writer, events)
			}
		})},
		{"appends a second try again", []string{"append/the second try of*"}, "not what was appended", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if n := s.end(id); n > after {
					after = n
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"a writer's second try may be any", []string{"append/a second try with more*"}, "want flow.ErrConflict", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				err := s.good.Append(ctx, id, after, writer, events)
				if errors.Is(err, flow.ErrConflict) && after < s.end(id) && writer == "w" {
					return nil
				}
				return err
			}
		})},
		{"appends what does not overlap", []string{"append/all events*"}, "not what was appended", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				err := s.good.Append(ctx, id, after, writer, events)
				if n := s.end(id); err != nil && after >= 0 && n > after && n < after+int64(len(events)) {
					_ = s.good.Append(ctx, id, n, writer, events[n-after:])
				}
				return err
			}
		})},
		{"takes the events before one that fails", []string{"append/all events*"}, "not what was appended", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				for i := range events {
					if _, err := json.Marshal(events[i]); err != nil {
						return errors.Join(err, s.good.Append(ctx, id, after, writer, events[:i]))
					}
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"appends one event at a time", []string{"crowd/readers*", "append/the second try of*"}, "", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				for i := range events {
					for range 100 { // readers come between two of them, also on a busy machine
						runtime.Gosched()
					}
					if err := s.good.Append(ctx, id, after+int64(i), writer, events[i:i+1]); err != nil {
						return err
					}
				}
				return nil
			}
		})},
		{"an empty append begins a conversation", []string{"append/without*"}, "", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if len(events) == 0 {
					events = []flow.Event{{Seq: 1, Body: &flow.RetriedNow{}}}
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"uses the caller's slice", []string{"append/the events may*"}, "written into the caller's slice", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				events = append(events, flow.Event{Body: &flow.RetriedNow{}})
				return s.good.Append(ctx, id, after, writer, events[:len(events)-1])
			}
		})},
		{"writes later, from the caller's slice", []string{"append/the events may*"}, "not what was appended", func(s *spoiled) {
			kept := map[int64]*flow.Event{}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				for i := range events {
					kept[after+int64(i)+1] = &events[i]
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
			s.events(func(e *flow.Event) { *e = *kept[e.Seq] })
		}},
		{"wants a lease", []string{"append/needs*", "lease/the list*"}, "holds the conversation's lease", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if owner := s.owner(id); owner != "" && owner != writer {
					return flow.ErrLeased
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"forgets with its handle", []string{"append/is kept*", "append/through*"}, "", func(s *spoiled) {
			own := &store.Memory{}
			s.onAppend, s.onRead, s.onList = own.Append, own.Read, own.List
		}},
		{"loses half of a commit whose context ends", []string{"append/canceled"}, "there are 2", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if ctx.Err() != nil {
					return s.good.Append(ctx, id, after, writer, events[:len(events)/2])
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"takes so many parameters", []string{"append/many*"}, "too many", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if 4*len(events) > 65535 {
					return errors.New("too many parameters")
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"knows a second try of short commits only", []string{"append/many*"}, "failed", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if len(events) > 100 {
					writer = ""
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"fails when it is busy", []string{"crowd/many conversations*", "crowd/all*", "list/in pages", "list/beside*"}, "busy", func(s *spoiled) {
			s.mu.Lock()
			defer s.mu.Unlock()
			busy, ok := s.shared["busy"].(*atomic.Bool)
			if !ok {
				busy = &atomic.Bool{}
				s.shared["busy"] = busy
			}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if !busy.CompareAndSwap(false, true) {
					return errors.New("busy")
				}
				defer busy.Store(false)
				<-time.NewTimer(100 * time.Microsecond).C // as a disk takes
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
	}
}
