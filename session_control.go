package debate

import (
	"context"
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
)

// PauseMode says what a pause does with the calls in flight.
type PauseMode int

// Drain lets the calls in flight finish. Without it they are aborted, and their cost is charged.
const Drain PauseMode = 1

// Pause stops new calls. Calls in flight are aborted, or finish if mode is Drain.
func (s *Session) Pause(ctx context.Context, mode ...PauseMode) error {
	return s.runtime.Do(ctx, flow.Pause{Drain: len(mode) > 0 && mode[0] == Drain})
}

// Resume continues after a pause.
func (s *Session) Resume(ctx context.Context) error { return s.runtime.Do(ctx, flow.Resume{}) }

// Stop ends the rounds. The verdict is given on what has been said. If there is no turn yet, or if the debate is in
// the error state, it ends without a verdict.
func (s *Session) Stop(ctx context.Context) error { return s.runtime.Do(ctx, flow.Stop{}) }

// Cancel ends the debate without a verdict. Calls in flight are aborted.
func (s *Session) Cancel(ctx context.Context) error { return s.runtime.Do(ctx, flow.Cancel{}) }

// Retry returns to the point at which an error stopped the debate. Nothing that has a result is repeated.
func (s *Session) Retry(ctx context.Context) error { return s.runtime.Do(ctx, flow.Retry{}) }

// Acknowledge confirms that the cost warning was seen.
func (s *Session) Acknowledge(ctx context.Context) error {
	return s.runtime.Do(ctx, flow.Acknowledge{})
}

// Answer answers an open inquiry by its id. The text has at most 1 MiB.
func (s *Session) Answer(ctx context.Context, inquiry, text string) error {
	return s.runtime.Do(ctx, flow.Answer{Inquiry: inquiry, Text: text})
}

// Choose answers an open inquiry about a failed call with one of its options. With OptionModel, model names the
// model that takes over as "provider/model". Its prices and sizes are frozen like those of the other models.
func (s *Session) Choose(ctx context.Context, inquiry string, option flow.Option, model ...string) error {
	answer := flow.Answer{Inquiry: inquiry, Option: option}
	if len(model) > 0 {
		answer.Model = model[0]
	}
	answer, err := s.live.completed(answer)
	if err != nil {
		return err
	}
	return s.runtime.Do(ctx, answer)
}

// Send sends a trigger of the flow's own, with a payload. The payload is recorded as JSON of at most 16 MiB, nested
// at most 80 levels deep. A nil payload means none.
func (s *Session) Send(ctx context.Context, trigger flow.Trigger, payload any) error {
	sent := flow.Sent{Trigger: trigger}
	if payload != nil {
		data, err := json.Marshal(payload)
		if err != nil {
			return &flow.Error{Kind: flow.KindValidation, Op: "send", Field: "payload", Err: err}
		}
		sent.Payload = data
	}
	return s.runtime.Do(ctx, sent)
}
