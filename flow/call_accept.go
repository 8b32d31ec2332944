package flow

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// current returns the call if this attempt is its latest and is in flight. Otherwise it returns nil.
func (c *Core) current(call string, attempt int) *callState {
	state := c.record.callByID(call)
	if state == nil || state.status != callInFlight || state.intent.Attempt != attempt {
		return nil
	}
	return state
}

// result takes a reply. In a final state it records only the cost.
func (c *Core) result(s Result) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil // a duplicate, or an attempt that was given up
	}
	intent := state.intent
	spend := c.record.reckon(intent, s.reported())
	spend.Took, spend.Queued, spend.Cached, spend.StandIn = s.Took, s.Queued, s.Free, intent.StandIn
	if err := c.outcome(state, &spend, s); err != nil {
		return err
	}
	if err := c.sayCapped(intent, s); err != nil {
		return err
	}
	return c.overshoot(intent, &spend)
}

// sayCapped warns of a reply that has ended at a cap that the budget had lowered, whatever has become of it.
func (c *Core) sayCapped(intent *Intent, s Result) error {
	if intent.Lowered == 0 || c.record.Final() || bounded(intent, s, 0).Stop != provider.StopLength {
		return nil
	}
	return c.warn(&Warning{Kind: WarnCapped, Call: intent.Call, By: intent.By, Evidence: fmt.Sprintf(
		"the reply of %s (%s) was cut at %d tokens: the budget left no more (the cap is %d)",
		intent.By, intent.Call, intent.Tokens, intent.Lowered)})
}

// overshoot warns of an attempt that has cost more than was reserved for it.
func (c *Core) overshoot(intent *Intent, spend *Spend) error {
	if w := overshot(intent, spend); w != nil && !c.record.Final() {
		return c.emit(Event{Body: w})
	}
	return nil
}

// outcome records what a reply has led to.
func (c *Core) outcome(state *callState, spend *Spend, s Result) error {
	if state.intent.Tool != "" { // what a tool has done counts in a final state too, though no model reads it any more
		return c.used(state.intent, spend, s.Text, false, false)
	}
	if c.record.Final() {
		return c.spend(spend)
	}
	breaks := breaksOff(state.intent, s)
	part := bounded(state.intent, s, c.record.settings.MaxTokens)
	s, anew := c.joined(state, part)
	if breaks && c.mayGoOn(state, s.Text) {
		return c.emit(Event{Body: &Continued{
			Spend: *spend, By: state.intent.By, Round: state.intent.Round, Text: text.Readable(part.Text), Anew: anew,
		}})
	}
	if len(s.Calls) > 0 && state.intent.Offer != nil {
		return c.askTools(state, spend, s)
	}
	if failure := unusable(part, s.Text); failure != nil {
		return c.unused(state, failure, &Failure{Spend: *spend}, part.Text)
	}
	if state.intent.Kind == KindSummary && state.intent.Upto > 0 {
		return c.emit(Event{Body: c.summarized(state.intent, spend, s)})
	}
	if state.intent.Schema == "" {
		return c.emit(Event{Body: c.turn(state, spend, s)})
	}
	body, problems := c.structured(state, spend, s)
	if len(problems) == 0 {
		if err := c.machine.flow.unfit(body, state.intent); err != nil {
			failure := c.locate(state, &Error{Kind: provider.KindValidation, Err: err})
			return c.emit(Event{Body: &Failure{
				Spend: *spend, By: state.intent.By, Error: failure, Final: true, Instead: c.instead(state, failure.Kind),
			}})
		}
		return c.emit(Event{Body: body})
	}
	out := &Rejection{Spend: *spend, By: state.intent.By, Round: state.intent.Round, Problems: problems}
	out.Text, out.Cut = excerpt(s.Text)
	out.Broken = s.Stop == provider.StopLength
	if state.intent.Reask {
		out.Next = state.intent.Next
		out.Final = out.Next == ""
		out.Instead = out.Final && c.instead(state, provider.KindInvalidResponse)
	}
	return c.emit(Event{Body: out})
}

// spend records the cost of a call whose result came after the end.
func (c *Core) spend(s *Spend) error { return c.emit(Event{Body: &Charge{*s}}) }

// bytesPerToken bounds an accepted reply: it is cut at this number of bytes per token that it was allowed. Text of
// any language has fewer on average; English has about 4. Without a bound the cost of the calls that read the reply
// would have no bound either.
const bytesPerToken = 8

// unusable returns a failure for a reply that no conversation can use, or nil. whole is the reply with the parts before it: a model
// that has nothing to add has ended it.
func unusable(s Result, whole string) *Error {
	switch {
	case s.Stop == provider.StopRefusal:
		return &Error{Kind: provider.KindRefusal, Err: errors.New("the model declined to answer")}
	case s.Stop == provider.StopFilter:
		return &Error{Kind: provider.KindContentFilter, Err: errors.New("the provider's filter cut the reply")}
	case strings.TrimSpace(s.Text) == "" && s.Stop == provider.StopLength:
		return &Error{
			Kind: provider.KindInvalidResponse, Capped: true,
			Err: errors.New("the reply is blank: the model's thoughts used all its output tokens"),
		}
	case strings.TrimSpace(whole) == "":
		return &Error{Kind: provider.KindInvalidResponse, Err: errors.New("the reply is blank")}
	default:
		return nil
	}
}

// excerpt returns what is kept of a reply that is not used, and whether the reply was longer.
func excerpt(reply string) (kept string, short bool) {
	const most = 2048
	reply = text.Readable(reply)
	return text.Cut(reply, most), len(reply) > most
}

// bounded replaces invalid UTF-8 in a free reply. It cuts a free reply that is longer than its tokens allow. An answer
// that must match a schema is not cut, because half of it would be worth nothing: structured bounds it.
func bounded(intent *Intent, s Result, otherwise int) Result {
	tokens := visibleTokens(intent)
	if tokens == 0 { // a person's answer, which others read too
		tokens = otherwise
	}
	if intent.Schema != "" {
		return s
	}
	kept := text.Readable(s.Text)
	if most := maxReplyBytes(tokens); tokens > 0 && len(kept) > most {
		kept, s.Stop = text.Cut(kept, most), provider.StopLength
	}
	return s.saying(kept)
}

// maxReplyBytes returns the most bytes of a reply that was allowed this many tokens.
func maxReplyBytes(tokens int) int {
	if tokens > math.MaxInt/bytesPerToken {
		return math.MaxInt
	}
	return tokens * bytesPerToken
}

// Spoken returns the text of a result as its turn or its ToolCalls will hold it: cut where it is too long, and in valid UTF-8.
func (c *Core) Spoken(s Result) string {
	if state := c.current(s.Call, s.Attempt); state != nil {
		s, _ = c.joined(state, bounded(state.intent, s, c.record.settings.MaxTokens))
		if len(s.Calls) > 0 && state.intent.Offer != nil {
			return text.Readable(s.Text)
		}
		if schema := c.machine.flow.Schemas[state.intent.Schema]; schema != nil && schema.spoken != "" {
			return schema.streamed(s.Text)
		}
		return s.Text
	}
	return s.Text
}

// Thoughts returns the text of the model's thoughts as the turn of a result will hold it.
func (c *Core) Thoughts(s Result) string {
	state := c.current(s.Call, s.Attempt)
	if state == nil || s.Metadata == nil {
		return ""
	}
	var turn Turn
	addBeside(&turn, &Metadata{reasoning: s.Metadata.reasoning}, state.intent.Tokens)
	return turn.Reasoning
}

// Validates reports whether stepping the signal compares an answer with a JSON schema. That takes up to 64 KiB of stack, so a
// runtime with many goroutines should step such signals on a few dedicated ones.
func (c *Core) Validates(signal Signal) bool {
	if outcomes, several := signal.(Outcomes); several {
		return slices.ContainsFunc(outcomes, c.Validates)
	}
	result, ok := signal.(Result)
	if !ok {
		return false
	}
	state := c.current(result.Call, result.Attempt)
	return state != nil && state.intent.Schema != ""
}

func (c *Core) turn(state *callState, spend *Spend, s Result) *Turn {
	intent := state.intent
	turn := &Turn{
		Spend: *spend, Round: intent.Round, Slot: intent.Slot, Kind: intent.Kind, Speaker: intent.By,
		Target: intent.Target, Text: s.Text, Attachments: s.Attachments, Cut: s.Stop == provider.StopLength, Hidden: intent.Hidden,
		UsedUp: state.usedUp,
	}
	addBeside(turn, s.Metadata, intent.Tokens)
	if intent.Schema == "" {
		turn.Quotations = c.quotations(turn.Text, s.Quotations)
	}
	return turn
}

// structured makes the event of an answer that must match a schema, or returns its problems. An answer that did not
// end normally is not parsed: a truncated number is a number too.
func (c *Core) structured(state *callState, spend *Spend, s Result) (Body, []string) {
	intent := state.intent
	schema := c.machine.flow.Schemas[intent.Schema]
	if schema == nil {
		return nil, []string{fmt.Sprintf("the flow has no schema %q", intent.Schema)}
	}
	if s.Stop != "" && s.Stop != provider.StopEnd {
		problem := fmt.Sprintf("the answer was broken off (%s) before its end", s.Stop)
		if intent.Lowered > 0 && s.Stop == provider.StopLength {
			problem += fmt.Sprintf(": the budget left no more than %d tokens for it (the cap is %d)", intent.Tokens, intent.Lowered)
		}
		return nil, []string{problem}
	}
	var l *text.Labels
	if c.record.anonymous != nil && intent.Labels {
		l = c.record.anonymous.Labels
	}
	answer, problems := schema.accept(c.record, s.Text, l)
	if len(problems) > 0 {
		return nil, problems
	}
	if schema.body != nil {
		return schema.body(c.record, intent, *spend, answer.value), nil
	}
	if most := c.mostReply(intent); most > 0 && len(answer.json) > most { // others read it
		return nil, []string{fmt.Sprintf("the answer has %d bytes: at most %d are accepted", len(answer.json), most)}
	}
	turn := c.turn(state, spend, s.saying(answer.spoken))
	turn.Data = []byte(answer.json)
	return turn, nil
}

// unfit returns why a log could not hold the body that AnswerOf.Body has made of an answer, or nil. It is a mistake of
// the flow: found here, it names the schema and the kind, and the log can still be read.
func (f *Flow) unfit(body Body, intent *Intent) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("flow %s, schema %s: "+format, append([]any{f.Name, intent.Schema}, args...)...)
	}
	if v := reflect.ValueOf(body); !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() {
		return wrong("AnswerOf.Body has returned %T, not a pointer to a body", body)
	}
	_, turn := body.(*Turn)
	if own := f.newBody(body.EventKind()); !turn && reflect.TypeOf(own) != reflect.TypeOf(body) {
		return wrong("AnswerOf.Body has returned a %T of kind %q, which Flow.Bodies lacks", body, body.EventKind())
	}
	if spend := SpendOf(body); spend == nil || spend.Call != intent.Call || spend.Attempt != intent.Attempt {
		return wrong("the %T of AnswerOf.Body lacks the Spend that it was given", body)
	}
	return nil
}

// failed takes an attempt that gave no reply.
func (c *Core) failed(s Failed) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil
	}
	failure := s.Error
	if failure == nil {
		failure = &Error{Kind: provider.KindAPI, Err: errors.New("the attempt failed without a reason")}
	}
	spend := c.record.reckon(state.intent, s.reported())
	spend.Took, spend.Queued = s.Took, s.Queued
	if state.intent.Tool != "" {
		return c.toolFailed(state, &spend, failure, failure.Kind == provider.KindCanceled)
	}
	if c.record.Final() {
		return c.spend(&spend)
	}
	intent := state.intent
	if s.Void {
		return c.emit(Event{Body: &Failure{Spend: spend, By: intent.By, Void: true, Error: c.locate(state, failure)}})
	}
	if err := c.unused(state, failure, &Failure{Spend: spend, Unreached: s.Unreached}, ""); err != nil {
		return err
	}
	return c.overshoot(intent, &spend)
}

// ended reports whether a failure of a kind means that a reply has come to its end. Then only its usage is unknown.
func ended(kind Kind) bool {
	return kind == provider.KindInvalidResponse || kind == provider.KindRefusal || kind == provider.KindContentFilter
}

// errGone is why an attempt is lost. It is known by its text: a log keeps no more of it.
var errGone = errors.New("the process that made this call is gone")

// lost takes an attempt whose outcome is unknown, and so is what it has cost.
func (c *Core) lost(s Lost) error {
	state := c.current(s.Call, s.Attempt)
	if state == nil {
		return nil
	}
	spend := c.record.unknownSpend(state.intent)
	gone := &Error{Kind: provider.KindNetwork, Err: errGone}
	switch {
	case state.intent.Tool != "":
		return c.toolFailed(state, &spend, gone, true)
	case c.record.Final():
		return c.spend(&spend)
	}
	return c.emit(Event{Body: &Failure{Spend: spend, By: state.intent.By, Void: true, Error: c.locate(state, gone)}})
}

// unused records a failed attempt, with the reply that could not be used. It decides whether there is another attempt,
// when, and with which model. out holds what is known of it.
func (c *Core) unused(state *callState, failure *Error, out *Failure, reply string) error {
	out.By, out.Error = state.intent.By, c.locate(state, failure)
	out.Text, out.Cut = excerpt(reply)
	out.Broken = failure.Capped
	smaller := failure.Kind == provider.KindContextOverflow && c.record.overflowed(state.intent, failure, out)
	if state.aborted && failure.Kind == provider.KindCanceled {
		out.Void = true
		return c.emit(Event{Body: out})
	}
	policy := c.record.settings.Retry
	tries := append(slices.Clone(state.tries()), failure.Kind)
	last, unproven := c.unproven(state, out)
	wait, again := retryDelay(policy, tries, failure.RetryAfter, c.in.Bits)
	if again && state.waits() == 0 && (!unproven || !c.in.At.Add(wait).After(last)) {
		out.RetryAt = c.in.At.Add(wait)
		return c.emit(Event{Body: out})
	}
	if smaller {
		out.RetryAt = c.in.At
		return c.emit(Event{Body: out})
	}
	if out.Next = c.record.successor(state.intent, failure); out.Next != "" {
		return c.emit(Event{Body: out})
	}
	call := c.wanted(state)
	if wait, ok := c.await(state, out); ok && call != nil && !slices.Contains(call.OnFail.Instead, failure.Kind) {
		out.RetryAt, out.Waits = c.in.At.Add(wait), true
		if err := c.emit(Event{Body: out}); err != nil {
			return err
		}
		return c.outlast(state, out)
	}
	out.Final, out.Instead = true, call == nil || call.OnFail.instead(failure.Kind)
	if unproven {
		c.sayUnreached(state, out)
	}
	return c.emit(Event{Body: out})
}

// instead reports whether the flow goes on by itself after a failure of a call in flight. A call that it no longer wants
// needs no decision either.
func (c *Core) instead(state *callState, kind Kind) bool {
	call := c.wanted(state)
	return call == nil || call.OnFail.instead(kind)
}

// mayFallBack reports whether another model may succeed. It cannot if the host program itself ended the attempt.
func mayFallBack(kind Kind) bool {
	return kind != provider.KindCanceled && kind != provider.KindState && kind != provider.KindCostLimit
}

// locate returns the failure with the call, the participant, the round and the attempt in which it happened, and what it concerns.
func (c *Core) locate(state *callState, failure *Error) *Error {
	out := *failure
	out.Op, out.Participant, out.Round, out.Attempt = state.intent.Call, state.intent.By, state.intent.Round, state.intent.Attempt
	out.At = c.in.At
	if call := c.wanted(state); call != nil && call.asked == nil && out.Field == "" {
		out.Field = fieldConcerning(*c.record.settings, call, out.Kind)
	}
	return &out
}
