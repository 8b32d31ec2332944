package storetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestMemoryStore(t *testing.T) { storetest.Run(t, storage(nil)) }

// asJSON keeps events as most stores do: it writes them as JSON and reads them back.
func asJSON(s *spoiled) {
	s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
		if len(events) == 0 {
			return s.good.Append(ctx, id, after, writer, nil)
		}
		data, err := json.Marshal(events)
		if err != nil {
			return err
		}
		var copied []flow.Event
		if err := json.Unmarshal(data, &copied); err != nil {
			return err
		}
		return s.good.Append(ctx, id, after, writer, copied)
	}
}

// A store that writes JSON can pass: what the suite appends comes back through encoding/json.
func TestAStoreOfJSONPasses(t *testing.T) { storetest.Run(t, storage(asJSON)) }

// silent is a store that cannot watch.
type silent struct{ store.Store }

func TestAStoreThatCannotWatchIsSkippedThere(t *testing.T) {
	fresh := func(testing.TB) storetest.Storage {
		s := silent{&store.Memory{}}
		return storetest.Storage{Open: func(testing.TB) store.Store { return s }}
	}
	skipped := 0
	for _, name := range storetest.Names() {
		if strings.HasPrefix(name, "watch/") {
			skipped++
			faults := storetest.Examine(t, name, time.Second, fresh)
			assert.Equal(t, []string{"skipped: the store is no debate.Watcher"}, faults, name)
		}
	}
	assert.NotZero(t, skipped)
}

// The suite closes every handle that it opens.
func TestHandlesAreClosed(t *testing.T) {
	for _, name := range []string{"append/is kept when its handle is closed", "random/seed 0"} {
		var open, most int
		fresh := func(testing.TB) storetest.Storage {
			s := &store.Memory{}
			return storetest.Storage{Open: func(t testing.TB) store.Store {
				open, most = open+1, max(most, open+1)
				t.Cleanup(func() { open-- })
				return s
			}}
		}
		assert.Empty(t, storetest.Examine(t, name, time.Second, fresh))
		assert.Zero(t, open, name)
		assert.LessOrEqual(t, most, 3, "%s: they are closed while it runs", name)
	}
}

// Every field of every event that can be stored is tried.
func TestAllFieldsAreTried(t *testing.T) {
	tried := map[flow.EventKind]bool{flow.EventChunk: true} // live only
	for _, e := range storetest.Kinds() {
		tried[e.Kind()] = true
		if e.Kind() != flow.EventAck { // which has no fields
			assert.Empty(t, unset(reflect.ValueOf(e.Body), string(e.Kind())))
		}
	}
	source, err := os.ReadFile("../../flow/event.go")
	require.NoError(t, err)
	kinds := regexp.MustCompile(`(?m)^\tEvent\w+ +EventKind = "(\w+)"`).FindAllSubmatch(source, -1)
	require.Greater(t, len(kinds), 15)
	for _, kind := range kinds {
		assert.True(t, tried[flow.EventKind(kind[1])], "%s", kind[1])
	}
}

// unset returns the fields that are zero.
func unset(v reflect.Value, name string) (fields []string) {
	if v.IsZero() {
		return []string{name}
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[flow.Value]() {
		return nil
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			fields = append(fields, unset(v.Field(i), name+"."+f.Name)...)
		}
	}
	return fields
}

// defect is one clause of the contract broken, the checks that notice, and a part of what they say.
type defect struct {
	name   string
	checks []string // a * at the end stands for the rest of several names
	want   string
	spoil  func(s *spoiled)
}

func defects() []defect {
	return slices.Concat(appendDefects(), readDefects(), eventDefects(), idDefects(), deleteDefects(), leaseDefects(), listDefects(),
		searchDefects(), watchDefects())
}

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
		{"says conflict in words only", []string{"append/a gap*", "append/a place*", "append/a conflict*", "crowd/of many*", "random/*"}, "debate.ErrConflict", appends(func(s *spoiled) appending {
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
		{"nobody is a writer", []string{"append/the second try without*"}, "want debate.ErrConflict", appends(func(s *spoiled) appending {
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
		{"a writer's second try may be any", []string{"append/a second try with more*"}, "want debate.ErrConflict", appends(func(s *spoiled) appending {
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
					runtime.Gosched()
					if err := s.good.Append(ctx, id, after+int64(i), writer, events[i:i+1]); err != nil {
						return err
					}
				}
				return nil
			}
		})},
		{"an empty append begins a debate", []string{"append/without*"}, "", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if len(events) == 0 {
					events = []flow.Event{{Seq: 1, Body: &flow.Acknowledge{}}}
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		})},
		{"uses the caller's slice", []string{"append/the events may*"}, "written into the caller's slice", appends(func(s *spoiled) appending {
			return func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				events = append(events, flow.Event{Body: &flow.Acknowledge{}})
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
		{"wants a lease", []string{"append/needs*", "lease/the list*"}, "held by another", appends(func(s *spoiled) appending {
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
		{"fails when it is busy", []string{"crowd/many debates*", "crowd/all*", "list/in pages", "list/beside*"}, "busy", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if !s.mu.TryLock() {
					return errors.New("busy")
				}
				defer s.mu.Unlock()
				<-time.NewTimer(100 * time.Microsecond).C // as a disk takes
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
	}
}

type reading = func(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error]

func readDefects() []defect {
	reads := func(f func(s *spoiled) reading) func(s *spoiled) { return func(s *spoiled) { s.onRead = f(s) } }
	return []defect{
		{"an unknown debate is an empty one", []string{"read/an unknown*", "delete/the debate is gone", "lease/a lease is no*"}, "want debate.ErrNotFound", reads(func(s *spoiled) reading {
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
					s.mu.Lock()
					defer s.mu.Unlock()
					s.good.Read(ctx, id, after)(yield)
				}
			}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				s.mu.Lock()
				defer s.mu.Unlock()
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

// rewrite makes of each text in an event another one.
func rewrite(e *flow.Event, edit func(text string) string) {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return edit(v)
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		}
		return v
	}
	data, _ := json.Marshal(e)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	_ = decoder.Decode(&v)
	data, _ = json.Marshal(walk(v))
	var out flow.Event
	if json.Unmarshal(data, &out) == nil {
		*e = out
	}
}

func eventDefects() []defect {
	reads := func(edit func(e *flow.Event)) func(s *spoiled) { return func(s *spoiled) { s.events(edit) } }
	texts := func(edit func(text string) string) func(s *spoiled) {
		return reads(func(e *flow.Event) { rewrite(e, edit) })
	}
	return []defect{
		{"keeps no bodies", []string{"event/every*", "event/long*", "event/numbers"}, "not what was appended", reads(func(e *flow.Event) {
			e.Body = bodyOf(e.Kind())
		})},
		{"keeps no kinds of others", []string{"event/kinds of*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Foreign](*e) != nil {
				e.Body = &flow.Acknowledge{}
			}
		})},
		{"keeps no kinds", []string{"event/every*"}, "kind-ack", reads(func(e *flow.Event) { e.Body = &flow.Foreign{JSON: json.RawMessage("{}")} })},
		{"knows the kinds of an older release", []string{"event/every*"}, "kind-opened", reads(func(e *flow.Event) {
			if e.Kind() == flow.EventOpened {
				e.Body = &flow.Opened{}
			}
		})},
		{"ends a text at NUL", []string{"event/hostile*"}, "NUL", texts(func(text string) string { text, _, _ = strings.Cut(text, "\x00"); return text })},
		{"knows one kind of line", []string{"event/hostile*"}, "lines", texts(func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") })},
		{"reads a line of its own", []string{"event/hostile*"}, "seq", texts(func(text string) string {
			if strings.Contains(text, `{"seq":`) {
				return ""
			}
			return text
		})},
		{"has three bytes for a character", []string{"event/hostile*"}, "emoji", texts(func(text string) string { return strings.ReplaceAll(text, "\U0010ffff", "?") })},
		{"has 64 KiB for a line", []string{"event/long*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Turn](*e) != nil && len(body.As[flow.Turn](*e).Text) > 64<<10-50 {
				turn := *body.As[flow.Turn](*e)
				turn.Text = turn.Text[:64<<10-50]
				e.Body = &turn
			}
		})},
		{"reads JSON into maps", []string{"event/JSON*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Sent](*e) != nil {
				var v any
				_ = json.Unmarshal(body.As[flow.Sent](*e).Payload, &v)
				data, _ := json.Marshal(v)
				e.Body = &flow.Sent{Trigger: body.As[flow.Sent](*e).Trigger, Payload: data}
			}
		})},
		{"has microseconds", []string{"event/times", "event/every*"}, "not what was appended", reads(func(e *flow.Event) { e.At = e.At.Truncate(time.Microsecond) })},
		{"has one zone", []string{"event/times"}, "not what was appended", reads(func(e *flow.Event) { e.At = e.At.UTC() })},
		{"numbers are floats", []string{"event/numbers"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Charge](*e) != nil {
				spend := *body.As[flow.Charge](*e)
				spend.Took = time.Duration(float64(spend.Took))
				e.Body = &spend
			}
		})},
	}
}

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
		{"ids are paths", []string{"id/what is not*"}, "want a *debate.Error of kind validation", ids(path.Base)},
		{"ids are cut", []string{"id/all that*"}, "", ids(func(id string) string { return id[:min(len(id), 127)] })},
		{"an id names files beside", []string{"id/all that*"}, "", ids(func(id string) string { return strings.TrimSuffix(id, ".tmp") })},
		{"a bad id is deleted by its name", []string{"id/what is not*"}, "", func(s *spoiled) {
			s.onDelete = func(ctx context.Context, id string) error { return s.good.Delete(ctx, path.Base(id)) }
		}},
		{"a bad id is a plain error", []string{"id/what is not*"}, "want a *debate.Error of kind validation", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				if store.CheckID(id) != nil {
					return errors.New("a bad id")
				}
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
	}
}

func deleteDefects() []defect {
	deletes := func(f func(s *spoiled, ctx context.Context, id string) error) func(s *spoiled) {
		return func(s *spoiled) { s.onDelete = func(ctx context.Context, id string) error { return f(s, ctx, id) } }
	}
	return []defect{
		{"deletes nothing", []string{"delete/the debate*", "delete/the id*", "delete/what is not*", "delete/in a loop*", "random/*"}, "", deletes(func(*spoiled, context.Context, string) error { return nil })},
		{"deletes what begins with the id", []string{"delete/the others*"}, "no such debate", deletes(func(s *spoiled, ctx context.Context, id string) error {
			for info := range s.matches(store.Filter{}) {
				if strings.HasPrefix(info.ID, id) {
					_ = s.good.Delete(ctx, info.ID)
				}
			}
			return nil
		})},
		{"keeps the lease", []string{"delete/the lease*"}, "held by another", deletes(func(s *spoiled, ctx context.Context, id string) error {
			owner := s.owner(id)
			_ = s.good.Delete(ctx, id)
			return s.good.Lease(ctx, id, owner, time.Hour)
		})},
		{"keeps the writers", []string{"delete/nothing of*"}, "want debate.ErrConflict", func(s *spoiled) {
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

type leasing = func(ctx context.Context, id, owner string, d time.Duration) error

func leaseDefects() []defect {
	leases := func(f func(s *spoiled) leasing) func(s *spoiled) { return func(s *spoiled) { s.onLease = f(s) } }
	return []defect{
		{"everybody gets a lease", []string{"lease/one owner*", "lease/another*", "lease/of many who ask one*", "random/*"}, "", leases(func(*spoiled) leasing {
			return func(context.Context, string, string, time.Duration) error { return nil }
		})},
		{"refuses in words only", []string{"lease/one owner*"}, "want debate.ErrLeased", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				if err := s.good.Lease(ctx, id, owner, d); err != nil {
					return errors.New(err.Error())
				}
				return nil
			}
		})},
		{"owners have no case", []string{"lease/one owner*", "lease/a stranger*"}, "want debate.ErrLeased", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				return s.good.Lease(ctx, id, strings.ToLower(owner), d)
			}
			s.onRelease = func(ctx context.Context, id, owner string) error {
				return s.good.Release(ctx, id, strings.ToLower(owner))
			}
		}},
		{"there is one lease", []string{"lease/another*"}, "Lease of", func(s *spoiled) {
			s.onLease = func(ctx context.Context, _, owner string, d time.Duration) error {
				return s.good.Lease(ctx, "lease", owner, d)
			}
		}},
		{"knows no renewal", []string{"lease/its owner renews*", "lease/its owner comes*"}, "Lease of", func(s *spoiled) {
			n := 0
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				n++
				return s.good.Lease(ctx, id, fmt.Sprint(owner, s.handle, n), d)
			}
		}},
		{"a renewal changes no time", []string{"lease/its owner renews*", "lease/a renewal*"}, "", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				if end, ok := s.shared[id+" "+owner].(time.Time); ok && time.Until(end) > 0 {
					d = time.Until(end)
				}
				s.shared[id+" "+owner] = time.Now().Add(d)
				return s.good.Lease(ctx, id, owner, d)
			}
		}},
		{"a renewal never shortens", []string{"lease/a renewal*"}, "a lease ends that was shortened", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				longest, _ := s.shared[id+owner].(time.Duration)
				s.shared[id+owner] = max(d, longest)
				return s.good.Lease(ctx, id, owner, max(d, longest))
			}
		}},
		{"a lease never ends", []string{"lease/it ends*", "lease/it does not*", "lease/of many who ask for one*"}, "a lease ends", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, _ time.Duration) error {
				return s.good.Lease(ctx, id, owner, time.Hour)
			}
		})},
		{"a lease ends early", []string{"lease/it does not*"}, "has ended after", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				return s.good.Lease(ctx, id, owner, d/2)
			}
		})},
		{"looks first and takes then", []string{"lease/of many who ask one*"}, "owners who ask at once", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				askers, _ := s.shared[id].(int)
				s.shared[id] = askers + 1
				if askers == 1 {
					return nil
				}
				return s.good.Lease(ctx, id, owner, d)
			}
		}},
		{"gives nothing back", []string{"lease/a release*", "lease/the list*", "list/by owner"}, "", func(s *spoiled) {
			s.onRelease = func(context.Context, string, string) error { return nil }
		}},
		{"what is given back unbegun is cleared away", []string{"crowd/leases*"}, "no such debate", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				if s.end(id) > 0 {
					return s.good.Release(ctx, id, owner)
				}
				<-time.NewTimer(time.Millisecond).C
				return s.good.Delete(ctx, id)
			}
		}},
		{"anybody gives back", []string{"lease/a stranger*"}, "want debate.ErrLeased", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				for _, owner := range []string{owner, "me", "you"} {
					_ = s.good.Release(ctx, id, owner)
				}
				return nil
			}
		}},
		{"a stranger's release is an error", []string{"lease/a stranger*"}, "Release of", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				if s.owner(id) != owner {
					return flow.ErrLeased
				}
				return s.good.Release(ctx, id, owner)
			}
		}},
		{"a lease begins a debate", []string{"lease/a lease is no*"}, "", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				if s.end(id) == 0 {
					_ = s.good.Append(ctx, id, 0, "", []flow.Event{{Seq: 1, Body: &flow.Acknowledge{}}})
				}
				return s.good.Lease(ctx, id, owner, d)
			}
		})},
		{"a lease ends with an append", []string{"append/needs*", "lease/the list*"}, "", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				_ = s.good.Release(ctx, id, s.owner(id))
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
		{"the list remembers owners", []string{"lease/it ends*"}, "the list names no owner", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Owner = "me" })
		}},
		{"the list names no owners", []string{"lease/the list*", "id/upper*", "list/what is told of*", "random/*"}, "owner", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Owner = "" })
		}},
	}
}

// matching returns the checks that a defect names.
func (d *defect) matching(t *testing.T) (names []string) {
	t.Helper()
	for _, want := range d.checks {
		before := len(names)
		for _, name := range storetest.Names() {
			if prefix, ok := strings.CutSuffix(want, "*"); name == want || ok && strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		require.Greater(t, len(names), before, "no check %q", want)
	}
	return names
}

// Each clause is one that a store can break, and the check of that clause sees it.
func TestABadStoreFails(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range defects() {
		t.Run(d.name, func(t *testing.T) {
			for _, name := range d.matching(t) {
				seen[name] = true
				faults := storetest.Examine(t, name, 400*time.Millisecond, storage(d.spoil))
				if assert.NotEmpty(t, faults, "%s noticed nothing", name) {
					assert.Contains(t, strings.Join(faults, "\n"), d.want, name)
				}
			}
		})
	}
	for _, name := range storetest.Names() {
		assert.True(t, seen[name], "no defect fails %s", name)
	}
}
