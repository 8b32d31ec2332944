package otel

import (
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agonist-dev/debate"
)

// The outcomes of an attempt.
const (
	outcomeAccepted = "accepted"
	outcomeRejected = "rejected" // the answer was not accepted
	outcomeTools    = "tools"    // the model asked for tools before it answered
	outcomeFailed   = "failed"
	outcomeVoid     = "void"   // broken off by a control, or lost with its process
	outcomeUnsent   = "unsent" // too large for the window, so no request was made
	outcomeLate     = "late"   // the result came after the debate's end; only its cost counts
)

// outcome is the result of an attempt.
type outcome struct {
	spend   *debate.Spend
	name    string
	kind    debate.CallKind
	by      string
	tool    string // the name of the tool, if one was used
	round   int
	finish  string // why the reply ended, in the words of the conventions; "": unknown
	failure *debate.Failure
	answer  any // a text, or a value for JSON
}

// failed returns the error.type of a failure; "": there is none. A call that the host program broke off
// has not failed.
func (o *outcome) failed() string {
	switch {
	case o.failure == nil, o.failure.Void && o.failure.Error != nil && o.failure.Error.Kind == debate.KindCanceled:
		return ""
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
func outcomeOf(e *debate.Event) (outcome, bool) {
	accepted := outcome{name: outcomeAccepted, finish: "stop"}
	switch {
	case e.Turn != nil:
		t := e.Turn
		accepted.spend, accepted.kind, accepted.by, accepted.round, accepted.answer = &t.Spend, t.Kind, t.Speaker, t.Round, t.Text
		accepted.cut(t.Cut)
	case e.Summary != nil:
		s := e.Summary
		accepted.spend, accepted.kind, accepted.answer = &s.Spend, debate.KindSummary, s.Text
		accepted.cut(s.Cut)
	case e.Assessment != nil:
		a := e.Assessment
		accepted.spend, accepted.kind, accepted.by, accepted.round = &a.Spend, debate.KindAssessment, a.Judge, a.Round
		accepted.answer = &a.Judgement
	case e.Verdict != nil:
		v := e.Verdict
		accepted.spend, accepted.kind, accepted.by, accepted.answer = &v.Spend, debate.KindVerdict, v.Judge, &v.FinalVerdict
	case e.Ballot != nil:
		b := e.Ballot
		accepted.spend, accepted.kind, accepted.by, accepted.answer = &b.Spend, debate.KindBallot, b.Voter, &b.BallotPaper
	case e.Assigned != nil:
		a := e.Assigned
		accepted.spend, accepted.kind = &a.Spend, debate.KindAssign
		accepted.answer = &positions{a.Positions, a.Reasoning}
	case e.Tools != nil:
		t := e.Tools
		return outcome{spend: &t.Spend, name: outcomeTools, by: t.By, round: t.Round, finish: "tool_calls", answer: t.Text}, true
	case e.Tool != nil:
		t := e.Tool
		out := outcome{spend: &t.Spend, name: outcomeAccepted, kind: debate.KindTool, by: t.By, tool: t.Tool, round: t.Round}
		if t.Failed {
			out.name = outcomeFailed
		}
		return out, true
	case e.Rejection != nil:
		r := e.Rejection
		return outcome{spend: &r.Spend, name: outcomeRejected, by: r.By, round: r.Round, answer: r.Text}, true
	case e.Failure != nil:
		return outcome{spend: &e.Failure.Spend, name: nameOf(e.Failure), by: e.Failure.By, failure: e.Failure}, true
	case e.Spend != nil:
		return outcome{spend: e.Spend, name: outcomeLate}, true
	default:
		return outcome{}, false
	}
	return accepted, true
}

// positions are the positions that a model found, without their cost.
type positions struct {
	Positions []debate.AssignedPosition `json:"positions"`
	Reasoning string                    `json:"reasoning"`
}

func (o *outcome) cut(cut bool) {
	if cut {
		o.finish = "length"
	}
}

func nameOf(f *debate.Failure) string {
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
	text, plain := o.answer.(string)
	if !plain && o.answer != nil {
		data, err := json.Marshal(o.answer)
		if err != nil {
			return nil // a number that JSON cannot represent
		}
		text = string(data)
	}
	if text == "" {
		return nil
	}
	data, err := json.Marshal([]message{{Role: "assistant", Parts: []part{{"text", cut(text, maxContent)}}, Finish: o.finish}})
	if err != nil {
		return nil
	}
	return []attribute.KeyValue{keyMessages.String(string(data))}
}
