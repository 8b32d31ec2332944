package debate

import (
	"slices"
	"time"
)

// Status is what a participant is doing.
type Status string

// What a participant may be doing.
const (
	StatusActive          Status = "active"
	StatusSpeaking        Status = "speaking"         // a call is in flight
	StatusRateLimited     Status = "rate-limited"     // waits until the provider takes it again
	StatusRetrying        Status = "retrying"         // waits after another failure
	StatusContextExceeded Status = "context-exceeded" // the conversation no longer fits its model
	StatusFailed          Status = "failed"           // its call has failed for good
	StatusDropped         Status = "dropped"          // takes no further part
)

// ParticipantState is what is known of a participant or a judge.
type ParticipantState struct {
	Name    string
	Status  Status
	Model   string    // asked last; "" before the first call
	RetryAt time.Time // when it is asked again, if it waits
	Turns   int
	Account Account
	// ContextUsed is the share of the model's window that its last turn has filled, in percent, as the
	// provider counted; 0 if either is unknown.
	ContextUsed float64
}

// Participant yields the state of a participant or a judge by name.
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

// Participants yields the states of all participants in their order.
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

// standing says what a call means for the one who is asked.
func (c *callState) standing() Status {
	switch c.status {
	case callOpen:
		return StatusSpeaking
	case callFailed:
		if c.trouble != nil && c.trouble.failure != nil && c.trouble.failure.Kind == KindContextOverflow {
			return StatusContextExceeded
		}
		return StatusFailed
	case callIdle:
		if n := len(c.tries()); n > 0 {
			if c.tries()[n-1] == KindRateLimit {
				return StatusRateLimited
			}
			return StatusRetrying
		}
	default:
	}
	return StatusActive
}

// isActive reports whether a participant of that name still takes part.
func (r *Record) isActive(name string) bool {
	return slices.Contains(r.Active(), name)
}

// Duration is how long the debate has run, pauses included: until its last event.
func (r *Record) Duration() time.Duration { return r.LastAt.Sub(r.StartedAt) }
