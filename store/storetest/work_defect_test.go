package storetest_test

import (
	"context"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// filtered announces what a test lets through: the appends, and the releases.
func filtered(s *spoiled, appended func(id string, events []flow.Event) bool, released func(id string) bool) {
	key := "listeners"
	listeners := func() *[]chan struct{} {
		all, _ := s.shared[key].(*[]chan struct{})
		if all == nil {
			all = new([]chan struct{})
			s.shared[key] = all
		}
		return all
	}
	s.onWork = func(ctx context.Context) <-chan struct{} {
		c := make(chan struct{}, 1)
		s.mu.Lock()
		defer s.mu.Unlock()
		all := listeners()
		*all = append(*all, c)
		context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			*all = slices.DeleteFunc(*all, func(other chan struct{}) bool { return other == c })
		})
		return c
	}
	tell := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range *listeners() {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
	s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
		err := s.good.Append(ctx, id, after, writer, events)
		if appended(id, events) {
			tell()
		}
		return err
	}
	s.onRelease = func(ctx context.Context, id, owner string) error {
		err := s.good.Release(ctx, id, owner)
		if released(id) {
			tell()
		}
		return err
	}
}

// wakes reports whether events lead to a working state.
func wakes(_ string, events []flow.Event) bool {
	for i := range events {
		if moved, ok := events[i].Body.(*flow.Transition); ok && !moved.To.Idle() && moved.To != flow.StateCompleting {
			return true
		}
	}
	return false
}

func workDefects() []defect {
	never := func(string) bool { return false }
	return []defect{
		{"announces nothing", []string{
			"work/a conversation*", "work/a lease*", "work/nobody*", "work/steps*",
		}, "no value has come", func(s *spoiled) {
			s.onWork = func(context.Context) <-chan struct{} { return make(chan struct{}) }
		}},
		{"announces only beginnings", []string{"work/a conversation is woken"}, "no value has come", func(s *spoiled) {
			filtered(s, func(_ string, events []flow.Event) bool { return events[0].Seq == 1 }, never)
		}},
		{"announces no release", []string{"work/a lease*"}, "no value has come", func(s *spoiled) {
			filtered(s, wakes, never)
		}},
		{"announces each step", []string{"work/steps*"}, "there is no work", func(s *spoiled) {
			filtered(s, func(string, []flow.Event) bool { return true }, never)
		}},
		{"announces each release", []string{"work/steps*"}, "there is no work", func(s *spoiled) {
			filtered(s, wakes, func(string) bool { return true })
		}},
		{"announces to one at a time", []string{"work/a conversation begins", "work/nobody*"}, "no value has come", func(s *spoiled) {
			s.onWork = func(ctx context.Context) <-chan struct{} {
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.shared["work"] == nil {
					s.shared["work"] = s.good.Announce(context.WithoutCancel(ctx))
				}
				one, _ := s.shared["work"].(<-chan struct{})
				return one
			}
		}},
		{"announces for ever", []string{"work/it ends*"}, "nobody is told any more", func(s *spoiled) {
			s.onWork = func(ctx context.Context) <-chan struct{} { return s.good.Announce(context.WithoutCancel(ctx)) }
		}},
		{"closes the channel", []string{"work/a conversation begins"}, "is closed", func(s *spoiled) {
			s.onWork = func(context.Context) <-chan struct{} {
				c := make(chan struct{})
				close(c)
				return c
			}
		}},
	}
}
