package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Kind classifies an [Error]; it is [provider.Kind].
type Kind = provider.Kind

// Errors to compare with errors.Is. Engines, sessions and stores return them, possibly wrapped.
var (
	// ErrAwaitingInput means that the conversation waits for an answer to an inquiry. The [AwaitingInputError] around it holds
	// what is asked, and the failure behind it.
	ErrAwaitingInput = errors.New("the conversation awaits an answer")
	// ErrClosed means that the session was closed. The error of an engine that was shut down wraps it, and says so. Another
	// process may resume the conversation.
	ErrClosed = errors.New("the session is closed: open the conversation again")
	// ErrNotFound means that the store has no conversation with this ID.
	ErrNotFound = errors.New("no such conversation")
	// ErrConflict means that the log has grown since it was read, because another process has appended to it.
	ErrConflict = errors.New("the conversation's log has grown in the meantime")
	// ErrForked means that the fork was made before: its id is that of a conversation that continues the same one from the same event,
	// with the same config and in the same way.
	ErrForked = errors.New("the conversation of this id is this fork")
	// ErrNoFile means that the store lacks a file that the conversation refers to, or has other bytes in its place. The
	// error around it names the file.
	ErrNoFile = errors.New("a file of the conversation is missing or damaged")
	// ErrRewritten means that events of the log have changed since they were read: the whole log must be folded again.
	ErrRewritten = errors.New("the log was rewritten")
	// ErrPaused means that the conversation is paused, and that no call is in flight.
	ErrPaused = errors.New("the conversation is paused")
	// ErrMissing means that this engine lacks something that the conversation needs, such as a provider. The error
	// around it names what. Another engine may have it.
	ErrMissing = errors.New("this engine lacks what the conversation needs")
	// ErrUnsupported means that a model is known to lack an ability that a config, an amendment or a choice requires: an option,
	// or reading a file. The error around it names the model and the ability.
	ErrUnsupported = errors.New("the model is known to lack a required ability")
	// ErrUnpriced means that a budget limits the cost of a model whose price is unknown.
	ErrUnpriced = errors.New("has no known price, which a budget needs")
	// ErrLeased means that another owner holds the lease.
	ErrLeased = errors.New("another owner holds the conversation's lease")
)

// Error is the error type of this library: a kind, and where the failure happened. Fields that do not apply are zero.
// An Error never shows an API key, and neither does its JSON: of its cause, both leave out what looks like a secret (the
// user and query of a URL, headers that carry credentials, keys and tokens). The zero Error and a nil *Error can be printed.
type Error struct {
	Kind        Kind
	Op          string        // the operation: "validate", "start", a trigger, a call's ID
	Field       string        // the path of a field in the config or the log, or a setting: "participants[1].name", "timeouts.verdict"
	Participant string        // the actor whose call has failed
	Round       int           // from 1; 0 if outside the rounds
	Attempt     int           // of the call, from 1; 0 if no call
	RetryAfter  time.Duration // how long the vendor asked to wait; 0: it named no time
	Window      int           // of a context_overflow: the size of the window that the vendor named, in tokens; 0: it named none
	Capped      bool          // the reply ended at the cap on its tokens before there was anything to use: a larger cap may help
	At          time.Time     // when the attempt failed; zero: the error is of no attempt
	Err         error         // the cause
}

// Error returns one line: kind, place and cause.
func (e *Error) Error() string {
	if e == nil {
		return "debate: no error"
	}
	parts := []string{"debate"}
	if e.Kind != "" {
		parts = append(parts, string(e.Kind))
	}
	if e.Op != "" {
		parts = append(parts, e.Op)
	}
	if e.Field != "" {
		parts = append(parts, e.Field)
	}
	if e.Participant != "" && !strings.HasSuffix("."+e.Op, "."+e.Participant) { // most IDs of calls end with it
		parts = append(parts, e.Participant)
	}
	if e.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if e.Err != nil {
		parts = append(parts, redact.Foreign(e.Err.Error()))
	}
	if len(parts) == 1 {
		parts = append(parts, "unspecified error")
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is an *Error that sets nothing but the same Kind. A caller can thus test for a kind
// with errors.Is(err, &Error{Kind: provider.KindCostLimit}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e != nil && t != nil && *t == Error{Kind: e.Kind}
}

// Retryable reports whether Session.Retry can help. One of these holds then:
//   - The failure passes with time.
//   - Its cause can be fixed outside the conversation first: a new key, a paid bill.
//   - Its cause can be fixed with an Amendment first: a higher limit, another model. A retry after cost_limit is
//     refused until the budget is amended.
func (e *Error) Retryable() bool {
	if e == nil {
		return false
	}
	switch e.Kind {
	case provider.KindNetwork, provider.KindRateLimit, provider.KindAPI, provider.KindTimeout,
		provider.KindInvalidResponse, provider.KindAuthentication, provider.KindQuota,
		provider.KindCostLimit, provider.KindToolLimit, provider.KindContextOverflow, provider.KindContentFilter, provider.KindRefusal,
		provider.KindUnknown:
		return true
	case provider.KindValidation:
		return e.Attempt > 0 // a provider has refused a request: another model may take it
	case provider.KindState: // of what a conversation has stopped for, and not of an operation that it refuses
		return len(e.Amends()) > 0 || e.Op == string(KindConfirm) || e.Field == fieldname.MaxFailures
	default:
		return false
	}
}

type errorJSON struct {
	Kind        Kind      `json:"kind,omitempty"`
	Op          string    `json:"op,omitempty"`
	Field       string    `json:"field,omitempty"`
	Participant string    `json:"participant,omitempty"`
	Round       int       `json:"round,omitempty"`
	Attempt     int       `json:"attempt,omitempty"`
	RetryAfter  float64   `json:"retryAfter,omitempty"` // seconds
	Window      int       `json:"window,omitempty"`     // tokens
	Capped      bool      `json:"capped,omitempty"`
	At          time.Time `json:"at,omitzero"`
	Message     string    `json:"message,omitempty"`
	Retryable   bool      `json:"retryable,omitempty"`
	Hint        string    `json:"hint,omitempty"`
}

// MarshalJSON writes the error with its cause as text, and with what Retryable and Hint return.
func (e *Error) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("null"), nil
	}
	out := errorJSON{
		e.Kind, e.Op, e.Field, e.Participant, e.Round, e.Attempt, e.RetryAfter.Seconds(), e.Window, e.Capped, e.At,
		"", e.Retryable(), "",
	}
	if e.Kind != "" {
		out.Hint = e.Hint()
	}
	if e.Err != nil {
		out.Message = redact.Foreign(e.Err.Error())
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote. The cause comes back as text. Retryable and the hint are not read: they
// follow from the other fields. What a cause itself said of what helps ([WithMend]) is lost.
func (e *Error) UnmarshalJSON(data []byte) error {
	var in errorJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Error{
		Kind: in.Kind, Op: in.Op, Field: in.Field, Participant: in.Participant,
		Round: in.Round, Attempt: in.Attempt, RetryAfter: seconds(in.RetryAfter), Window: in.Window, Capped: in.Capped, At: in.At,
	}
	if in.Message != "" {
		e.Err = errors.New(in.Message)
	}
	return nil
}

// Classify returns an Error for what a provider, a function or a tool has returned. If the error wraps an *[Error] or a
// *[provider.Error], the result has its kind. Otherwise the kind is:
//   - timeout or canceled, for the errors of a context and for a connection that was too slow
//   - network, for the other errors of package net, a *url.Error, and a stream that was cut (io.ErrUnexpectedEOF)
//   - unknown, for all other errors, and for a kind that the library does not have
//
// Of the cause it keeps one short line only, because an error may contain a request. What looks like a secret is left out: the
// user and the query of a URL, headers that carry credentials, keys and tokens.
func Classify(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		reason := own.Err
		if reason == nil {
			reason = own
		}
		return &Error{Kind: known(own.Kind), RetryAfter: own.RetryAfter, Window: own.Window, Capped: own.Capped, Err: shorten(reason)}
	}
	if failure, ok := errors.AsType[*provider.Error](err); ok {
		return &Error{
			Kind: known(failure.Kind), RetryAfter: failure.RetryAfter, Window: failure.Window, Capped: failure.Capped, Err: words(failure),
		}
	}
	return &Error{Kind: foreign(err), Err: shorten(err)}
}

// known returns a kind, or unknown for one that the library does not have.
func known(kind Kind) Kind {
	if slices.Contains(provider.Kinds(), kind) {
		return kind
	}
	return provider.KindUnknown
}

// foreign returns the kind of an error that is neither an *Error nor a *provider.Error.
func foreign(err error) Kind {
	connection, failed := errors.AsType[interface { // of package net, which the flows may not use
		error
		Timeout() bool
		Temporary() bool
	}](err)
	if failed && reflect.ValueOf(connection).Kind() == reflect.Uintptr { // a bare number of the system is more often about a file
		failed = false
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), failed && connection.Timeout():
		return provider.KindTimeout
	case errors.Is(err, context.Canceled):
		return provider.KindCanceled
	case failed, errors.Is(err, io.ErrUnexpectedEOF):
		return provider.KindNetwork
	default:
		return provider.KindUnknown
	}
}

// words returns a provider's failure without its kind, which the enclosing Error has.
func words(failure *provider.Error) error {
	plain := *failure
	plain.Kind = ""
	text := strings.TrimPrefix(plain.Error(), "provider: unclassified")
	if text = strings.TrimLeft(text, ",: "); text == "" {
		text = "the provider gave no reason"
	}
	return shorten(errors.New(text))
}

// shorten reduces an error to one short, printable line without secrets. It could not find a secret that is cut in two.
func shorten(err error) error { return errors.New(text.OneLine(redact.Foreign(err.Error()), 300)) }

func seconds(s float64) time.Duration {
	const most = float64(1 << 62)
	if ns := math.Round(s * float64(time.Second)); ns > -most && ns < most {
		return time.Duration(ns)
	}
	return 0
}

// AwaitingInputError is the error of a conversation that waits for a person. It wraps [ErrAwaitingInput], and the failures that
// the inquiries are about: errors.As finds the first of them as an *[Error]. So a caller that branches by the kind of an *[Error]
// tests for [ErrAwaitingInput] first.
type AwaitingInputError struct {
	// Inquiries are those without an answer, oldest first, as in Record.Inquiries. The caller may keep and change the slice, and
	// must not change what the inquiries point to.
	Inquiries []Inquiry
}

// Error returns one line: the ID of the first inquiry, its question, its options, and how many more inquiries there are. For a call that a
// person performs, the kind of the call and the person who is asked stand for the question, which is a prompt. A question about
// a tool quotes its arguments, which a model has written. A question is cut, and what looks like a secret is left out.
func (e *AwaitingInputError) Error() string {
	if e == nil || len(e.Inquiries) == 0 {
		return ErrAwaitingInput.Error()
	}
	first := &e.Inquiries[0]
	what := first.Question
	if len(first.Options) == 0 {
		what = fmt.Sprintf("%s by %s", first.Kind, first.To)
	}
	line := fmt.Sprintf("%v to inquiry %q: %s", ErrAwaitingInput, text.OneLine(first.ID, 80), text.OneLine(redact.Foreign(what), 400))
	if len(first.Options) > 0 {
		options := make([]string, len(first.Options))
		for i, option := range first.Options {
			options[i] = string(option)
		}
		line += " Options: " + text.OneLine(strings.Join(options, ", "), 200)
	}
	if more := len(e.Inquiries) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	return line
}

// Unwrap returns [ErrAwaitingInput], and the failure of each inquiry that has one. They are no independent errors: a program that
// reports each of several joined errors reports this one as a whole.
func (e *AwaitingInputError) Unwrap() []error {
	errs := []error{ErrAwaitingInput}
	if e == nil {
		return errs
	}
	for i := range e.Inquiries {
		if failure := e.Inquiries[i].Failure; failure != nil {
			errs = append(errs, failure)
		}
	}
	return errs
}

// AnsweredError means that an inquiry was answered before: by which person, when, and how. The *[Error] around it is of kind
// state.
type AnsweredError struct {
	// Answer is the one that counts. Answer.Person names who gave it, if the host program has said so. Answer.Inquiry is the
	// inquiry that was to be answered again, also if its answer was an [OptionAlways] about another use of the tool. The caller
	// must not change what Answer points to.
	Answer Answer
	// At is the time of the answer in the log. If another process was working on the conversation, it is the time of the event
	// before.
	At time.Time
}

// Error returns one line: the inquiry, the person who answered it or that a model stands in, the time, and the option. It leaves out the
// text of the answer, and which model stands in: Answer.Model names it.
func (e *AnsweredError) Error() string {
	if e == nil {
		return "the inquiry was answered"
	}
	a, who := &e.Answer, "a person"
	if a.Option == OptionStandIn {
		return fmt.Sprintf("inquiry %q is over: its time ended at %s, and a model answers in place of the person, who is asked again next time",
			text.OneLine(a.Inquiry, 80), e.At.UTC().Format(time.RFC3339))
	}
	switch {
	case a.Rule:
		who = "a rule"
	case a.Person != "":
		who = strconv.Quote(text.OneLine(a.Person, 80))
	}
	line := fmt.Sprintf("inquiry %q was answered by %s at %s", text.OneLine(a.Inquiry, 80), who, e.At.UTC().Format(time.RFC3339))
	if a.Option != "" {
		line += " with " + text.OneLine(strings.TrimSpace(string(a.Option)+" "+a.Model), 160)
	}
	if a.By != "" {
		line += fmt.Sprintf(" for %q", text.OneLine(a.By, 80))
	}
	return line
}

// wasAnswered returns the error of an answer that comes too late: the inquiry was answered, for this actor or for all. If by is
// empty, an answer for any actor counts. nil: it was not answered since it was last asked.
func (r *Record) wasAnswered(inquiry, by string) error {
	for _, first := range slices.Backward(r.answered[inquiry]) {
		if by == "" || first.Answer.By == "" || first.Answer.By == by {
			mend := "answer nothing here: it is done"
			if first.Answer.Option == OptionStandIn {
				mend = "answer the next question"
			}
			return &Error{Kind: provider.KindState, Op: opAnswer, Err: WithMend(&first, mend)}
		}
	}
	return nil
}
