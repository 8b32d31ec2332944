package debate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

// StopReason says why a reply ended; see [provider.StopReason].
type StopReason = provider.StopReason

// current yields the call if this is its latest attempt and is outstanding.
func (c *Core) current(call string, attempt int) *callState {
	state := c.record.opened(call)
	if state == nil || state.status != callOpen || state.intent.Attempt != attempt {
		return nil
	}
	return state
}

// result takes a reply. It is recorded in every state that is not final; in a final one only its
// cost is.
func (c *Core) result(s Result) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil // a duplicate, or an attempt that was given up
	}
	spend := c.record.charge(state.intent, s.Usage, s.Free)
	spend.Took, spend.Cached = s.Took, s.Free
	if c.record.Final() {
		return c.spend(spend)
	}
	if state.intent.Tool != "" {
		return c.answeredBy(state.intent, spend, s.Text, false)
	}
	s = bounded(state.intent, s, c.record.terms.MaxTokens)
	if len(s.Calls) > 0 && state.intent.Offer != nil {
		return c.askTools(state, spend, s)
	}
	if failure := unusable(s); failure != nil {
		return c.setback(state, failure, spend)
	}
	if state.intent.Kind == KindSummary && state.intent.Upto > 0 {
		return c.emit(Event{Body: c.summarized(state.intent, spend, s)})
	}
	if state.intent.Schema == "" {
		return c.emit(Event{Body: c.turn(state.intent, spend, s)})
	}
	body, problems := c.structured(state.intent, spend, s)
	if len(problems) == 0 {
		return c.emit(Event{Body: body})
	}
	out := &Rejection{Spend: spend, By: state.intent.By, Round: state.intent.Round, Text: cut(readable(s.Text), 2048), Problems: problems}
	if state.intent.Again != "" {
		out.Next = state.intent.Next
	}
	return c.emit(Event{Body: out})
}

// spend records what a call cost whose debate was over before its result came.
func (c *Core) spend(s Spend) error { return c.emit(Event{Body: &Charge{s}}) }

// bytesPerToken bounds an accepted reply: it is cut at so many bytes for each token that it was allowed.
// Text of any language has fewer on average (English about 4); without a bound nobody could say what
// the calls that read the reply may cost.
const bytesPerToken = 8

// unusable finds replies that no debate can go on with.
func unusable(s Result) *Error {
	switch {
	case s.Stop == provider.StopRefusal:
		return &Error{Kind: KindRefusal, Err: errors.New("the model declined to answer")}
	case s.Stop == provider.StopFilter:
		return &Error{Kind: KindContentFilter, Err: errors.New("the provider's filter cut the reply")}
	case strings.TrimSpace(s.Text) == "":
		return &Error{Kind: KindInvalidResponse, Err: errors.New("the reply is blank")}
	default:
		return nil
	}
}

// bounded makes a free reply readable, and cuts one that is longer than its tokens can have been.
func bounded(intent *Intent, s Result, otherwise int) Result {
	tokens := intent.Tokens
	if tokens == 0 && intent.Schema == "" { // a person's words, which others read too
		tokens = otherwise
	}
	if intent.Schema == "" {
		s.Text = readable(s.Text)
	}
	if most := mostBytes(tokens); tokens > 0 && len(s.Text) > most {
		s.Text, s.Stop = cut(s.Text, most), provider.StopLength
	}
	return s
}

// mostBytes bounds a reply that was allowed so many tokens.
func mostBytes(tokens int) int {
	if tokens > math.MaxInt/bytesPerToken {
		return math.MaxInt
	}
	return tokens * bytesPerToken
}

// Spoken yields the text of a result as its turn will hold it.
func (c *Core) Spoken(s Result) string {
	if state := c.current(s.Call, s.Attempt); state != nil {
		return bounded(state.intent, s, c.record.terms.MaxTokens).Text
	}
	return s.Text
}

func (c *Core) turn(intent *Intent, spend Spend, s Result) *Turn {
	return &Turn{
		Spend: spend, Round: intent.Round, Slot: intent.Slot, Kind: intent.Kind, Speaker: intent.By,
		Target: intent.Target, Text: s.Text, Cut: s.Stop == provider.StopLength, Hidden: intent.Hidden,
	}
}

// readable yields a text as it will be read back from a log: there is no other than UTF-8.
func readable(text string) string {
	if utf8.ValidString(text) { // much faster than to look for what to replace
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// structured makes the event of an answer that must match a schema, or says what is wrong with it.
// An answer that did not end normally is not even parsed: half a number is a number too.
func (c *Core) structured(intent *Intent, spend Spend, s Result) (Body, []string) {
	schema := c.machine.flow.Schemas[intent.Schema]
	if schema == nil {
		return nil, []string{fmt.Sprintf("the flow has no schema %q", intent.Schema)}
	}
	if s.Stop != "" && s.Stop != provider.StopEnd {
		return nil, []string{fmt.Sprintf("the answer was broken off (%s) before its end", s.Stop)}
	}
	var l *labels
	if c.record.anonymous != nil && intent.Labels {
		l = c.record.anonymous.labels
	}
	text, value, problems := schema.accept(c.record, s.Text, l)
	if len(problems) > 0 {
		return nil, problems
	}
	if schema.body != nil {
		return schema.body(c.record, intent, spend, value), nil
	}
	turn := c.turn(intent, spend, s)
	turn.Text, turn.Data = text, []byte(text)
	return turn, nil
}

// failed takes an attempt that gave no reply.
func (c *Core) failed(s Failed) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil
	}
	failure := s.Error
	if failure == nil {
		failure = &Error{Kind: KindAPI, Err: errors.New("the attempt failed without a reason")}
	}
	spend := c.record.charge(state.intent, s.Usage, s.Free)
	spend.Took = s.Took
	if state.intent.Tool != "" {
		return c.toolFailed(state, spend, failure, state.aborted && failure.Kind == KindCanceled)
	}
	if c.record.Final() {
		return c.spend(spend)
	}
	return c.setback(state, failure, spend)
}

// lost takes an attempt of a process that is gone. What it cost is unknown, so all of it is charged.
func (c *Core) lost(s Lost) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil
	}
	spend := c.record.charge(state.intent, Usage{}, false)
	gone := &Error{Kind: KindNetwork, Err: errors.New("the process that made this call is gone")}
	switch {
	case c.record.Final():
		return c.spend(spend)
	case state.intent.Tool != "":
		return c.toolFailed(state, spend, gone, true)
	}
	return c.emit(Event{Body: &Failure{Spend: spend, By: state.intent.By, Void: true, Error: c.place(state, gone)}})
}

// setback records a failed attempt, and decides whether and when there is another, and by whom.
func (c *Core) setback(state *callState, failure *Error, spend Spend) error {
	out := &Failure{Spend: spend, By: state.intent.By, Error: c.place(state, failure)}
	if failure.Kind == KindContextOverflow {
		out.Window = c.record.overflowed(state.intent)
	}
	if state.aborted && failure.Kind == KindCanceled {
		out.Void = true
		return c.emit(Event{Body: out})
	}
	policy := c.record.terms.Retry
	tries := append(slices.Clone(state.tries()), failure.Kind)
	if wait, again := policy.delay(tries, failure.RetryAfter, c.in.Bits); again {
		out.RetryAt = c.in.At.Add(wait)
	} else if next := c.record.successor(state.intent, failure); next != "" {
		out.Next = next
	} else {
		out.Final = true
	}
	return c.emit(Event{Body: out})
}

// mayFallBack reports whether another model can do better: not if the host itself gave up.
func mayFallBack(kind Kind) bool {
	return kind != KindCanceled && kind != KindState && kind != KindCostLimit
}

// place says where a failure happened.
func (c *Core) place(state *callState, failure *Error) *Error {
	out := *failure
	out.Op, out.Participant, out.Round, out.Attempt = state.intent.Call, state.intent.By, state.intent.Round, state.intent.Attempt
	return &out
}

// cut shortens text to at most n bytes at a character's border.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
