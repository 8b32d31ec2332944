package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

func redactDefects() []defect {
	redacts := func(f func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error) func(s *spoiled) {
		return func(s *spoiled) {
			s.onRedact = func(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				return f(s, ctx, id, after, events, blobs)
			}
		}
	}
	// pass lets a refusal pass for a success.
	pass := func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string, refused func(error) bool) error {
		if err := s.good.Redact(ctx, id, after, events, blobs); !refused(err) {
			return err
		}
		return nil
	}
	return []defect{
		{
			"removes nothing",
			[]string{"redact/events*", "redact/lists*", "redact/the log goes on", "redact/watchers*", "redact/nothing*"},
			"",
			redacts(func(_ *spoiled, _ context.Context, _ string, _ int64, _ []flow.Event, _ []string) error { return nil }),
		},
		{
			"keeps the results",
			[]string{"redact/lists*", "redact/nothing*"},
			"",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				events = slices.DeleteFunc(slices.Clone(events), func(e flow.Event) bool { return e.Kind() == flow.EventTransition })
				return s.good.Redact(ctx, id, after, events, blobs)
			}),
		},
		{
			"keeps the blobs",
			[]string{"redact/blobs*"},
			"want flow.ErrNoFile",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, _ []string) error {
				return s.good.Redact(ctx, id, after, events, nil)
			}),
		},
		{
			"does not look where the log ends",
			[]string{"redact/at another*"},
			"want flow.ErrConflict",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				return pass(s, ctx, id, after, events, blobs, func(err error) bool { return errors.Is(err, flow.ErrConflict) })
			}),
		},
		{
			"finds every conversation",
			[]string{"redact/what is not*"},
			"want flow.ErrNotFound",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				return pass(s, ctx, id, after, events, blobs, func(err error) bool { return errors.Is(err, flow.ErrNotFound) })
			}),
		},
		{
			"takes any numbers",
			[]string{"redact/wrong*"},
			"succeeds",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				return pass(s, ctx, id, after, events, blobs, func(error) bool { return store.CheckRedact(after, events) != nil })
			}),
		},
		{
			"takes ids for prefixes",
			[]string{"redact/other*"},
			"is not what was appended",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				_ = s.good.Redact(ctx, id+"a", after, events, blobs)
				return s.good.Redact(ctx, id, after, events, blobs)
			}),
		},
		{
			"loses what was appended",
			[]string{"redact/beside*"},
			"are there that were appended beside",
			redacts(func(s *spoiled, ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
				var all []flow.Event
				for e, err := range s.good.Read(ctx, id, 2) {
					if turn, ok := e.Body.(*flow.Turn); err == nil && ok && turn.Text == "kept" && e.Seq <= after {
						all = append(all, flow.Event{Seq: e.Seq, At: e.At, Body: &flow.Turn{Text: "lost"}})
					}
				}
				all = append(append(events[:len(events)-1:len(events)-1], all...), events[len(events)-1])
				return s.good.Redact(ctx, id, after, all, blobs)
			}),
		},
	}
}

// holds returns the conversations in which a text stands.
func (s *spoiled) holds(text string) (ids []string) {
	for info, err := range s.good.List(context.Background(), store.Filter{}) {
		if err != nil {
			return append(ids, err.Error())
		}
		for e, err := range s.good.Read(context.Background(), info.ID, 0) {
			if err != nil {
				return append(ids, err.Error())
			}
			if line, err := json.Marshal(e); err == nil && strings.Contains(string(line), text) {
				return append(ids, info.ID)
			}
		}
	}
	return ids
}

func TestAStoreWithoutRedactionsIsSkippedThere(t *testing.T) {
	fresh := func(testing.TB) storetest.Storage {
		s := silent{&store.Memory{}}
		return storetest.Storage{Open: func(testing.TB) store.Store { return s }}
	}
	faults := storetest.Examine(t, "redact/other conversations stay", fresh)
	assert.Equal(t, []string{"skipped: the store is no store.Redactor"}, faults)
}
