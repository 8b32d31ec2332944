package flow

import (
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Status is what an actor is doing: a participant, or another name that calls are made for.
type Status string

// The statuses of an actor.
const (
	StatusActive   Status = "active"   // none of the others
	StatusSpeaking Status = "speaking" // a call is in flight
	// StatusQueued: a call waits for its turn, in a limiter or under Engine.MaxCalls. Only the engine that makes the call
	// knows: to others the actor is speaking.
	StatusQueued          Status = "queued"
	StatusRateLimited     Status = "rate-limited"     // waits until the provider accepts requests again
	StatusRetrying        Status = "retrying"         // waits after another failure
	StatusWaiting         Status = "waiting"          // waits for an outage to pass
	StatusContextExceeded Status = "context-exceeded" // the conversation no longer fits its model
	StatusFailed          Status = "failed"           // the call has failed for good
	StatusDropped         Status = "dropped"          // takes no further part
)

// ParticipantState is the state of a participant, or of another actor.
type ParticipantState struct {
	Name    string    `json:"name"`
	Status  Status    `json:"status"`
	Model   string    `json:"model,omitempty"`  // the model that was asked last; "" before the first call
	RetryAt time.Time `json:"retryAt,omitzero"` // when the next attempt starts; zero: none waits
	LastAt  time.Time `json:"lastAt,omitzero"`  // when the latest call began, or when its latest attempt ended
	Turns   int       `json:"turns"`
	Account Account   `json:"account"`
	// Failures is how many of the actor's attempts have failed, and LastFailure the latest of them. Retries is how many
	// attempts followed a failed one.
	Failures    int    `json:"failures"`
	Retries     int    `json:"retries"`
	LastFailure *Error `json:"lastFailure,omitempty"`
	// ContextUsed is the share of the model's window that its last turn filled, in percent, as the provider
	// counted. 0: either is unknown.
	ContextUsed float64 `json:"contextUsed,omitempty"`
	// Metadata are the host program's own marks of the participant; see [Described]. It is read only.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Participant returns the state of an actor by name. A name that has no calls is active.
func (r *Record) Participant(name string) ParticipantState {
	s := ParticipantState{Name: name, Status: StatusActive, Account: Account{Name: name}, Metadata: r.metadataOf(name)}
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
		if m, _ := r.Model(last.Model); m.Window > 0 {
			s.ContextUsed = 100 * float64(last.Usage.Input+last.Usage.Output) / float64(m.Window)
		}
	}
	for i := range r.Failures {
		if f := r.Failures[i]; f.By == name && !f.Void {
			s.LastFailure = f.Error
		}
	}
	s.Failures, s.Retries = r.tries(func(by string) bool { return by == name })
	if call := r.latestOf(name); call != nil {
		s.Model, s.LastAt = call.intent.Model, call.last()
		if s.Status = call.standing(); call.status == callIdle && !r.Final() {
			s.RetryAt = call.retryAt()
		}
	}
	if r.IsDropped(name) {
		s.Status = StatusDropped
	}
	return s
}

// Participants returns the states of all participants, in the order of their seats.
func (r *Record) Participants() []ParticipantState {
	if r.settings == nil {
		return nil
	}
	out := make([]ParticipantState, len(r.settings.Participants))
	for i, name := range r.settings.Participants {
		out[i] = r.Participant(name)
	}
	return out
}

// standing returns the status of the actor that the call asks.
func (c *callState) standing() Status {
	switch c.status {
	case callInFlight:
		if c.unbegun {
			return StatusQueued
		}
		return StatusSpeaking
	case callFailed:
		if c.trouble != nil && c.trouble.failure != nil && c.trouble.failure.Kind == provider.KindContextOverflow {
			return StatusContextExceeded
		}
		return StatusFailed
	case callSkipped:
		return StatusActive
	case callIdle:
		if n := len(c.tries()); n > 0 {
			if c.waits() > 0 {
				return StatusWaiting
			}
			if c.tries()[n-1] == provider.KindRateLimit {
				return StatusRateLimited
			}
			return StatusRetrying
		}
	default:
	}
	return StatusActive
}

// Duration returns the time from the start to the last event, pauses included.
func (r *Record) Duration() time.Duration { return r.LastAt.Sub(r.StartedAt) }

// Idle reports whether nothing happens in a state by itself: the conversation has not begun, is paused, is in error,
// waits for a person, or is over.
func (s State) Idle() bool {
	switch s {
	case "", StateConfiguring, StateValidating, StateReady, StatePaused, StateAwaitingInput, StateCompleted, StateCanceled, StateError:
		return true
	default:
		return false
	}
}

// Final reports whether a conversation in a state is over: it is completed or canceled.
func (s State) Final() bool { return s == StateCompleted || s == StateCanceled }
