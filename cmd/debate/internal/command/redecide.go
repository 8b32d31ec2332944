package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
)

// redecide lets the flow decide again, from the events before, each change of the state that it has decided alone, and compares
// it with the log. It returns how many there are. The copied part of a fork is left out: it was decided under another config.
func redecide(ctx context.Context, engine *debate.Engine, record *flow.Record) (int, error) {
	var events []flow.Event
	copied := int64(0)
	for event, err := range engine.Store.Read(ctx, record.ID, 0) {
		if err != nil {
			return 0, err
		}
		if start, ok := event.Body.(*flow.Start); ok && start.Parent != nil {
			copied = start.Parent.Seq
		}
		if events = append(events, event); event.Seq >= record.Seq {
			break
		}
	}
	flows, err := compiled(engine)
	if err != nil {
		return 0, err
	}
	f, decided := flowOf(engine, record.Flow()), 0
	for i := range events {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		said, ok := events[i].Body.(*flow.Transition)
		if !ok || events[i].Seq <= copied || !alone(f, said) {
			continue
		}
		again, err := next(flows, record.ID, events[:i], &events[i])
		if err != nil {
			return 0, fmt.Errorf("event %d: %w", events[i].Seq, err)
		}
		if again == nil || [2]flow.State{again.From, again.To} != [2]flow.State{said.From, said.To} ||
			again.On != said.On || again.Reason != said.Reason || again.By != said.By {
			return 0, fmt.Errorf("event %d goes %s, and the flow decides to go %s", events[i].Seq, way(said), way(again))
		}
		decided++
	}
	return decided, nil
}

// alone reports whether the flow decides a change of the state by the events before it alone: nobody has asked for it, no
// failure and no limit has caused it.
func alone(f *flow.Flow, t *flow.Transition) bool {
	if f == nil || t.By == flow.EndedByHost || t.Call != "" || slices.Contains(f.Inputs, t.On) {
		return false
	}
	switch t.On {
	case flow.TriggerInitialized, flow.TriggerComplete, flow.TriggerCompleted:
		return true
	default: // one of the flow's own
		return !slices.ContainsFunc(flow.Lifecycle(), func(rule flow.Rule) bool { return rule.On == t.On })
	}
}

// next returns the change of the state that follows events at the time of the next one; nil: there is none.
func next(flows flow.Flows, id string, before []flow.Event, at *flow.Event) (*flow.Transition, error) {
	core, err := flow.NewCore(flows, map[string]window.Manager{
		flow.ContextTruncate: window.Truncate{}, flow.ContextSliding: window.Sliding{}, flow.ContextSummarize: window.Summarize{},
		flow.DefaultContext: window.Hybrid{},
	}, id, before)
	if err != nil {
		return nil, err
	}
	out, err := core.Step(flow.Input{At: at.At, Signal: flow.Tick{}})
	if err != nil {
		return nil, err
	}
	for i := range out.Events {
		if t, ok := out.Events[i].Body.(*flow.Transition); ok {
			return t, nil
		}
	}
	return nil, nil //nolint:nilnil // the flow stays where it is
}

// compiled returns the flows of an engine as a core takes them.
func compiled(engine *debate.Engine) (flow.Flows, error) {
	all := flow.Flows{Machines: make(map[string]*flow.Machine), First: debate.FlowName}
	for _, f := range flows(engine) {
		machine, err := flow.Compile(f)
		if err != nil {
			return flow.Flows{}, err
		}
		all.Machines[f.Name] = machine
	}
	return all, nil
}

// way says how the state changes.
func way(t *flow.Transition) string {
	if t == nil {
		return "nowhere"
	}
	return strings.TrimSpace(fmt.Sprintf("from %s to %s by %s %s", t.From, t.To, t.On, t.Reason))
}
