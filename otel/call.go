package otel

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// call is an attempt at a call that is in flight.
type call struct {
	*span

	intent *flow.Intent
	began  time.Time
	round  *span
	n      int // its number, in order of beginning
}

// ask begins an attempt.
func (w *watch) ask(in *flow.Intent, at time.Time) {
	key := attempt{in.Call, in.Attempt}
	if lost := w.calls[key]; lost != nil { // a log of this library never asks twice
		lost.end(at, true)
	}
	w.calls[key] = w.call(in, at)
	if w.counts && in.Attempt > 1 {
		w.meters.retries.Add(w.ctx, 1, set(w.callAttributes(in)))
	}
}

// call returns the span of an attempt.
func (w *watch) call(in *flow.Intent, at time.Time) *call {
	w.begun++
	c := &call{intent: in, began: at, round: w.round, n: w.begun}
	name, kind := "", trace.SpanKindInternal
	var attributes []attribute.KeyValue
	if w.traced {
		name = "call " + clean(string(in.Kind))
		attributes = w.startAttributes(in)
		if in.Model != "" {
			_, model := w.observer.named(in.Model)
			name, kind = operationChat+" "+model, trace.SpanKindClient
		}
		if in.Tool != "" {
			name = operationTool + " " + clean(in.Tool)
		}
	}
	c.span = w.open(w.parent(in, at), name, at, kind, attributes...)
	return c
}

// unknown returns what an attempt may have cost whose end is not recorded: the process that makes it may have died.
func (c *call) unknown() flow.Spend {
	return flow.Spend{AtMost: max(0, c.intent.Reserve), BrokenOff: c.intent.Model != "" && c.intent.Reserve > 0}
}

// startAttributes returns the attributes of an attempt that are known at its beginning.
func (w *watch) startAttributes(in *flow.Intent) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		keyCall.String(clean(in.Call)), keyKind.String(clean(string(in.Kind))), keyAttempt.Int(in.Attempt),
	}
	attributes = append(attributes, present(keyAgent, in.By)...)
	attributes = append(attributes, present(keyTarget, in.Target)...)
	if in.Reask {
		attributes = append(attributes, keyReask.Bool(true))
	}
	if in.Round > 0 {
		attributes = append(attributes, keyRound.Int(in.Round))
	}
	if w.start != nil {
		attributes = append(attributes, present(keyConversation, w.start.Settings.ID)...)
	}
	if in.Tool != "" {
		return append(attributes, keyOperation.String(operationTool), keyTool.String(clean(in.Tool)))
	}
	if in.Model == "" {
		return attributes // a person, or a judge in Go, is not an operation of the conventions
	}
	vendor, model := w.observer.named(in.Model)
	format := "text"
	if in.Schema != "" {
		format = "json"
	}
	attributes = append(attributes,
		keyOperation.String(operationChat), keyProvider.String(vendor), keyModel.String(model), keyOutputType.String(format))
	if in.Tokens > 0 {
		attributes = append(attributes, keyMaxTokens.Int(in.Tokens))
	}
	if in.Temperature != nil {
		attributes = append(attributes, keyTemperature.Float64(*in.Temperature))
	}
	return append(attributes, asked(in.Options)...)
}

// callAttributes returns the metric attributes of a call. Each has a bounded number of values.
func (w *watch) callAttributes(in *flow.Intent) []attribute.KeyValue {
	attributes := []attribute.KeyValue{keyKind.String(w.observer.kinds.word(string(in.Kind)))}
	if in.Model == "" {
		return attributes
	}
	return append(attributes, w.request(in)...)
}

// request returns the metric attributes of a request to a model.
func (w *watch) request(in *flow.Intent) []attribute.KeyValue {
	vendor, model := w.observer.named(in.Model)
	return []attribute.KeyValue{
		keyProvider.String(w.observer.vendors.word(vendor)), keyModel.String(w.observer.models.word(model)),
	}
}

// answered ends an attempt. If the attempt began before the sequence did, its span is made from the
// outcome.
func (w *watch) answered(out *outcome, at time.Time) {
	key := attempt{out.spend.Call, out.spend.Attempt}
	c := w.calls[key]
	if c == nil {
		c = w.call(&flow.Intent{
			Call: out.spend.Call, Attempt: out.spend.Attempt, Kind: out.kind, By: out.by, Model: out.spend.Model, Round: out.round, Tool: out.tool,
		}, at.Add(-max(0, out.spend.Took)))
	}
	delete(w.calls, key)
	w.debate.pay(out.spend)
	c.round.pay(out.spend)
	if w.traced {
		c.SetAttributes(w.endAttributes(c, out)...)
		if kind := out.failed(); kind != "" {
			c.fail(kind)
		}
		if out.failure != nil {
			c.retried(out.failure, at)
		}
	}
	c.end(at, false)
	w.worked(out, at)
	if w.counts {
		w.measure(c, out, at)
	}
}

// endAttributes returns the attributes of an attempt that are known at its end.
func (w *watch) endAttributes(c *call, out *outcome) []attribute.KeyValue {
	attributes := []attribute.KeyValue{keyOutcome.String(out.name)}
	if c.intent.Model != "" {
		attributes = append(attributes, costs(out.spend.Cost, out.spend.AtMost)...)
		if out.finish != "" {
			attributes = append(attributes, keyFinish.StringSlice([]string{out.finish}))
		}
		attributes = append(attributes, used(out.spend.Usage)...)
		attributes = append(attributes, w.reported(c.intent, out)...)
	}
	if w.observer.Content {
		attributes = append(attributes, out.messages()...)
	}
	return attributes
}

// used returns the tokens of a request, or none if the vendor reported none.
func used(u debate.Usage) []attribute.KeyValue {
	if u.IsZero() {
		return nil
	}
	attributes := []attribute.KeyValue{keyInput.Int(u.Input), keyOutput.Int(u.Output)}
	if u.CachedInput > 0 {
		attributes = append(attributes, keyCacheRead.Int(u.CachedInput))
	}
	if u.CacheWrite > 0 {
		attributes = append(attributes, keyCacheWrite.Int(u.CacheWrite))
	}
	if u.Reasoning > 0 {
		attributes = append(attributes, keyReasoning.Int(u.Reasoning))
	}
	return attributes
}

// retried records what follows a failure: a wait, another model, or neither.
func (c *call) retried(f *flow.Failure, at time.Time) {
	if f.RetryAt.IsZero() && f.Next == "" {
		return
	}
	var attributes []attribute.KeyValue
	if wait := f.RetryAt.Sub(at); !f.RetryAt.IsZero() && wait > 0 {
		attributes = append(attributes, keyWait.Float64(wait.Seconds()))
	}
	attributes = append(attributes, present(keyNext, f.Next)...)
	c.AddEvent(eventRetry, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
}

// measure records the metrics of an attempt that has ended.
func (w *watch) measure(c *call, out *outcome, at time.Time) {
	m, ctx := w.meters, c.ctx // with the span, which a backend can show as an exemplar
	common, result := w.callAttributes(c.intent), []attribute.KeyValue{keyOutcome.String(out.name)}
	var failed []attribute.KeyValue
	if kind := out.failed(); kind != "" {
		failed = []attribute.KeyValue{keyError.String(kind)}
	}
	m.calls.Add(ctx, 1, set(common, result, failed))
	if c.intent.Model == "" || out.name == outcomeUnsent {
		return
	}
	if out.spend.Cost > 0 {
		m.cost.Add(ctx, usd(out.spend.Cost), set(common))
	}
	if out.spend.AtMost > 0 {
		m.atMost.Add(ctx, usd(out.spend.AtMost), set(common))
	}
	request := append(w.request(c.intent), keyOperation.String(operationChat))
	if took, known := out.took(at.Sub(c.began)); known {
		m.took.Record(ctx, took.Seconds(), set(request, failed))
	}
	if u := out.spend.Usage; !u.IsZero() {
		m.tokens.Record(ctx, int64(max(0, u.Input)), set(request, []attribute.KeyValue{keyTokenType.String("input")}))
		m.tokens.Record(ctx, int64(max(0, u.Output)), set(request, []attribute.KeyValue{keyTokenType.String("output")}))
	}
}

// set joins the attributes of a measurement.
func set(parts ...[]attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(slices.Concat(parts...)...))
}
