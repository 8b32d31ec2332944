package debate

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Filter selects debates; zero fields select all. What is set must all hold.
type Filter struct {
	States []State           // any of them
	Labels map[string]string // all of them
	// Unfinished leaves out completed and canceled debates.
	Unfinished bool
	// Working leaves out all that are at rest too (see [State.Rests]): with Idle it finds the debates
	// with which a worker should go on.
	Working bool
	// Idle leaves out those that somebody holds.
	Idle bool
	// From and Until bound when the debate was started: at From or later, before Until.
	From, Until time.Time
	// Text stands, whatever the case of its letters, in the topic or in a turn. It is searched for in
	// the logs themselves: the slowest of all conditions.
	Text string
	// Newest turns the order of ids around.
	Newest bool
	// After is the id to go on behind, in the order of the list.
	After string
	Limit int // 0: as many as there are
}

// Info describes a stored debate.
type Info struct {
	ID        string
	State     State
	Topic     string
	Labels    map[string]string
	Round     int
	Seq       int64 // of the last event
	StartedAt time.Time
	LastAt    time.Time
	Owner     string // who holds it; "": nobody
}

// Rests reports whether nothing happens in a state by itself: the debate is over, paused, in error or
// waits for a person, or it has not begun.
func (s State) Rests() bool {
	switch s {
	case "", StateConfiguring, StateValidating, StateReady, StatePaused, StateAwaitingInput, StateCompleted, StateCanceled, StateError:
		return true
	default:
		return false
	}
}

// Matches reports whether a debate is selected by all but Text, of which [Filter.Finds] knows, and
// Limit, which is the caller's to keep.
func (f Filter) Matches(info Info) bool {
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, info.State),
		f.Unfinished && (info.State == StateCompleted || info.State == StateCanceled),
		f.Working && info.State.Rests(),
		f.Idle && info.Owner != "",
		!f.From.IsZero() && info.StartedAt.Before(f.From),
		!f.Until.IsZero() && !info.StartedAt.Before(f.Until):
		return false
	}
	for key, value := range f.Labels {
		if got, ok := info.Labels[key]; !ok || got != value {
			return false
		}
	}
	switch {
	case f.After == "":
		return true
	case f.Newest:
		return info.ID < f.After
	default:
		return info.ID > f.After
	}
}

// Finds reports whether an event of the debate holds Text; of an empty one every event does.
func (f Filter) Finds(e *Event) bool {
	if f.Text == "" {
		return true
	}
	switch body := e.Body.(type) {
	case *Start:
		return holds(body.Terms.Topic, f.Text)
	case *Turn:
		return holds(body.Text, f.Text)
	default:
		return false
	}
}

func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Order compares two ids as the list has them.
func (f Filter) Order(a, b string) int {
	if f.Newest {
		a, b = b, a
	}
	return strings.Compare(a, b)
}

// Note takes from an event what a list tells of its debate. ID and Owner are the store's to set.
func (i *Info) Note(e *Event) {
	switch body := e.Body.(type) {
	case *Start:
		i.Topic, i.Labels, i.StartedAt = body.Terms.Topic, maps.Clone(body.Terms.Labels), e.At
	case *Transition:
		i.State = body.To
	case *Round:
		i.Round = body.N
	}
	i.Seq, i.LastAt = e.Seq, e.At
}
