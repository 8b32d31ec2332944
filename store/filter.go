package store

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Filter selects debates. All fields that are set must match. The zero value selects all debates.
type Filter struct {
	States []flow.State      // the debate is in any of them
	Labels map[string]string // the debate has all of them
	// Unfinished leaves out completed and canceled debates.
	Unfinished bool
	// Working leaves out all debates that wait or have ended (see [flow.State.Idle]). With Idle it finds the debates
	// that a worker should continue.
	Working bool
	// Idle leaves out debates whose lease is held.
	Idle bool
	// From and Until bound the time at which a debate was started: at From or later, and before Until.
	From, Until time.Time
	// Text is searched for in the topic and in turns. The case of letters does not matter. The search reads whole
	// logs, so it is the slowest of all conditions.
	Text string
	// Newest reverses the order of ids.
	Newest bool
	// After is an id. The list begins behind it, in the order of the list.
	After string
	Limit int // 0 means no limit
}

// Info describes a stored debate.
type Info struct {
	ID        string
	State     flow.State
	Topic     string
	Labels    map[string]string
	Round     int
	Seq       int64 // number of the last event
	StartedAt time.Time
	LastAt    time.Time
	Owner     string // holder of the lease; "" if there is none
}

// Matches reports whether a debate is selected by all conditions but two: [Filter.Finds] checks Text, and the
// caller applies Limit.
func (f Filter) Matches(info Info) bool {
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, info.State),
		f.Unfinished && (info.State == flow.StateCompleted || info.State == flow.StateCanceled),
		f.Working && info.State.Idle(),
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

// Finds reports whether an event contains Text. An empty Text is in every event.
func (f Filter) Finds(e *flow.Event) bool {
	if f.Text == "" {
		return true
	}
	switch body := e.Body.(type) {
	case *flow.Start:
		return holds(body.Terms.Topic, f.Text)
	case *flow.Turn:
		return holds(body.Text, f.Text)
	default:
		return false
	}
}

func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Order compares two ids in the order of the list.
func (f Filter) Order(a, b string) int {
	if f.Newest {
		a, b = b, a
	}
	return strings.Compare(a, b)
}

// Add updates the description with an event. ID and Owner are set by the store.
func (i *Info) Add(e *flow.Event) {
	switch body := e.Body.(type) {
	case *flow.Start:
		i.Topic, i.Labels, i.StartedAt = body.Terms.Topic, maps.Clone(body.Terms.Labels), e.At
	case *flow.Transition:
		i.State = body.To
	case *flow.Round:
		i.Round = body.N
	}
	i.Seq, i.LastAt = e.Seq, e.At
}
