package engine

import (
	"reflect"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// kept adds the amendment that gives a fork what its edit has changed, if the copied part of the log takes some of it back:
// its amendments, and the models that were chosen for actors. The edit is the later decision.
func (l *Engine) kept(origin *flow.Core, id string, events []flow.Event) ([]flow.Event, error) {
	forked, err := l.NewCore(id, events)
	if err != nil {
		return nil, err
	}
	record := forked.Record()
	old, edited := origin.Record().Start(), record.Start()
	a := &flow.Amendment{}
	amended := overridden(a, &old.Settings, &edited.Settings, record.Settings())
	if asks := origin.Flow().Asks; asks != nil {
		before, err := l.asked(id, old, asks)
		if err != nil {
			return nil, err
		}
		after, err := l.asked(id, edited, asks)
		if err != nil {
			return nil, err
		}
		a.Models = replaced(before, after, record)
	}
	if !amended && a.Models == nil {
		return events, nil
	}
	return append(events, flow.Event{Seq: record.Seq + 1, At: record.LastAt, Body: a}), nil
}

// asked returns whom a conversation asks when it has just been started.
func (l *Engine) asked(id string, start *flow.Start, asks func(*flow.Record) []*flow.Call) ([]*flow.Call, error) {
	core, err := l.NewCore(id, []flow.Event{{Seq: 1, Body: start}})
	if err != nil {
		return nil, err
	}
	return asks(core.Record()), nil
}

// overridden sets the fields of an amendment that an edit has changed and that are not in force. It reports whether there
// are any.
func overridden(a *flow.Amendment, old, edited, inForce *flow.Settings) bool {
	found := false
	lost := func(before, after, now any) bool {
		lost := !reflect.DeepEqual(before, after) && !reflect.DeepEqual(after, now)
		found = found || lost
		return lost
	}
	if lost(old.Budget, edited.Budget, inForce.Budget) {
		if a.Budget = edited.Budget; a.Budget == nil {
			a.Budget = &flow.Budget{}
		}
	}
	if lost(old.Retry, edited.Retry, inForce.Retry) {
		if a.Retry = edited.Retry; a.Retry == nil {
			a.Retry = &flow.RetryPolicy{}
		}
	}
	policy := func(t *flow.Settings) any { return []any{t.Unattended, t.OnFailure} }
	if lost(policy(old), policy(edited), policy(inForce)) {
		a.OnFailure, a.Unattended = &edited.OnFailure, &edited.Unattended
	}
	if lost(old.ToolPolicy, edited.ToolPolicy, inForce.ToolPolicy) {
		a.ToolPolicy = &edited.ToolPolicy
	}
	if lost(old.Context, edited.Context, inForce.Context) {
		a.Context = &edited.Context
	}
	if lost(old.Summarizer, edited.Summarizer, inForce.Summarizer) {
		a.Summarizer = &edited.Summarizer
	}
	if lost(old.AutoSummary, edited.AutoSummary, inForce.AutoSummary) {
		a.AutoSummary = &edited.AutoSummary
	}
	if lost(old.Rounds, edited.Rounds, inForce.Rounds) {
		a.Rounds = &edited.Rounds
	}
	if lost(old.Patience, edited.Patience, inForce.Patience) {
		a.Patience = (*flow.Duration)(&edited.Patience)
	}
	if lost(old.RoundTimeout, edited.RoundTimeout, inForce.RoundTimeout) {
		a.RoundTimeout = (*flow.Duration)(&edited.RoundTimeout)
	}
	if lost(old.TurnTimeout, edited.TurnTimeout, inForce.TurnTimeout) {
		a.TurnTimeout = (*flow.Duration)(&edited.TurnTimeout)
	}
	return found
}

// replaced returns the models that an edit has changed for actors for whom another model was chosen in the copied part.
func replaced(before, after []*flow.Call, record *flow.Record) map[string]flow.ModelChoice {
	var out map[string]flow.ModelChoice
	for _, call := range after {
		same := func(c *flow.Call) bool {
			return c.By == call.By && c.Model == call.Model && slices.Equal(c.Fallbacks, call.Fallbacks)
		}
		if call.Model == "" || record.Replacement(call.By) == "" || slices.ContainsFunc(before, same) {
			continue
		}
		if out == nil {
			out = make(map[string]flow.ModelChoice)
		}
		out[call.By] = flow.ModelChoice{Model: call.Model, Fallbacks: call.Fallbacks}
	}
	return out
}
