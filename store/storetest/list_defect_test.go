package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
)

func listDefects() []defect {
	tells := func(edit func(info *store.Info)) func(s *spoiled) { return func(s *spoiled) { s.tells(edit) } }
	filters := func(widen func(f *store.Filter)) func(s *spoiled) { return func(s *spoiled) { s.filters(widen) } }
	return []defect{
		{"lists leases", []string{"list/an empty*", "append/without*"}, "List yields", func(s *spoiled) {
			s.onList = func(context.Context, store.Filter) iter.Seq2[store.Info, error] {
				return func(yield func(store.Info, error) bool) { yield(store.Info{ID: "lease"}, nil) }
			}
		}},
		{"tells no state", []string{"list/what is told*"}, "List tells", tells(func(info *store.Info) { info.State = "" })},
		{"tells no topic", []string{"list/what is told*"}, "List tells", tells(func(info *store.Info) { info.Topic = "" })},
		{"tells no labels", []string{"list/what is told*", "list/by label"}, "", func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool { info.Labels = nil; return f.Matches(*info) }, func(f store.Filter) store.Filter { return f })
		}},
		{"tells no round", []string{"list/what is told*", "event/numbers"}, "", tells(func(info *store.Info) { info.Round = 0 })},
		{"tells nothing of what was copied", []string{"list/what is told of*"}, "List tells", tells(func(info *store.Info) { info.Copied = 0 })},
		{"tells nothing of what is unsettled", []string{"list/what is told of*"}, "List tells", tells(func(info *store.Info) { info.Unsettled = flow.Unsettled{} })},
		{"tells no number", []string{"list/what is told*", "list/a log*"}, "List tells", tells(func(info *store.Info) { info.Seq = 1 })},
		{"tells whole seconds", []string{"list/what is told*", "list/far*"}, "List tells", tells(func(info *store.Info) { info.LastAt = info.LastAt.Truncate(time.Second) })},
		{"counts nanoseconds since 1970", []string{"list/far*"}, "", tells(func(info *store.Info) {
			info.StartedAt = time.Unix(0, info.StartedAt.UnixNano())
		})},
		{"tells what was once", []string{"list/what is told follows*", "random/*"}, "List tells", func(s *spoiled) {
			first := map[string]store.Info{}
			s.tells(func(info *store.Info) {
				if old, ok := first[info.ID]; ok {
					*info = old
				}
				first[info.ID] = *info
			})
		}},
		{"shares its labels", []string{"list/what is told of*"}, "List tells", func(s *spoiled) {
			labels := map[string]string{}
			s.tells(func(info *store.Info) {
				for k, v := range info.Labels {
					if _, ok := labels[k]; !ok {
						labels[k] = v
					}
				}
				info.Labels = labels
			})
		}},
		{"gives the labels of the log away", []string{"list/what is told of*"}, "List tells", func(s *spoiled) {
			s.tells(func(info *store.Info) {
				for e, err := range s.good.Read(context.Background(), info.ID, 0) {
					if start := body.As[flow.Start](e); err == nil && start != nil {
						info.Labels = start.Settings.Labels
					}
				}
			})
		}},
		{"tells since when its log is as it is", []string{"list/since*"}, "in its state since", tells(func(info *store.Info) { info.Since = info.LastAt })},
		{"goes by the first start", []string{"list/what is told follows*"}, "List tells", func(s *spoiled) {
			s.tells(func(info *store.Info) {
				for e, err := range s.good.Read(context.Background(), info.ID, 0) {
					if start := body.As[flow.Start](e); err == nil && start != nil {
						info.Topic, info.Labels = start.Settings.Topic, start.Settings.Labels
						return
					}
				}
			})
		}},
		{"looks at the beginning of a label", []string{"list/by label"}, "with the labels", func(s *spoiled) {
			brief := func(value string) string { return value[:min(len(value), 512)] }
			s.infos(func(info *store.Info, f store.Filter) bool {
				for k, v := range f.Labels {
					if got, ok := info.Labels[k]; !ok || brief(got) != brief(v) {
						return false
					}
				}
				return true
			}, func(f store.Filter) store.Filter { f.Labels = nil; return f })
		}},
		{"lists what has begun as it should only", []string{"list/a log that*", "id/all that*"}, "", func(s *spoiled) {
			s.infos(func(info *store.Info, _ store.Filter) bool { return info.Topic != "" }, func(f store.Filter) store.Filter { return f })
		}},
		{"looks at the first state", []string{"list/by state"}, "List yields", filters(func(f *store.Filter) { f.States = f.States[:min(1, len(f.States))] })},
		{"states are patterns", []string{"list/by state"}, "List yields", filters(func(f *store.Filter) {
			if i := slices.Index(f.States, "argu%"); i >= 0 {
				f.States[i] = "arguing"
			}
		})},
		{"all are unfinished", []string{"list/by state"}, "not over", filters(func(f *store.Filter) { f.Unfinished = false })},
		{"all are at work", []string{"list/by state", "list/all conditions*"}, "", filters(func(f *store.Filter) { f.Working = false })},
		{"all ask", []string{"list/by open*"}, "open questions", filters(func(f *store.Filter) { f.Asking = false })},
		{"all are idle", []string{"list/by owner", "lease/the list*"}, "", filters(func(f *store.Filter) { f.Idle = false })},
		{"a label that is missing is empty", []string{"list/by label"}, "with the labels", func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool {
				for k, v := range f.Labels {
					if info.Labels[k] != v {
						return false
					}
				}
				return true
			}, func(f store.Filter) store.Filter { f.Labels = nil; return f })
		}},
		{"one label is enough", []string{"list/by label"}, "with the labels", func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool {
				for k, v := range f.Labels {
					if got, ok := info.Labels[k]; ok && got == v {
						return true
					}
				}
				return len(f.Labels) == 0
			}, func(f store.Filter) store.Filter { f.Labels = nil; return f })
		}},
		{"From leaves out its own instant", []string{"list/by time", "list/far*"}, "from", filters(func(f *store.Filter) {
			if !f.From.IsZero() {
				f.From = f.From.Add(1)
			}
		})},
		{"Until lets its own instant in", []string{"list/by time", "list/far*"}, "before", filters(func(f *store.Filter) {
			if !f.Until.IsZero() {
				f.Until = f.Until.Add(1)
			}
		})},
		{"bounds are microseconds", []string{"list/by time"}, "List yields", filters(func(f *store.Filter) { f.From = f.From.Truncate(time.Microsecond) })},
		{"has all of each value", []string{"list/at most so many of*"}, "of each tenant", filters(func(f *store.Filter) { f.Each = 0 })},
		{"counts what is left out", []string{"list/at most so many of*"}, "of each tenant", func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool { return f.Matches(*info) }, func(f store.Filter) store.Filter {
				return store.Filter{Per: f.Per, Each: f.Each, Limit: f.Limit, Newest: f.Newest, Text: f.Text}
			})
		}},
		{"an order of words", []string{"list/in the order*", "id/all that*"}, "List yields", func(s *spoiled) {
			s.onList = func(_ context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
				return func(yield func(store.Info, error) bool) {
					var infos []store.Info
					for info := range s.matches(filter) {
						infos = append(infos, info)
					}
					slices.SortStableFunc(infos, func(a, b store.Info) int { return filter.Order(strings.ToLower(a.ID), strings.ToLower(b.ID)) })
					for _, info := range infos {
						if !yield(info, nil) {
							return
						}
					}
				}
			}
		}},
		{"there is one order", []string{"list/in the order*", "list/at most*", "random/*"}, "", filters(func(f *store.Filter) { f.Newest = false })},
		{"begins with After", []string{"list/after*", "list/in pages"}, "", func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool { return f.After == "" || f.Order(info.ID, f.After) >= 0 },
				func(f store.Filter) store.Filter { f.After, f.Limit = "", 0; return f })
		}},
		{"After has to be there", []string{"list/after*"}, "List yields", filters(func(f *store.Filter) {
			if f.After == "5" {
				f.After = ""
			}
		})},
		{"there is no limit", []string{"list/at most*", "list/in pages", "random/*"}, "", filters(func(f *store.Filter) { f.Limit = 0 })},
		{"limits before it looks", []string{"list/at most so many", "list/all conditions*"}, "", func(s *spoiled) {
			s.onList = func(_ context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
				return func(yield func(store.Info, error) bool) {
					found := filter
					found.Limit = 0
					n := 0
					for info := range s.matches(store.Filter{Newest: filter.Newest, After: filter.After}) {
						if n++; filter.Limit > 0 && n > filter.Limit {
							return
						}
						for match := range s.matches(found) {
							if match.ID == info.ID && !yield(info, nil) {
								return
							}
						}
					}
				}
			}
		}},
		{"a hundred are enough", []string{"list/in pages"}, "List yields", filters(func(f *store.Filter) {
			if f.Limit == 0 || f.Limit > 99 {
				f.Limit = 99
			}
		})},
		{"the context means nothing to List", []string{"list/stops with its*"}, "although its context was over", func(s *spoiled) {
			s.onList = func(_ context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
				return s.good.List(context.Background(), filter)
			}
		}},
		{"a list that is left is the last", []string{"list/stops with the*"}, "locked", func(s *spoiled) {
			locked := false
			s.onList = func(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
				return func(yield func(store.Info, error) bool) {
					if locked {
						yield(store.Info{}, errors.New("locked"))
						return
					}
					for info, err := range s.good.List(ctx, filter) {
						if !yield(info, err) {
							locked = true
							return
						}
					}
				}
			}
		}},
		{"holds a lock while it lists", []string{"list/the loop*"}, "takes more than", func(s *spoiled) {
			s.onList = func(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
				return func(yield func(store.Info, error) bool) {
					release, err := s.exclusive()
					if err != nil {
						yield(store.Info{}, err)
						return
					}
					defer release()
					s.good.List(ctx, filter)(yield)
				}
			}
		}},
	}
}

func searchDefects() []defect {
	// texts searches in other texts than it should, or otherwise.
	texts := func(holds func(e *flow.Event, part string) bool) func(s *spoiled) {
		return func(s *spoiled) {
			s.infos(func(info *store.Info, f store.Filter) bool {
				if f.Text == "" {
					return true
				}
				for e, err := range s.good.Read(context.Background(), info.ID, 0) {
					if err == nil && holds(&e, f.Text) {
						return true
					}
				}
				return false
			}, func(f store.Filter) store.Filter { f.Text = ""; return f })
		}
	}
	plain := func(e *flow.Event) string {
		switch {
		case body.As[flow.Turn](*e) != nil:
			return body.As[flow.Turn](*e).Text
		case body.As[flow.Start](*e) != nil:
			return body.As[flow.Start](*e).Settings.Topic
		default:
			return ""
		}
	}
	lower := strings.ToLower
	return []defect{
		{"searches topics", []string{"search/in the topic*", "search/what is appended*", "search/long*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			return body.As[flow.Start](*e) != nil && strings.Contains(lower(plain(e)), lower(part))
		})},
		{"searches turns", []string{"search/in the topic*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			return body.As[flow.Turn](*e) != nil && strings.Contains(lower(plain(e)), lower(part))
		})},
		{"searches everything", []string{"search/nowhere*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			data, _ := json.Marshal(e)
			return strings.Contains(lower(string(data)), lower(part))
		})},
		{"searches for words", []string{"search/in the topic*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			for word := range strings.FieldsSeq(lower(part)) {
				if !strings.Contains(lower(plain(e)), word) {
					return false
				}
			}
			return plain(e) != ""
		})},
		{"case counts", []string{"search/whatever*", "random/*"}, "", texts(func(e *flow.Event, part string) bool { return strings.Contains(plain(e), part) })},
		{"folds ASCII", []string{"search/whatever*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			fold := func(text string) string {
				return strings.Map(func(r rune) rune {
					if r < 128 {
						return []rune(lower(string(r)))[0]
					}
					return r
				}, text)
			}
			return strings.Contains(fold(plain(e)), fold(part))
		})},
		{"a text is a pattern", []string{"search/every*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			part, _, _ = strings.Cut(lower(part), "%")
			return strings.Contains(lower(plain(e)), part)
		})},
		{"searches in JSON", []string{"search/every*", "search/hostile*"}, "", texts(func(e *flow.Event, part string) bool {
			data, _ := json.Marshal(plain(e))
			return strings.Contains(lower(string(data)), lower(part))
		})},
		{"an index that is not kept", []string{"search/what is appended*"}, "List yields", func(s *spoiled) {
			known := map[string][]store.Info{}
			s.onList = func(_ context.Context, f store.Filter) iter.Seq2[store.Info, error] {
				if f.Text != "" && known[f.Text] == nil {
					known[f.Text] = []store.Info{}
					for info := range s.matches(f) {
						known[f.Text] = append(known[f.Text], info)
					}
				}
				return func(yield func(store.Info, error) bool) {
					for _, info := range known[f.Text] {
						if !yield(info, nil) {
							return
						}
					}
				}
			}
		}},
		{"indexes the first kilobyte", []string{"search/long*"}, "List yields", texts(func(e *flow.Event, part string) bool {
			text := plain(e)
			return strings.Contains(lower(text[:min(len(text), 1<<10)]), lower(part))
		})},
	}
}

func watchDefects() []defect {
	return []defect{
		{"tells nobody", []string{"watch/appends*", "watch/a conversation that is yet*", "watch/nobody*", "watch/all*", "watch/a conversation that is begun*", "watch/a conversation that is deleted"}, "no value has come", func(s *spoiled) {
			s.onWatch = func(context.Context, string) <-chan struct{} { return make(chan struct{}) }
		}},
		{"tells its own handle", []string{"watch/appends of another*"}, "no value has come", func(s *spoiled) {
			var mine []chan struct{}
			s.onWatch = func(context.Context, string) <-chan struct{} {
				c := make(chan struct{}, 1)
				s.mu.Lock()
				defer s.mu.Unlock()
				mine = append(mine, c)
				return c
			}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				err := s.good.Append(ctx, id, after, writer, events)
				s.mu.Lock()
				defer s.mu.Unlock()
				for _, c := range mine {
					select {
					case c <- struct{}{}:
					default:
					}
				}
				return err
			}
		}},
		{"tells of no deletion", []string{"watch/a conversation that is deleted"}, "no value has come", func(s *spoiled) {
			s.onWatch = func(ctx context.Context, id string) <-chan struct{} {
				changed, grown := s.good.Watch(ctx, id), make(chan struct{}, 1)
				go func() {
					for {
						select {
						case <-changed:
						case <-ctx.Done():
							return
						}
						if s.end(id) > 0 {
							select {
							case grown <- struct{}{}:
							default:
							}
						}
					}
				}()
				return grown
			}
		}},
		{"waits for who watches", []string{"watch/nobody*"}, "takes more than", func(s *spoiled) {
			var mine []chan struct{}
			s.onWatch = func(context.Context, string) <-chan struct{} {
				c := make(chan struct{}, 1)
				mine = append(mine, c)
				return c
			}
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				err := s.good.Append(ctx, id, after, writer, events)
				for _, c := range mine {
					select {
					case c <- struct{}{}:
					case <-ctx.Done():
					}
				}
				return err
			}
		}},
		{"one watches at a time", []string{"watch/all*"}, "no value has come", func(s *spoiled) {
			var one <-chan struct{}
			s.onWatch = func(ctx context.Context, id string) <-chan struct{} {
				if one == nil {
					one = s.good.Watch(ctx, id)
				}
				return one
			}
		}},
		{"wakes nobody when it is closed", []string{"watch/a store that is closed*"}, "after the store was closed no value has come", func(s *spoiled) {
			s.onWatch = s.good.Watch
		}},
		{"cannot be watched once it is closed", []string{"watch/a store that is closed*"}, "after the store was closed no value has come", func(s *spoiled) {
			s.onWatch = func(ctx context.Context, id string) <-chan struct{} {
				select {
				case <-s.done:
					return make(chan struct{})
				default:
					return s.watch(ctx, id)
				}
			}
		}},
		{"watches for ever", []string{"watch/it ends*"}, "nobody is told any more", func(s *spoiled) {
			s.onWatch = func(ctx context.Context, id string) <-chan struct{} {
				return s.good.Watch(context.WithoutCancel(ctx), id)
			}
		}},
		{"leaves a goroutine", []string{"watch/it ends*"}, "goroutines", func(s *spoiled) {
			s.onWatch = func(ctx context.Context, id string) <-chan struct{} {
				go func() { <-time.After(24 * time.Hour) }() // longer than any examination is patient
				return s.good.Watch(ctx, id)
			}
		}},
	}
}
