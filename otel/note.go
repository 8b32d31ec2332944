package otel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

// note handles a fact without duration: it becomes an event of the innermost span, or of the call that it
// is about.
func (w *watch) note(e *flow.Event, at time.Time) {
	if !w.traced {
		return
	}
	switch body := e.Body.(type) {
	case *flow.Dropped:
		w.event(eventDropped, at, keyAgent.String(clean(body.Participant)))
	case *flow.Warning:
		w.event(eventWarning, at, warned(body)...)
	case *flow.Skipped:
		w.leftOut(body.Call, at)
		w.event(eventSkipped, at, keyAgent.String(clean(body.By)))
	case *flow.Withdrawn:
		w.event(eventWithdrawn, at, keyAgent.String(clean(body.By)))
	case *flow.RetriedNow:
		w.event(eventRetriedNow, at)
	case *flow.Redacted:
		w.event(eventRedacted, at)
	case *flow.Inquiry:
		w.inquiry(body, at)
	case *flow.Answer:
		w.reply(body, at)
	case *flow.Sent:
		w.event(eventSent, at, w.triggered(body.Trigger, body.Reason)...)
	}
}

func (w *watch) event(name string, at time.Time, attributes ...attribute.KeyValue) {
	w.place().AddEvent(name, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
}

// controlled records a control of the host program, before the span of the rest that it ends is ended.
func (w *watch) controlled(t *flow.Transition, at time.Time) {
	switch t.On {
	case flow.TriggerPause, flow.TriggerResume, flow.TriggerStop, flow.TriggerCancel, flow.TriggerRetry:
		if w.traced {
			w.event(eventControl, at, w.triggered(t.On, t.Evidence)...)
		}
	default:
	}
}

// triggered returns the attributes of what a host program has sent. Its reason is a text.
func (w *watch) triggered(trigger flow.Trigger, reason string) []attribute.KeyValue {
	attributes := []attribute.KeyValue{keyTrigger.String(clean(string(trigger)))}
	if w.observer.Content && reason != "" {
		attributes = append(attributes, keyWhy.String(text.OneLine(reason, maxContent)))
	}
	return attributes
}

// warned returns the attributes of a warning. They leave out its evidence, which is a text.
func warned(w *flow.Warning) []attribute.KeyValue {
	attributes := []attribute.KeyValue{keyWarning.String(clean(string(w.Kind)))}
	if w.Threshold > 0 {
		attributes = append(attributes, keyThreshold.Float64(usd(w.Threshold)), keyCost.Float64(usd(w.Spend)))
	}
	attributes = append(attributes, present(keyCall, w.Call)...)
	attributes = append(attributes, present(keyAgent, w.By)...)
	if w.Left > 0 {
		attributes = append(attributes, keyLeft.Int(w.Left))
	}
	return attributes
}

// inquiry records that a person was asked.
func (w *watch) inquiry(q *flow.Inquiry, at time.Time) {
	attributes := []attribute.KeyValue{
		keyInquiry.String(clean(q.ID)), keyKind.String(clean(string(q.Kind))), keyAgent.String(clean(q.To)),
	}
	if about := q.About[:min(len(q.About), maxLabels)]; len(about) > 0 {
		calls := make([]string, len(about))
		for i := range about {
			calls[i] = clean(about[i].Call)
		}
		attributes = append(attributes, keyAbout.StringSlice(calls), keyError.String(failureType(q.Failure)))
	}
	if use := q.Use; use != nil {
		attributes = append(attributes, keyTool.String(clean(use.Tool)), keyAbout.StringSlice([]string{clean(use.Use)}))
	}
	if options := q.Options[:min(len(q.Options), maxLabels)]; len(options) > 0 {
		names := make([]string, len(options))
		for i, option := range options {
			names[i] = clean(string(option))
		}
		attributes = append(attributes, keyOptions.StringSlice(names))
	}
	w.about(q.ID).AddEvent(eventInquiry, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
}

// reply records that a person has answered. The text is the result of a call, which has a fact of its
// own.
func (w *watch) reply(a *flow.Answer, at time.Time) {
	attributes := []attribute.KeyValue{keyInquiry.String(clean(a.Inquiry))}
	attributes = append(attributes, present(keyOption, string(a.Option))...)
	attributes = append(attributes, present(keyReplacement, a.Model)...)
	if a.Rule {
		attributes = append(attributes, keyRule.Bool(true))
	}
	w.about(a.Inquiry).AddEvent(eventAnswer, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
}

// about returns the span of the call that a person performs under this id, or the innermost span.
func (w *watch) about(id string) *span {
	for key, c := range w.calls {
		if key.call == id {
			return c.span
		}
	}
	return w.place()
}

// present returns an attribute with a value, or none if the value is empty.
func present(key attribute.Key, value string) []attribute.KeyValue {
	if value == "" {
		return nil
	}
	return []attribute.KeyValue{key.String(clean(value))}
}
