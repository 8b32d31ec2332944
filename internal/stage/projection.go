package stage

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// Project writes the values of a log, one event a line. A test that pins what logs say compares such lines: no other place
// there reads an event, so this is the only one to adapt when the types of events change. The names in a line are
// its own. It leaves out times, which depend on the clock, and the owner of a lease, which is drawn at random.
func Project(log []debate.Event) string {
	var out strings.Builder
	for i := range log {
		out.WriteString(project(&log[i]) + "\n")
	}
	return out.String()
}

// project writes the values of an event as one line.
func project(e *debate.Event) string {
	l := line{strconv.FormatInt(e.Seq, 10), string(e.Kind())}
	if !l.outcome(e.Body) {
		l.step(e.Body)
	}
	return strings.Join(l, " ")
}

// line is a projection in the making.
type line []string

// outcome adds the body of an event with which an attempt ends, and reports whether it is one.
func (l *line) outcome(of flow.Body) bool {
	spend := flow.SpendOf(of)
	if spend == nil {
		return false
	}
	l.spend(spend)
	switch body := of.(type) {
	case *debate.Turn:
		l.add("kind", body.Kind, "speaker", body.Speaker, "target", body.Target, "round", body.Round, "slot", body.Slot,
			"text", body.Text, "data", body.Data, "cut", body.Cut, "hidden", body.Hidden)
	case *debate.Assignment:
		for _, p := range body.Positions {
			l.add("to", p.Participant, "position", p.Position, "persona", p.Persona, "arguments", p.KeyArguments)
		}
		l.add("why", body.Reasoning)
	case *debate.Ballot:
		l.add("voter", body.Voter, "after", body.After, "vote", body.Vote, "why", body.Reasoning)
	case *flow.Summarized:
		l.add("view", body.View, "upto", body.Upto, "text", body.Text, "before", body.Before, "after", body.After, "cut", body.Cut)
	case *debate.Assessment:
		l.assessment(body)
	case *debate.Verdict:
		l.verdict(body)
	case *flow.Rejection:
		l.add("by", body.By, "round", body.Round, "text", body.Text, "problems", body.Problems, "next", body.Next)
	case *flow.Failure:
		l.add("by", body.By, "final", body.Final, "next", body.Next, "void", body.Void, "unsent", body.Unsent, "window", body.Window)
		l.failure(body.Error)
	case *flow.ToolCalls:
		l.add("by", body.By, "round", body.Round, "text", body.Text)
		for _, u := range body.Uses {
			l.add("use", u.Use, "id", u.ID, "tool", u.Name, "arguments", u.Arguments, "denied", u.Denied)
		}
	case *flow.ToolResult:
		l.add("by", body.By, "round", body.Round, "tool", body.Tool, "text", body.Text, "failed", body.Failed, "cut", body.Cut)
	}
	return true
}

// step adds the body of any other event.
func (l *line) step(of flow.Body) {
	switch body := of.(type) {
	case *flow.Start:
		l.start(body)
	case *flow.Transition:
		l.add("from", body.From, "on", body.On, "to", body.To, "calls", body.Calls, "drain", body.Drain,
			"reason", body.Reason, "evidence", body.Evidence)
		l.failure(body.Failure)
	case *flow.Round:
		l.add("n", body.N, "of", body.Of, "phase", body.Phase, "calls", body.Calls)
	case *flow.Intent:
		l.intent(body)
	case *flow.Dropped:
		l.add("who", body.Participant, "why", body.Reason)
	case *flow.Warning:
		l.add("kind", body.Kind, "threshold", body.Threshold, "spent", body.Spend, "call", body.Call, "by", body.By,
			"left", body.Left, "evidence", body.Evidence)
	case *flow.Inquiry:
		l.add("id", body.ID, "kind", body.Kind, "to", body.To, "question", body.Question, "schema", body.Schema,
			"about", body.About, "options", body.Options)
		l.failure(body.Failure)
	case *flow.Answer:
		l.add("inquiry", body.Inquiry, "text", body.Text, "option", body.Option, "model", body.Model, "unattended", body.Unattended)
		if body.Row != nil {
			l.model(body.Model, *body.Row)
		}
	case *flow.Sent:
		l.add("on", body.Trigger, "payload", body.Payload)
	}
}

func (l *line) start(s *flow.Start) {
	c := StartConfig(s)
	l.add("version", s.Version, "topic", c.Topic, "mode", c.Mode, "rounds", c.Rounds, "format", StartFormat(s).Name, "flow", s.Flow,
		"flowVersion", s.FlowVersion)
	for _, p := range c.Participants {
		l.add("participant", p.Name, "side", p.Side, "model", p.Model, "fallbacks", p.Fallbacks, "position", p.Position)
	}
	if c.Judging != nil {
		for _, j := range c.Judging.Judges {
			l.add("judge", j.Name, "model", j.Model, "fallbacks", j.Fallbacks, "function", j.Judge, "person", j.Person)
		}
	}
	if c.Audience != nil {
		for _, m := range c.Audience.Members {
			l.add("listener", m.Name, "model", m.Model)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		l.model(name, s.Models[name])
	}
	l.add("texts", slices.Sorted(maps.Values(s.Texts)), "tools", slices.Sorted(maps.Keys(s.Tools)))
	if s.Parent != nil {
		l.add("parent", s.Parent.ID, "seq", s.Parent.Seq)
	}
}

func (l *line) model(name string, m debate.Model) {
	l.add("row", name, "priced", m.Priced, "input", m.Input, "output", m.Output, "cached", m.CachedInput, "written", m.CacheWrite,
		"context", m.Context)
}

func (l *line) intent(in *flow.Intent) {
	l.call(in.Call, in.Attempt, in.Model)
	l.add("kind", in.Kind, "by", in.By, "next", in.Next, "rest", in.Fallbacks, "place", in.ModelIndex, "round", in.Round, "slot", in.Slot,
		"target", in.Target, "schema", in.Schema, "hidden", in.Hidden, "after", in.Tag == "after", "swapped", in.Tag == "swapped",
		"view", in.View, "upto", in.Upto, "again", in.Again, "tool", in.Tool, "for", in.For, "input", in.Input, "bound", in.Bound,
		"tokens", in.Tokens, "reserve", in.Reserve)
	if in.Offer != nil {
		l.add("offer", in.Offer.Tools, "uses", in.Offer.Uses)
	}
}

func (l *line) assessment(a *debate.Assessment) {
	l.add("judge", a.Judge, "round", a.Round, "goOn", a.ShouldContinue, "quality", a.QualityScore)
	for _, m := range a.Assessments {
		l.add("of", m.Participant, "score", m.Score, "criteria", m.Criteria, "strengths", m.Strengths, "weaknesses", m.Weaknesses)
	}
	f := a.Flags
	l.add("repetitive", f.Repetitive, "drifting", f.Drifting, "diminishing", f.DiminishingReturns, "converged", f.ConvergenceReached,
		"why", a.Reasoning, "advice", a.Recommendations)
}

func (l *line) verdict(v *debate.Verdict) {
	l.add("judge", v.Judge, "swapped", v.Swapped)
	if v.Winner != nil {
		l.add("winner", v.Winner.Participant, "why", v.Winner.Reasoning)
	}
	l.add("scores", v.Scores, "criteria", v.Criteria, "quality", v.QualityScore, "summary", v.Summary, "agreed", v.AreasOfAgreement,
		"disagreed", v.AreasOfDisagreement, "insights", v.Insights)
	for _, k := range v.KeyPoints {
		l.add("of", k.Participant, "points", k.MainArguments)
	}
}

func (l *line) call(call string, attempt int, model string) {
	*l = append(*l, short(call)+"#"+strconv.Itoa(attempt), cmp.Or(model, "-"))
}

func (l *line) spend(s *flow.Spend) {
	u := s.Usage
	l.call(s.Call, s.Attempt, s.Model)
	l.add("in", u.Input, "fromCache", u.CachedInput, "toCache", u.CacheWrite, "out", u.Output, "reasoning", u.Reasoning, "cost", s.Cost,
		"estimated", s.Estimated, "repeated", s.Cached)
}

func (l *line) failure(e *debate.Error) {
	if e == nil {
		return
	}
	l.add("error", e.Kind, "field", e.Field, "of", e.Participant, "round", e.Round, "attempt", e.Attempt, "wait", e.RetryAfter)
	if e.Err != nil {
		l.add("cause", e.Err.Error())
	}
}

// add adds names and their values, but for those that are zero or empty.
func (l *line) add(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		v := reflect.ValueOf(pairs[i+1])
		switch {
		case v.IsZero(), (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0:
		case v.Kind() == reflect.Bool:
			*l = append(*l, fmt.Sprint(pairs[i]))
		default:
			*l = append(*l, fmt.Sprintf("%s=%s", pairs[i], valued(v)))
		}
	}
}

// valued writes a value without asking its type how: money is the number of its smallest units.
func valued(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return short(v.String())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Slice:
		if data, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			return short(unordered(data))
		}
		all := make([]string, v.Len())
		for i := range all {
			all[i] = valued(v.Index(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	case reflect.Map:
		var all []string
		for _, key := range v.MapKeys() {
			all = append(all, valued(key)+":"+valued(v.MapIndex(key)))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	default:
		return fmt.Sprintf("%d", v.Interface())
	}
}

// unordered writes JSON with the keys of its objects sorted, so that their order does not count.
func unordered(data json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return string(data)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(sorted)
}

// short writes a short text as it is, and quoted if it is more than a word. Of a long one it writes the length in bytes
// and a hash.
func short(text string) string {
	if len(text) > 48 {
		return fmt.Sprintf("%d~%.4x", len(text), sha256.Sum256([]byte(text)))
	}
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` || strings.ContainsAny(text, " ,:[]{}=") {
		return quoted
	}
	return text
}
