package debate

import (
	"context"
	"encoding/json"
)

// PauseMode says what a pause does with the calls in flight.
type PauseMode int

// Drain lets the calls in flight finish. Without it they are broken off, and what they have cost is charged.
const Drain PauseMode = 1

// Pause stops new calls. Those in flight are broken off, or finish if mode is Drain.
func (s *Session) Pause(ctx context.Context, mode ...PauseMode) error {
	return s.runtime.do(ctx, Pause{Drain: len(mode) > 0 && mode[0] == Drain})
}

// Resume goes on after a pause.
func (s *Session) Resume(ctx context.Context) error { return s.runtime.do(ctx, Resume{}) }

// Stop ends the rounds: the verdict is given on what has been said. Without a turn, or after an
// error, the debate ends without one.
func (s *Session) Stop(ctx context.Context) error { return s.runtime.do(ctx, Stop{}) }

// Cancel ends the debate without a verdict. Calls in flight are broken off.
func (s *Session) Cancel(ctx context.Context) error { return s.runtime.do(ctx, Cancel{}) }

// Retry goes back to where an error has stopped the debate. Nothing that has a result is repeated.
func (s *Session) Retry(ctx context.Context) error { return s.runtime.do(ctx, Retry{}) }

// Acknowledge says that the cost warning was seen.
func (s *Session) Acknowledge(ctx context.Context) error { return s.runtime.do(ctx, Acknowledge{}) }

// Answer answers an open inquiry by its id, with at most 1 MiB of text.
func (s *Session) Answer(ctx context.Context, inquiry, text string) error {
	return s.runtime.do(ctx, Answer{Inquiry: inquiry, Text: text})
}

// Choose answers an open inquiry about a failed call with one of its options. OptionModel takes the
// model that takes over, "provider/model"; its prices and sizes are frozen as those of the others were.
func (s *Session) Choose(ctx context.Context, inquiry string, option Option, model ...string) error {
	answer := Answer{Inquiry: inquiry, Option: option}
	if len(model) > 0 {
		answer.Model = model[0]
	}
	answer, err := s.live.completed(answer)
	if err != nil {
		return err
	}
	return s.runtime.do(ctx, answer)
}

// Send brings an input of the flow's own. payload is recorded as JSON, of at most 16 MiB and nested no deeper than
// 80 times; nil: none.
func (s *Session) Send(ctx context.Context, trigger Trigger, payload any) error {
	sent := Sent{Trigger: trigger}
	if payload != nil {
		data, err := json.Marshal(payload)
		if err != nil {
			return &Error{Kind: KindValidation, Op: "send", Field: "payload", Err: err}
		}
		sent.Payload = data
	}
	return s.runtime.do(ctx, sent)
}
