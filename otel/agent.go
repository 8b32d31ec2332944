package otel

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate/flow"
)

// agent is a participant or a judge at work on one call, from its first attempt to its answer.
type agent struct {
	*span

	n    int  // the number of its first attempt
	busy bool // with an attempt
	over bool // the call was left out, so no further attempt follows
}

// parent returns the span in which an attempt happens: that of the agent, if a model is asked or uses a tool.
func (w *watch) parent(in *flow.Intent, at time.Time) *span {
	place := w.place()
	switch {
	case !w.traced:
	case in.Tool != "":
		if a := w.agents[in.For]; a != nil {
			return a.span
		}
	case in.Model != "" && in.By != "":
		a := w.agents[in.Call]
		if a == nil {
			a = &agent{n: w.begun}
			a.span = w.open(place, operationAgent+" "+clean(in.By), at, trace.SpanKindInternal, w.agentAttributes(in)...)
			w.agents[in.Call] = a
		}
		a.busy = true
		return a.span
	}
	return place
}

func (w *watch) agentAttributes(in *flow.Intent) []attribute.KeyValue {
	vendor, model := w.observer.named(in.Model)
	attributes := []attribute.KeyValue{
		keyOperation.String(operationAgent), keyAgent.String(clean(in.By)), keyModel.String(model),
		keyCall.String(clean(in.Call)), keyKind.String(clean(string(in.Kind))), keyProvider.String(vendor),
	}
	if in.Round > 0 {
		attributes = append(attributes, keyRound.Int(in.Round))
	}
	if w.start != nil {
		attributes = append(attributes, present(keyConversation, w.start.Settings.ID)...)
	}
	return attributes
}

// worked ends the span of an agent, unless another attempt follows by itself.
func (w *watch) worked(out *outcome, at time.Time) {
	a := w.agents[out.spend.Call]
	if a == nil {
		return
	}
	a.busy = false
	a.pay(out.spend)
	var goesOn bool
	switch {
	case out.failure != nil:
		goesOn = !out.failure.Final
	case out.name == outcomeRejected:
		goesOn = !out.rejection.Final
	default:
		goesOn = out.name == outcomeTools || out.name == outcomeCut
	}
	if goesOn && !a.over {
		return
	}
	if kind := out.failed(); kind != "" {
		a.fail(kind)
	}
	delete(w.agents, out.spend.Call)
	a.done(at, false)
}

// leftOut ends the span of the agent whose call was left out: now, or with the attempt that is in flight.
func (w *watch) leftOut(call string, at time.Time) {
	a := w.agents[call]
	if a == nil {
		return
	}
	if a.over = true; !a.busy {
		delete(w.agents, call)
		a.done(at, false)
	}
}

// dismiss ends the spans of all agents.
func (w *watch) dismiss(at time.Time, unfinished bool) {
	for _, c := range w.calls {
		if a := w.agents[c.intent.Call]; a != nil && !unfinished {
			spend := c.unknown()
			a.pay(&spend)
		}
	}
	for _, a := range slices.SortedFunc(maps.Values(w.agents), func(a, b *agent) int { return cmp.Compare(a.n, b.n) }) {
		a.done(at, unfinished)
	}
	clear(w.agents)
}

func (a *agent) done(at time.Time, unfinished bool) {
	a.SetAttributes(a.costs()...)
	a.end(at, unfinished)
}
