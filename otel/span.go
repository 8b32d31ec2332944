package otel

import (
	"context"
	"math"
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

	ctx  context.Context // holds the span, for its children
	cost flow.Money
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

// pay adds to the cost of a span.
func (s *span) pay(cost flow.Money) {
	if s == nil || cost <= 0 {
		return
	}
	if s.cost > math.MaxInt64-cost {
		s.cost = math.MaxInt64
		return
	}
	s.cost += cost
}

// usd is the amount in USD.
func usd(m flow.Money) float64 { return float64(m) / float64(flow.USD) }
