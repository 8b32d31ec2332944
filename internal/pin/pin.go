// Package pin writes logs as text for tests that hold what logs say while the types of events change: the same values in
// the same order. No other place in the pins reads the events that all flows have, so this is the only one to adapt when
// their types change. The names in a line are its own.
//
// A line leaves out times, which depend on the clock, and the owner of a lease, which is drawn at random.
package pin

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Log writes a log, one event a line. own adds the values that only one flow has: those of the config in a [flow.Start],
// and those of the bodies that package flow does not declare.
func Log(log []flow.Event, own func(l *Line, body flow.Body)) string {
	var out strings.Builder
	for i := range log {
		l := Line{strconv.FormatInt(log[i].Seq, 10), string(log[i].Kind())}
		l.event(log[i].Body, own)
		out.WriteString(strings.Join(l, " ") + "\n")
	}
	return out.String()
}

// event adds the values of an event.
func (l *Line) event(body flow.Body, own func(l *Line, body flow.Body)) {
	switch body := body.(type) {
	case *flow.Start:
		own(l, body)
		l.start(body)
	case *flow.Transition:
		l.Add("from", body.From, "on", body.On, "to", body.To, "calls", body.Calls, "drain", body.Drain, "reason", body.Reason,
			"evidence", body.Evidence, "by", body.By)
		l.failure(body.Failure)
		l.Add("fired", body.Call)
		if body.Whole {
			l.Add("whole", true)
		}
	case *flow.Round:
		l.Add("n", body.N, "of", body.Of, "phase", body.Phase, "calls", body.Calls)
	case *flow.Intent:
		l.intent(body)
	case *flow.Charge:
		l.Spend(&body.Spend)
	case *flow.Late:
		l.Add("call", body.Call, "attempt", body.Attempt, "by", body.By, "text", body.Text, "cut", body.Cut, "took", body.Took,
			"cost", body.Cost, "settled", body.Settled)
		l.failure(body.Error)
	case *flow.Dropped:
		l.Add("who", body.Participant, "why", body.Reason)
	case *flow.Skipped:
		l.Add("call", body.Call, "kind", body.Kind, "by", body.By, "round", body.Round, "slot", body.Slot, "why", body.Reason,
			"cause", body.Cause)
	case *flow.Withdrawn:
		l.Add("call", body.Call, "kind", body.Kind, "by", body.By, "round", body.Round)
	case *flow.Warning:
		l.Add("kind", body.Kind, "threshold", body.Threshold, "spent", body.Spend, "call", body.Call, "by", body.By, "left", body.Left,
			"limit", body.Limit, "needs", body.Needs, "needsTokens", body.NeedsTokens, "needsCalls", body.NeedsCalls, "evidence", body.Evidence)
	case *flow.Inquiry:
		l.Add("id", body.ID, "kind", body.Kind, "to", body.To, "question", body.Question, "schema", body.Schema,
			"options", body.Options)
		for _, each := range body.About {
			l.Add("about", each.Call, "of", each.By, "may", each.Options)
		}
		l.failure(body.Failure)
	case *flow.Answer:
		l.Add("inquiry", body.Inquiry, "text", body.Text, "option", body.Option, "model", body.Model, "by", body.By, "rule", body.Rule)
		if body.Row != nil {
			l.model(body.Model, *body.Row)
		}
	case *flow.Sent:
		l.Add("on", body.Trigger, "payload", body.Payload)
	case *flow.Questions:
		l.Add("open", body.Open)
	case *flow.Note:
		l.Add("id", body.ID, "as", body.As, "to", body.To, "text", body.Text, "ask", body.Ask, "round", body.Round)
	default:
		l.attemptEnd(body, own)
	}
}

// attemptEnd adds the values of what ends an attempt at a call, or those of a body that one flow has.
func (l *Line) attemptEnd(body flow.Body, own func(l *Line, body flow.Body)) {
	switch body := body.(type) {
	case *flow.Turn:
		l.Spend(&body.Spend)
		l.Add("kind", body.Kind, "speaker", body.Speaker, "target", body.Target, "round", body.Round, "slot", body.Slot, "text", body.Text,
			"data", body.Data, "cut", body.Cut, "hidden", body.Hidden)
		if body.UsedUp {
			l.Add("usedUp", true)
		}
	case *flow.Summarized:
		l.Spend(&body.Spend)
		l.Add("view", body.View, "only", body.Only, "upto", body.Upto, "text", body.Text, "before", body.Before, "after", body.After,
			"cut", body.Cut)
	case *flow.Rejection:
		l.Spend(&body.Spend)
		l.Add("by", body.By, "round", body.Round, "text", body.Text, "problems", body.Problems, "next", body.Next, "final", body.Final)
	case *flow.Failure:
		l.Spend(&body.Spend)
		l.Add("by", body.By, "final", body.Final, "next", body.Next, "void", body.Void, "unsent", body.Unsent, "instead", body.Instead,
			"waits", body.Waits, "window", body.Window, "named", body.Named, "kept", body.Kept, "ratio", body.Ratio, "broken", body.Broken)
		if body.Unreached {
			l.Add("unreached", true)
		}
		l.failure(body.Error)
	case *flow.ToolCalls:
		l.Spend(&body.Spend)
		l.Add("by", body.By, "round", body.Round, "text", body.Text)
		for _, u := range body.Uses {
			l.Add("use", u.Use, "id", u.ID, "tool", u.Name, "arguments", u.Arguments, "denied", u.Denied)
		}
	case *flow.ToolResult:
		l.Spend(&body.Spend)
		l.Add("by", body.By, "round", body.Round, "tool", body.Tool, "text", body.Text, "failed", body.Failed, "cut", body.Cut)
		if body.Unknown {
			l.Add("unknown", true)
		}
	default:
		own(l, body)
	}
}

func (l *Line) start(s *flow.Start) {
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		l.model(name, s.Models[name])
	}
	l.Add("texts", slices.Sorted(maps.Values(s.Texts)), "tools", slices.Sorted(maps.Keys(s.Tools)))
	if s.Parent != nil {
		l.Add("parent", s.Parent.ID, "seq", s.Parent.Seq, "copied", s.Parent.Spent.Cost)
	}
}

func (l *Line) model(name string, m flow.Model) {
	l.Add("row", name, "priced", m.Priced, "input", m.Input, "output", m.Output, "cached", m.CachedInput, "written", m.CacheWrite,
		"context", m.Window)
}

func (l *Line) intent(in *flow.Intent) {
	l.call(in.Call, in.Attempt, in.Model)
	l.Add("kind", in.Kind, "by", in.By, "next", in.Next, "rest", in.Fallbacks, "place", in.ModelIndex, "round", in.Round, "slot", in.Slot,
		"target", in.Target, "schema", in.Schema, "hidden", in.Hidden, "after", in.Tag == "after", "swapped", in.Tag == "swapped")
	l.Add("view", in.View, "only", in.Only, "upto", in.Upto, "reask", in.Reask, "tool", in.Tool, "for", in.For, "input", in.Input,
		"bound", in.Bound, "tokens", in.Tokens, "reserve", in.Reserve, "share", in.Share)
	for _, gap := range in.Unread {
		l.Add("unread", gap.From, "to", gap.To)
	}
	if in.Offer != nil {
		l.Add("offer", in.Offer.Tools, "uses", in.Offer.Uses)
	}
}

func (l *Line) failure(e *flow.Error) {
	if e == nil {
		return
	}
	l.Add("error", e.Kind, "field", e.Field, "of", e.Participant, "round", e.Round, "attempt", e.Attempt, "wait", e.RetryAfter)
	if e.Err != nil {
		l.Add("cause", e.Err.Error())
	}
}
