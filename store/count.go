package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// StateCount is how many unfinished conversations have one state, and are alike in the rest.
type StateCount struct {
	State       flow.State
	Held        bool // a process has their lease
	Quarantined bool // their quarantine is not over
	Count       int
	// Oldest is how long the first of them has been in this state. Where that is unknown, it is the time since the last event. With
	// Filter.Due it is how long the first of them has waited for a process: since its alarm has rung, or else since the last event.
	Oldest time.Duration
}

// StateCounter is an optional ability of a [Store]: it counts conversations faster than it lists them. [CountStates] uses it. Package
// store/storetest tests it.
type StateCounter interface {
	// CountStates counts the unfinished ones of the conversations that [Store].List would yield. It orders the counts by State, byte
	// by byte. Within a state, those that are not held come first, and of these, those that are not in quarantine.
	CountStates(ctx context.Context, filter Filter) ([]StateCount, error)
}

// CountStates counts the unfinished conversations of a store that match, by state. It returns no count that is 0. A store that is
// no [StateCounter] lists them.
//
// A conversation of which nothing can be read has no state, and counts under "".
func CountStates(ctx context.Context, s Store, filter Filter) ([]StateCount, error) {
	if counter, ok := s.(StateCounter); ok {
		return counter.CountStates(ctx, filter)
	}
	return CountList(ctx, s, filter)
}

// CountList is [CountStates] by the store's list. A StateCounter calls it for what it has no faster way for.
func CountList(ctx context.Context, s Store, filter Filter) ([]StateCount, error) {
	now := time.Now()
	if clock, ok := s.(Clock); ok {
		var err error
		if now, err = clock.Time(ctx); err != nil {
			return nil, err
		}
	}
	filter.Unfinished = true
	counts := make(map[StateCount]StateCount) // by what is alike
	for info, err := range s.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		alike := StateCount{State: info.State, Held: info.Owner != "", Quarantined: info.Quarantine.Left > 0}
		c, known := counts[alike]
		if !known {
			c = alike
		}
		c.Count++
		if filter.Due {
			c.Oldest = max(c.Oldest, info.waited(now))
		} else {
			c.Oldest = max(c.Oldest, info.inState(now))
		}
		counts[alike] = c
	}
	var all []StateCount
	for _, c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, compareCounts)
	return all, nil
}

// inState returns how long a conversation has been in its state; 0: nothing of it can be read.
func (i *Info) inState(now time.Time) time.Duration {
	since := i.Since
	if since.IsZero() {
		since = i.LastAt
	}
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since))
}

// waited returns how long a conversation that is due has waited for a process; 0: nothing of it can be read.
func (i *Info) waited(now time.Time) time.Duration {
	if i.Alarm < 0 {
		return time.Duration(-i.Alarm)
	}
	if i.LastAt.IsZero() {
		return 0
	}
	return max(0, now.Sub(i.LastAt))
}

// compareCounts compares two counts in their order.
func compareCounts(a, b StateCount) int {
	return cmp.Or(cmp.Compare(a.State, b.State), compareBool(a.Held, b.Held), compareBool(a.Quarantined, b.Quarantined))
}

// compareBool compares two bools: false comes first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
