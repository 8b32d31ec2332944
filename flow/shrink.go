package flow

import (
	"math"
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// Shrinking is the option that was chosen to make the context of an actor smaller, and how often it
// was chosen.
type Shrinking struct {
	By     string
	Option Option
	Times  int
	// InVain are the options that have not made the request smaller, since the actor's last result. To offer one again
	// would change nothing.
	InVain []Option

	size int // of the request for which Option was chosen; 0: it has had its effect
}

// shrink records the option that was chosen for a context that was too large.
func (r *Record) shrink(by string, option Option) {
	size := 0
	if call := r.latestOf(by); call != nil {
		size = call.size()
	}
	for i := range r.shrunk {
		if s := &r.shrunk[i]; s.By == by {
			s.Option, s.size = option, size
			s.Times++
			return
		}
	}
	if len(r.shrunk) < maxTracked {
		r.shrunk = append(r.shrunk, Shrinking{By: by, Option: option, Times: 1, size: size})
	}
}

// size bounds the request of the latest attempt, in tokens. One that could not be sent at all is larger than any other.
func (c *callState) size() int {
	if c.trouble != nil && c.trouble.unsent {
		return math.MaxInt
	}
	return c.intent.Bound
}

// shrank notes whether the option that was chosen for an actor has made its request smaller. failure is nil if the
// attempt has succeeded.
func (r *Record) shrank(call *callState, failure *Failure) {
	for i := range r.shrunk {
		s := &r.shrunk[i]
		switch {
		case s.By != call.intent.By || call.intent.Tool != "":
		case failure == nil:
			s.InVain, s.size = nil, 0
		case failure.Final && failure.Error.Kind == provider.KindContextOverflow && s.size > 0:
			if call.size() >= s.size && !slices.Contains(s.InVain, s.Option) {
				s.InVain = append(slices.Clip(s.InVain), s.Option)
			}
			s.size = 0
		}
	}
}

// Shrinking returns how the context of an actor is made smaller. false: that was not chosen.
func (r *Record) Shrinking(by string) (Shrinking, bool) {
	for _, c := range r.shrunk {
		if c.By == by {
			return c, true
		}
	}
	return Shrinking{}, false
}
