package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A log is a list of events, each of which says what has happened, and not what is to be done. The kinds are here, with their JSON.
// Their bodies are in event_body, and beside what they are about. Each body that ends an attempt embeds Spend: what it has cost.

// EventKind names a kind of [Event], as it stands in a log.
type EventKind string

// The kinds of events of every flow, with their bodies. All except chunks and heartbeats are facts: they are numbered and stored, and
// only Engine.Redact rewrites them. A flow adds kinds of its own; see [Flow].Bodies.
const (
	// The course. The process that runs the conversation writes these. A control that changes the state is written as a transition by
	// the process that gives it.
	EventStart      EventKind = "start"      // *Start: the conversation begins; holds what is frozen for it
	EventTransition EventKind = "transition" // *Transition: the state changed
	EventRound      EventKind = "round"      // *Round: a round begins
	EventInquiry    EventKind = "inquiry"    // *Inquiry: a person is asked
	EventQuestions  EventKind = "questions"  // *Questions: how many inquiries wait for a person now
	EventWarning    EventKind = "warning"    // *Warning: a threshold was reached
	EventDropped    EventKind = "dropped"    // *Dropped: a participant was dropped
	EventOpened     EventKind = "opened"     // *Opened: the conversation was resumed; only where rounds have a time

	// The calls. The process that makes a call writes these.
	EventIntent    EventKind = "intent"    // *Intent: a call is about to be made
	EventTurn      EventKind = "turn"      // *Turn: a contribution
	EventSummary   EventKind = "summary"   // *Summarized: messages were summarised
	EventTools     EventKind = "tools"     // *ToolCalls: a reply asks for tools
	EventTool      EventKind = "tool"      // *ToolResult: the result of the use of a tool
	EventContinued EventKind = "continued" // *Continued: a part of a reply that the next attempt continues
	EventRejected  EventKind = "rejected"  // *Rejection: an answer was not accepted
	EventFailed    EventKind = "failed"    // *Failure: an attempt failed
	EventSkipped   EventKind = "skipped"   // *Skipped: a call was left out
	EventWithdrawn EventKind = "withdrawn" // *Withdrawn: the flow no longer wants a call
	EventSpend     EventKind = "spend"     // *Charge: the cost of a call whose result came after the end
	EventLate      EventKind = "late"      // *Late: the result of an attempt that was given up before

	// People and host programs. Any process may write these, without a lease.
	EventAnswer     EventKind = "answer"     // *Answer: a person has answered
	EventSent       EventKind = "sent"       // *Sent: an input of the flow's own
	EventNote       EventKind = "note"       // *Note: somebody who takes no part has said something
	EventAmended    EventKind = "amended"    // *Amendment: the settings were changed
	EventRetriedNow EventKind = "retriedNow" // *RetriedNow: a person has cut the waiting short
	EventRedacted   EventKind = "redacted"   // *Redacted: something was removed from the events before, which do not come again

	// Live only. Readers get these, and no log has them.
	EventChunk     EventKind = "chunk"     // *Chunk: a piece of a turn as it is spoken; live only
	EventHeartbeat EventKind = "heartbeat" // *Heartbeat: nothing has happened for a while; live only, and only if it is asked for
)

// Event is one thing that happened. Its JSON has the keys seq, at, kind and body.
type Event struct {
	// Seq numbers the facts of a log from 1 without gaps. A chunk or a heartbeat has the number of the last fact before it.
	Seq int64
	// At is the time of a fact by the clock of the store (see store.Clock). That of a chunk or a heartbeat is only about right.
	At time.Time
	// Body says what happened. Copies of an event share it: it is read only.
	Body Body
}

// Body is the content of an [Event]: a pointer to one of the structs that the kinds of events name, or to one of a
// flow's own. An event of a kind that the program does not know has a *[Foreign].
type Body interface {
	// EventKind returns the kind of the events that have this body.
	EventKind() EventKind
}

// AttemptEnd is a [Body] that ends an attempt at a call. A struct of any package implements it by embedding
// [Spend].
type AttemptEnd interface {
	Body
	spent() *Spend
}

// Foreign is the body of an event whose kind only some flow has. A flow that has the kind decodes the body when the
// log is folded. Stores, and programs without that flow, keep the JSON as it is.
type Foreign struct {
	Kind EventKind
	JSON json.RawMessage
}

// Kind returns the kind of the event's body, or "" if it has none.
func (e Event) Kind() EventKind {
	if e.Body == nil {
		return ""
	}
	return e.Body.EventKind()
}

// Err returns the error of an event after which a conversation waits for the host program. That is the failure of a
// transition to the error state, or [ErrAwaitingInput] alone, since the inquiries are events of their own. For all other events it
// is nil.
func (e Event) Err() error {
	t, ok := e.Body.(*Transition)
	switch {
	case !ok:
		return nil
	case t.To == StateAwaitingInput:
		return ErrAwaitingInput
	case t.To != StateError:
		return nil
	case t.Failure != nil:
		return t.Failure
	default: // an older log: a limit of the budget was reached
		return &Error{Kind: provider.KindCostLimit, Op: "limit", Err: errors.New("the hard limit of the budget is reached")}
	}
}

// Public returns the event without the seed and the prompts, which only stores and snapshots may hold. The prompts
// contain the fence, which is made from the seed. What came from elsewhere into one store is left out too.
func (e Event) Public() Event {
	if start, ok := e.Body.(*Start); ok {
		shown := *start
		shown.Seed, shown.Texts, shown.Views, shown.Elsewhere = "", nil, Views{}, 0 // texts and views hold the fence and labels
		e.Body = &shown
	}
	return e
}

// eventJSON is an event as it stands in a log.
type eventJSON struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind EventKind       `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// WriteLine writes the event's JSON and a newline to w, in one pass and without escapes for HTML. Stores use it: where
// [json.Marshal] calls MarshalJSON, it reads and copies the text once more. An event without a body is an error.
func (e Event) WriteLine(w io.Writer) error {
	type head struct {
		Seq  int64     `json:"seq"`
		At   time.Time `json:"at"`
		Kind EventKind `json:"kind"`
	}
	switch body := e.Body.(type) {
	case nil:
		return errors.New("an event without a body cannot be written")
	case *Foreign: // the encoder would change its spaces
		line, err := json.Marshal(head{e.Seq, e.At, body.Kind})
		if err == nil && !json.Valid(body.JSON) {
			err = fmt.Errorf("the body of the event %d of kind %s is no JSON", e.Seq, body.Kind)
		}
		if err != nil {
			return err
		}
		line = append(append(line[:len(line)-1], `,"body":`...), body.JSON...)
		line = bytes.ReplaceAll(line, []byte("\n"), []byte(" ")) // between tokens: no text holds it
		_, err = w.Write(append(line, "}\n"...))
		return err
	default:
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false) // an enclosing encoder decides about HTML
		return encoder.Encode(struct {
			head

			Body any `json:"body"`
		}{head{e.Seq, e.At, e.Kind()}, body})
	}
}

// MarshalJSON writes the event. An event without a body is an error.
func (e Event) MarshalJSON() ([]byte, error) {
	var data bytes.Buffer
	if err := e.WriteLine(&data); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(data.Bytes(), []byte("\n")), nil
}

// UnmarshalJSON reads an event. A body of a kind that only some flow has is read as [Foreign].
func (e *Event) UnmarshalJSON(data []byte) error {
	if read, ok := readLine(data); ok {
		*e = read
		return nil
	}
	var in eventJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	body := NewBody(in.Kind)
	if body == nil && len(in.Body) > 0 {
		*e = Event{in.Seq, in.At, &Foreign{in.Kind, in.Body}}
		return nil
	}
	if len(in.Body) == 0 || string(in.Body) == "null" {
		return fmt.Errorf("the event %d of kind %s has no body", in.Seq, in.Kind)
	}
	if err := json.Unmarshal(in.Body, body); err != nil {
		return err
	}
	*e = Event{in.Seq, in.At, body}
	return nil
}

// readLine reads an event of a kind that every flow has, as [Event.WriteLine] writes it. It passes over the body once
// where encoding/json has to find the kind first, which takes nearly three times as long. It reports false if the
// JSON is written differently or is wrong.
func readLine(line []byte) (e Event, ok bool) {
	rest, isLine := bytes.CutPrefix(line, []byte(`{"seq":`))
	seq, rest, hasAt := bytes.Cut(rest, []byte(`,"at":"`))
	at, rest, hasKind := bytes.Cut(rest, []byte(`","kind":"`))
	kind, rest, hasBody := bytes.Cut(rest, []byte(`","body":`))
	text, isWhole := bytes.CutSuffix(bytes.TrimSuffix(rest, []byte("\n")), []byte("}"))
	if !isLine || !hasAt || !hasKind || !hasBody || !isWhole || len(seq)*len(text) == 0 ||
		text[0] != '{' || seq[0] < '1' || seq[0] > '9' {
		return Event{}, false
	}
	e.Body = NewBody(EventKind(kind))
	var err error
	e.Seq, err = strconv.ParseInt(string(seq), 10, 64)
	if err != nil || e.Body == nil || e.At.UnmarshalText(at) != nil || json.Unmarshal(text, e.Body) != nil {
		return Event{}, false
	}
	return e, true
}

// NewBody returns an empty body of a kind that every flow has. For any other kind it returns nil.
func NewBody(kind EventKind) Body { //nolint:funlen // one case for each kind
	switch kind {
	case EventStart:
		return new(Start)
	case EventTransition:
		return new(Transition)
	case EventRound:
		return new(Round)
	case EventIntent:
		return new(Intent)
	case EventTurn:
		return new(Turn)
	case EventSummary:
		return new(Summarized)
	case EventRejected:
		return new(Rejection)
	case EventFailed:
		return new(Failure)
	case EventSpend:
		return new(Charge)
	case EventLate:
		return new(Late)
	case EventDropped:
		return new(Dropped)
	case EventWarning:
		return new(Warning)
	case EventSkipped:
		return new(Skipped)
	case EventRetriedNow:
		return new(RetriedNow)
	case EventWithdrawn:
		return new(Withdrawn)
	case EventAmended:
		return new(Amendment)
	case EventInquiry:
		return new(Inquiry)
	case EventQuestions:
		return new(Questions)
	case EventAnswer:
		return new(Answer)
	case EventSent:
		return new(Sent)
	case EventNote:
		return new(Note)
	case EventTools:
		return new(ToolCalls)
	case EventContinued:
		return new(Continued)
	case EventTool:
		return new(ToolResult)
	case EventRedacted:
		return new(Redacted)
	case EventOpened:
		return new(Opened)
	case EventChunk:
		return new(Chunk)
	case EventHeartbeat:
		return new(Heartbeat)
	default:
		return nil
	}
}

// newBody returns an empty body of one of the flow's own kinds, or nil if the flow has no such kind.
func (f *Flow) newBody(kind EventKind) Body {
	for _, sample := range f.Bodies {
		if sample.EventKind() == kind {
			body, _ := reflect.TypeAssert[Body](reflect.New(reflect.TypeOf(sample).Elem())) // check has seen a pointer
			return body
		}
	}
	return nil
}

// DecodeEvent returns the event with a [Foreign] body decoded, if the flow has its kind. Any other event is
// returned unchanged.
func (f *Flow) DecodeEvent(e Event) (Event, error) {
	foreign, ok := e.Body.(*Foreign)
	if !ok {
		return e, nil
	}
	body := f.newBody(foreign.Kind)
	if body == nil {
		return e, nil
	}
	if err := json.Unmarshal(foreign.JSON, body); err != nil {
		return e, invalid(string(foreign.Kind), "cannot be read: %s", text.OneLine(err.Error(), 200))
	}
	e.Body = body
	return e, nil
}

// EventKind implements [Body].
func (*Start) EventKind() EventKind { return EventStart }

// EventKind implements [Body].
func (*Transition) EventKind() EventKind { return EventTransition }

// EventKind implements [Body].
func (*Round) EventKind() EventKind { return EventRound }

// EventKind implements [Body].
func (*Intent) EventKind() EventKind { return EventIntent }

// EventKind implements [Body].
func (*Turn) EventKind() EventKind { return EventTurn }

// EventKind implements [Body].
func (*Summarized) EventKind() EventKind { return EventSummary }

// EventKind implements [Body].
func (*Rejection) EventKind() EventKind { return EventRejected }

// EventKind implements [Body].
func (*Failure) EventKind() EventKind { return EventFailed }

// EventKind implements [Body].
func (*Charge) EventKind() EventKind { return EventSpend }

// EventKind implements [Body].
func (*Dropped) EventKind() EventKind { return EventDropped }

// EventKind implements [Body].
func (*Warning) EventKind() EventKind { return EventWarning }

// EventKind implements [Body].
func (*Skipped) EventKind() EventKind { return EventSkipped }

// EventKind implements [Body].
func (*Amendment) EventKind() EventKind { return EventAmended }

// EventKind implements [Body].
func (*RetriedNow) EventKind() EventKind { return EventRetriedNow }

// EventKind implements [Body].
func (*Withdrawn) EventKind() EventKind { return EventWithdrawn }

// EventKind implements [Body].
func (*Inquiry) EventKind() EventKind { return EventInquiry }

// EventKind implements [Body].
func (*Answer) EventKind() EventKind { return EventAnswer }

// EventKind implements [Body].
func (*Sent) EventKind() EventKind { return EventSent }

// EventKind implements [Body].
func (*ToolCalls) EventKind() EventKind { return EventTools }

// EventKind implements [Body].
func (*Continued) EventKind() EventKind { return EventContinued }

// EventKind implements [Body].
func (*ToolResult) EventKind() EventKind { return EventTool }

// EventKind implements [Body].
func (*Opened) EventKind() EventKind { return EventOpened }

// EventKind implements [Body].
func (*Chunk) EventKind() EventKind { return EventChunk }

// EventKind implements [Body].
func (*Heartbeat) EventKind() EventKind { return EventHeartbeat }

// EventKind implements [Body].
func (f *Foreign) EventKind() EventKind { return f.Kind }

// ReadEvent reads an event strictly; see [DecodeStrict]. A body of a kind that only some flow has is read as
// [Foreign]; [Flow.ReadBody] reads it.
func ReadEvent(op string, data []byte) (Event, error) {
	var in eventJSON
	if err := DecodeStrict(op, data, &in); err != nil {
		return Event{}, err
	}
	body := NewBody(in.Kind)
	if body == nil {
		return Event{in.Seq, in.At, &Foreign{in.Kind, in.Body}}, nil
	}
	return Event{in.Seq, in.At, body}, readBody(op, in.Body, body)
}

// ReadBody reads a [Foreign] body strictly, if the flow has its kind. Any other event stays unchanged.
func (f *Flow) ReadBody(op string, e *Event) error {
	foreign, ok := e.Body.(*Foreign)
	if !ok {
		return nil
	}
	body := f.newBody(foreign.Kind)
	if body == nil {
		return nil
	}
	e.Body = body
	return foreign.Read(op, body)
}

// Read reads the body strictly, as [ReadEvent] reads those of other kinds.
func (f *Foreign) Read(op string, into Body) error { return readBody(op, f.JSON, into) }

func readBody(op string, data []byte, into Body) error {
	if strictjson.KindOf(data) == "null" {
		return &Error{Kind: provider.KindValidation, Op: op, Field: "body", Err: errors.New("is missing")}
	}
	if err := DecodeStrict(op, data, into); err != nil {
		return errors.Join(Within(op, "body", err)...)
	}
	return nil
}
