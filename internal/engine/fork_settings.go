package engine

import (
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
	a, amended := flow.Overridden(&old.Settings, &edited.Settings, record.Settings())
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
