package flow

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Status is what an actor is doing: a participant, or another name that calls are made for, such as a judge.
type Status string

// The statuses of an actor.
const (
	StatusActive          Status = "active"           // none of the others
	StatusSpeaking        Status = "speaking"         // a call is in flight
	StatusRateLimited     Status = "rate-limited"     // waits until the provider accepts requests again
	StatusRetrying        Status = "retrying"         // waits after another failure
	StatusContextExceeded Status = "context-exceeded" // the conversation no longer fits its model
	StatusFailed          Status = "failed"           // the call has failed for good
	StatusDropped         Status = "dropped"          // takes no further part
)

// ParticipantState is the state of a participant, or of another actor.
type ParticipantState struct {
	Name    string
	Status  Status
	Model   string    // the model that was asked last; "" before the first call
	RetryAt time.Time // when the next attempt starts; zero: none waits
	Turns   int
	Account Account
	// ContextUsed is the share of the model's window that its last turn filled, in percent, as the provider
	// counted. 0: either is unknown.
	ContextUsed float64
}

// Participant returns the state of an actor by name. A name that has no calls is active.
func (r *Record) Participant(name string) ParticipantState {
	s := ParticipantState{Name: name, Status: StatusActive, Account: Account{Name: name}}
	for _, a := range r.spent.participants {
		if a.Name == name {
			s.Account = a
		}
	}
	var last *Turn
	for i := range r.Turns {
		if r.Turns[i].Speaker == name {
			s.Turns++
			last = r.Turns[i]
		}
	}
	if last != nil {
		if m, _ := r.Model(last.Model); m.Context > 0 {
			s.ContextUsed = 100 * float64(last.Usage.Input+last.Usage.Output) / float64(m.Context)
		}
	}
	if call := r.latestOf(name); call != nil {
		s.Model = call.intent.Model
		s.Status, s.RetryAt = call.standing(), call.retryAt()
	}
	if r.IsDropped(name) {
		s.Status = StatusDropped
	}
	return s
}

// Participants returns the states of all participants, in the order of their seats.
func (r *Record) Participants() []ParticipantState {
	if r.terms == nil {
		return nil
	}
	out := make([]ParticipantState, len(r.terms.Participants))
	for i, name := range r.terms.Participants {
		out[i] = r.Participant(name)
	}
	return out
}

// standing returns the status of the actor that the call asks.
func (c *callState) standing() Status {
	switch c.status {
	case callInFlight:
		return StatusSpeaking
	case callFailed:
		if c.trouble != nil && c.trouble.failure != nil && c.trouble.failure.Kind == provider.KindContextOverflow {
			return StatusContextExceeded
		}
		return StatusFailed
	case callIdle:
		if n := len(c.tries()); n > 0 {
			if c.tries()[n-1] == provider.KindRateLimit {
				return StatusRateLimited
			}
			return StatusRetrying
		}
	default:
	}
	return StatusActive
}

// isActive reports whether the name is that of a participant that was not dropped.
func (r *Record) isActive(name string) bool {
	return slices.Contains(r.Active(), name)
}

// Duration returns the time from the start to the last event, pauses included.
func (r *Record) Duration() time.Duration { return r.LastAt.Sub(r.StartedAt) }
