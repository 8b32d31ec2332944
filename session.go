package debate

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/provider"
)

// Session is a debate that this process has open: its controls and its events. It is safe for concurrent use. A
// session ends when its debate ends, or with Close. Close leaves the debate as it is, and any process may open it
// again.
//
// No goroutine drives a session. The goroutine that brings a result decides what follows, under the session's lock,
// and makes the next call. So a debate with one call at a time runs on one goroutine. So does a debate that waits
// for a person: its goroutine watches the log, because the person may answer in another process.
type Session struct {
	session *engine.Session
}

// facade returns the Session that callers see of one of the engine's. It is always the same one.
func facade(s *engine.Session, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	own, _ := s.Face.(*Session)
	return own, nil
}

// ID returns the debate's id.
func (s *Session) ID() string { return s.session.ID }

// State returns the debate's present state, as it is saved.
func (s *Session) State() flow.State { return s.session.State() }

// After returns the number of the last event that was recorded before this session was opened. It is 0 if the session has begun the
// debate. [Session.Events] after it are those that have happened since.
func (s *Session) After() int64 { return s.session.After() }

// Edit replaces the config of a debate that has not started. The id stays.
func (s *Session) Edit(config flow.Config) error { return s.session.Edit(config) }

// Validate checks the config, and asks the providers that can tell about its models. If nothing is wrong, the
// debate is ready. Otherwise the error joins one *[Error] per field, and the debate stays in configuring.
func (s *Session) Validate(ctx context.Context) error { return s.session.Validate(ctx) }

// Start begins a debate that is ready. If the store holds a debate of this id with the same config, Start opens it.
// If the configs differ, the error is of kind conflict and names the difference.
func (s *Session) Start(ctx context.Context) error { return s.session.Start(ctx) }

// Wait waits until the debate is over, and returns its record. It returns earlier, with the record of that moment
// and an error, in these cases:
//   - The debate comes to the error state. The error is its *[Error].
//   - The debate waits for a person. The error is a [*flow.AwaitingInputError]: it wraps [ErrAwaitingInput], holds what is asked, and
//     wraps the failure behind it.
//   - The session is closed. The error wraps [flow.ErrClosed], or is what has ended the session.
//
// In these cases the record is nil if nothing is stored of the debate, or if the store fails. If ctx is done, Wait
// returns its error and no record.
func (s *Session) Wait(ctx context.Context) (*flow.Record, error) { return s.session.Wait(ctx, false) }

// WaitIdle waits until no process needs to work on the debate: no call is in flight, and none is due. It returns what
// Wait returns, and [ErrPaused] with the record of that moment if the debate is paused. After that a worker can close
// the session: nothing is aborted, and any process can continue the debate.
func (s *Session) WaitIdle(ctx context.Context) (*flow.Record, error) {
	return s.session.Wait(ctx, true)
}

// Rest waits until the debate needs no process for longer than far, and then closes the session. Either Next.Idle is set, as when
// [Session.WaitIdle] returns, or no call is in flight, and the next one is due only after Next.Wait, which is longer than far.
// A worker opens the debate again when that wait is over or the log has grown beyond Next.Seq. If the store keeps alarms, Rest sets one
// for that time, and [Filter].Due selects the debate then ([store.Alarms]). Unlike WaitIdle, Rest reads no log.
//
// Rest aborts nothing: a call that has begun in the last moment finishes, and its result is recorded. If the error is that of ctx,
// the session may be open still: close it. Otherwise the error is why the session was closed.
func (s *Session) Rest(ctx context.Context, far time.Duration) (flow.Next, error) {
	return s.session.Rest(ctx, far)
}

// Record returns the record of the debate as it is now: the fold of its whole log. It belongs to the caller. It shows which participants
// wait for their turn in a limiter or under Engine.MaxCalls ([flow.StatusQueued]).
func (s *Session) Record(ctx context.Context) (*flow.Record, error) { return s.session.Record(ctx) }

// Events yields the numbered events after the given number, then those that happen. Between them it yields the
// chunks of turns as they are spoken. It ends after the debate's last event, or with an error when ctx is done or
// the session is closed. At a pause, a question and in the error state it waits; [flow.Event.Err] tells of the last two.
//
// Each reader has its own pace and delays nobody. A slow reader gets chunks merged, which Chunk.Parts counts, and
// never misses a fact. A reader that joins in the middle of a turn first gets the turn's text so far.
//
// For each call whose reply is free text:
//   - No chunk follows the call's result.
//   - The chunks of the attempt that succeeds add up to the turn's text. This holds whether or not the provider
//     streams, and whether or not the reader was there while the turn was spoken.
//   - If a chunk's Offset is less than the length received so far, the chunk replaces the text from Offset on.
//   - A turn comes without chunks if it was recorded before the session was opened.
//
// The chunks of a structured answer, such as a judge's, have a Schema. Only the first of these promises holds for them: they
// add up to what the provider has streamed, the model's JSON before it is checked. What counts is the event that follows. A
// reader that shows speeches leaves out the chunks with a Schema.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[flow.Event, error] {
	return s.session.Events(ctx, after)
}

// Close closes the session and leaves the debate as it is. Calls in flight are aborted. Those that were not sent, because they
// waited for their turn, are recorded as aborted, free of charge. The outcome of the others is not recorded: the process that
// opens the debate next records them as broken off. Then the lease is released, and another process may open the debate.
//
// Close returns when nothing of the session runs any more, apart from code that ignores its context ([Engine].Grace), the
// store's included. So it must not be called from within a provider. It may be called again. Its error is always nil.
func (s *Session) Close() error {
	s.session.Close()
	return nil
}

// Pause stops new calls, and aborts the calls in flight. A [flow.Pause] with Drain, given to [Session.Control], lets them finish.
func (s *Session) Pause(ctx context.Context) error { return s.session.Do(ctx, flow.Pause{}) }

// Control gives a control to the debate, as [Engine.Control] does. It is for those that have more to say than the methods of this
// type: a [flow.Amendment], or a [flow.Pause] with a Reason or with Drain.
func (s *Session) Control(ctx context.Context, signal flow.Signal) error {
	return s.session.Control(ctx, signal)
}

// Resume continues after a pause.
func (s *Session) Resume(ctx context.Context) error { return s.session.Do(ctx, flow.Resume{}) }

// Stop ends the rounds. The verdict is given on what has been said. If there is no turn yet, or if the debate is in
// the error state, it ends without a verdict.
func (s *Session) Stop(ctx context.Context) error { return s.session.Do(ctx, flow.Stop{}) }

// Cancel ends the debate without a verdict. Calls in flight are aborted.
func (s *Session) Cancel(ctx context.Context) error { return s.session.Do(ctx, flow.Cancel{}) }

// Retry returns to the point at which an error stopped the debate. Nothing that has a result is repeated. The calls that have
// failed are made again, so open inquiries about them are closed. While calls wait for an outage to pass, Retry makes them at once. While a
// person is awaited, it is refused: answer the inquiries, with OptionRetry where the calls are to be made again.
func (s *Session) Retry(ctx context.Context) error { return s.session.Do(ctx, flow.Retry{}) }

// Answer answers an open inquiry, as [Engine.Control] does: with a text, or with one of its options. The inquiry
// [flow.InquiryCost] is a cost warning on which the debate waits: it is answered with [flow.OptionContinue].
//
// The first answer counts, from whichever process. A later one is refused with an error of kind state, which wraps a
// [*flow.AnsweredError]: it says which person was first, when, and how the inquiry was answered.
func (s *Session) Answer(ctx context.Context, answer flow.Answer) error {
	return s.session.Control(ctx, answer)
}

// Say says something in between, to all or to some, as [Engine.Control] does with a [flow.Note]. It returns the note's ID, which the
// engine draws if the note has none: Say with that ID again is no error, and says nothing twice.
//
// A participant whom the note asks answers it after the speech in progress, also if a person takes days for that. Until all can read the
// note, [flow.Record.Held] reports it.
func (s *Session) Say(ctx context.Context, note flow.Note) (id string, err error) {
	return s.session.Say(ctx, note)
}

// Send sends a trigger of the flow's own, with a payload. The rules of the flow define in which states it is legal, paused ones
// included, and what it does; see [flow.Flow].Inputs. Anywhere else it is refused with an error of kind state, or of kind
// validation if the flow does not admit it. The payload is recorded as JSON of at most 16 MiB, nested at most 80 levels deep. A
// nil payload means none.
func (s *Session) Send(ctx context.Context, trigger flow.Trigger, payload any) error {
	sent := flow.Sent{Trigger: trigger}
	if payload != nil {
		data, err := json.Marshal(payload)
		if err != nil {
			return &flow.Error{Kind: provider.KindValidation, Op: "send", Field: "payload", Err: err}
		}
		sent.Payload = data
	}
	return s.session.Do(ctx, sent)
}

// Snapshot returns the debate as versioned JSON: its whole log. The log includes the secret seed, so a snapshot is
// as confidential as the store. It can be taken at any time, also in the middle of a round. If the log is larger
// than [MaxSnapshot], the error is of kind validation.
func (s *Session) Snapshot(ctx context.Context) ([]byte, error) { return s.session.Snapshot(ctx) }
