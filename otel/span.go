package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/agonist-dev/debate/flow"
)

// span is an open span, with what is added up until its end.
type span struct {
	trace.Span

	ctx   context.Context // holds the span, for its children
	spent flow.Account
}

// open begins a span. If the debate's span is not recorded, its descendants are not made, because
// samplers want whole traces.
func (w *watch) open(parent *span, name string, at time.Time, kind trace.SpanKind, attributes ...attribute.KeyValue) *span {
	if parent != nil && !w.traced {
		return &span{Span: noop.Span{}, ctx: parent.ctx}
	}
	ctx := w.ctx
	if parent != nil {
		ctx = parent.ctx
	}
	//nolint:spancheck // close ends every span that is still open, however the sequence ends
	ctx, made := w.observer.tracer.Start(ctx, name,
		trace.WithTimestamp(at), trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return &span{Span: made, ctx: ctx} //nolint:spancheck // likewise
}

// end ends a span; nil: there is none.
func (s *span) end(at time.Time, unfinished bool) {
	if s == nil {
		return
	}
	if s.IsRecording() && unfinished {
		s.SetAttributes(keyUnfinished.Bool(true))
	}
	s.End(trace.WithTimestamp(at))
}

// fail marks a span as failed. It records only the kind, because texts of errors contain what vendors and
// models wrote.
func (s *span) fail(kind string) {
	s.SetAttributes(keyError.String(kind))
	s.SetStatus(codes.Error, "")
}

// pay adds an attempt to what a span has cost.
func (s *span) pay(spend *flow.Spend) {
	if s != nil && spend.Cost >= 0 && spend.AtMost >= 0 {
		s.spent.Add(spend)
	}
}

// costs returns what a span has cost, as far as it is known, and the most that it may have cost beyond that.
func (s *span) costs() []attribute.KeyValue { return costs(s.spent.Cost, s.spent.AtMost) }

func costs(known, atMost flow.Money) []attribute.KeyValue {
	attributes := []attribute.KeyValue{keyCost.Float64(usd(known))}
	if atMost > 0 {
		attributes = append(attributes, keyAtMost.Float64(usd(atMost)))
	}
	return attributes
}

// usd is the amount in USD.
func usd(m flow.Money) float64 { return float64(m) / float64(flow.USD) }
