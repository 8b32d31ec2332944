package otel

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// The outcomes of an attempt.
const (
	outcomeAccepted = "accepted"
	outcomeRejected = "rejected"  // the answer was not accepted
	outcomeCut      = "continued" // cut at its cap: the next attempt continues the reply
	outcomeTools    = "tools"     // the model asked for tools before it answered
	outcomeFailed   = "failed"
	outcomeUnknown  = "unknown" // nobody knows whether the use of a tool took effect
	outcomeVoid     = "void"    // broken off by a control, or lost with its process
	outcomeUnsent   = "unsent"  // too large for the window, so no request was made
	outcomeLate     = "late"    // the result came after the debate's end; only its cost counts
)

// outcome is the result of an attempt.
type outcome struct {
	spend     *flow.Spend
	name      string
	kind      flow.CallKind
	by        string
	tool      string // the name of the tool, if one was used
	round     int
	finish    string // why the reply ended, in the words of the conventions; "": unknown
	failure   *flow.Failure
	rejection *flow.Rejection
	answer    any // a text, or a value for JSON
}

// failed returns the error.type of a failure; "": there is none. A call that the host program broke off
// has not failed, and one that was lost with its process is no failure of the vendor's.
func (o *outcome) failed() string {
	switch {
	case o.failure == nil, o.failure.Void && o.failure.Error != nil && o.failure.Error.Kind == provider.KindCanceled:
		return ""
	case o.failure.Void && o.failure.Error != nil && o.failure.Error.Kind == provider.KindNetwork:
		return goneValue
	default:
		return failureType(o.failure.Error)
	}
}

// took returns how long the request took, or false if that is unknown, because the attempt was lost with
// its process. If the engine did not measure it, it is the time between the facts.
func (o *outcome) took(between time.Duration) (time.Duration, bool) {
	if o.spend.Took > 0 {
		return o.spend.Took, true
	}
	return between, o.name != outcomeVoid
}

// outcomeOf returns the outcome that an event reports, if it reports one.
func outcomeOf(e *flow.Event) (outcome, bool) {
	accepted := outcome{name: outcomeAccepted, finish: "stop"}
	switch body := e.Body.(type) {
	case *flow.Turn:
		accepted.spend, accepted.kind, accepted.by, accepted.round, accepted.answer = &body.Spend, body.Kind, body.Speaker, body.Round, body.Text
		accepted.cut(body.Cut)
	case *flow.Summarized:
		accepted.spend, accepted.kind, accepted.answer = &body.Spend, flow.KindSummary, body.Text
		accepted.cut(body.Cut)
	case *debate.Assessment:
		accepted.spend, accepted.kind, accepted.by, accepted.round = &body.Spend, debate.KindAssessment, body.Judge, body.Round
		accepted.answer = &body.Judgement
	case *debate.Verdict:
		accepted.spend, accepted.kind, accepted.by, accepted.answer = &body.Spend, debate.KindVerdict, body.Judge, &body.FinalVerdict
	case *debate.Ballot:
		accepted.spend, accepted.kind, accepted.by, accepted.answer = &body.Spend, debate.KindBallot, body.Voter, &body.BallotAnswer
	case *debate.Assignment:
		accepted.spend, accepted.kind = &body.Spend, debate.KindAssign
		accepted.answer = &positions{body.Positions, body.Reasoning}
	case *flow.ToolCalls:
		return outcome{spend: &body.Spend, name: outcomeTools, by: body.By, round: body.Round, finish: "tool_calls", answer: body.Text}, true
	case *flow.Continued:
		return outcome{spend: &body.Spend, name: outcomeCut, by: body.By, round: body.Round, finish: "length", answer: body.Text}, true
	case *flow.ToolResult:
		out := outcome{spend: &body.Spend, name: outcomeAccepted, kind: flow.KindTool, by: body.By, tool: body.Tool, round: body.Round}
		switch {
		case body.Unknown:
			out.name = outcomeUnknown
		case body.Failed:
			out.name = outcomeFailed
		}
		return out, true
	case *flow.Rejection:
		return outcome{spend: &body.Spend, name: outcomeRejected, by: body.By, round: body.Round, rejection: body, answer: body.Text}, true
	case *flow.Failure:
		return outcome{spend: &body.Spend, name: nameOf(body), by: body.By, failure: body}, true
	case *flow.Charge:
		return outcome{spend: &body.Spend, name: outcomeLate}, true
	default: // of another flow
		if accepted.spend = flow.SpendOf(body); accepted.spend != nil {
			accepted.answer = own{body}
		}
	}
	return accepted, accepted.spend != nil
}

// positions are the positions that a model found, without their cost.
type positions struct {
	Positions []debate.AssignedPosition `json:"positions"`
	Reasoning string                    `json:"reasoning"`
}

// own is a body that only its flow knows, without what its attempt has cost.
type own struct{ body flow.Body }

// MarshalJSON writes the fields of the body that are not those of its Spend.
func (o own) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(o.body)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for field := range reflect.TypeFor[flow.Spend]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(fields, name)
	}
	return json.Marshal(fields)
}

func (o *outcome) cut(cut bool) {
	if cut {
		o.finish = "length"
	}
}

func nameOf(f *flow.Failure) string {
	switch {
	case f.Unsent:
		return outcomeUnsent
	case f.Void:
		return outcomeVoid
	default:
		return outcomeFailed
	}
}

// message and part are the conventions' form of an answer.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"` //nolint:tagliatelle // the conventions' name
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// messages returns the answer, cut to a bound.
func (o *outcome) messages() []attribute.KeyValue {
	answer, plain := o.answer.(string)
	if !plain && o.answer != nil {
		data, err := json.Marshal(o.answer)
		if err != nil {
			return nil // a number that JSON cannot represent
		}
		answer = string(data)
	}
	if answer == "" {
		return nil
	}
	data, err := json.Marshal([]message{{Role: "assistant", Parts: []part{{"text", text.Cut(answer, maxContent)}}, Finish: o.finish}})
	if err != nil {
		return nil
	}
	return []attribute.KeyValue{keyMessages.String(string(data))}
}
