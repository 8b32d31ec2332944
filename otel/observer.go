package otel

import (
	"context"
	"iter"
	"sync"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// Observer makes spans and metrics from the events of debates. The zero value uses the global providers.
// A nil *Observer passes events on and makes nothing. Set the fields before the first use. From then on,
// an Observer is safe for concurrent use; one serves a whole program. It must not be copied.
type Observer struct {
	// TracerProvider receives the spans; nil: the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider receives the metrics; nil: the global one. For the trace of a debate that was
	// measured before, use the one of OpenTelemetry's package metric/noop.
	MeterProvider metric.MeterProvider
	// Vendors maps names in Engine.Providers to values of gen_ai.provider.name. A name that is not in it
	// stays unchanged, except for a few that the conventions spell differently ("mistral" is
	// "mistral_ai").
	Vendors map[string]string
	// Labels adds the host program's labels, Config.Labels, to the debate's span. Leave it off if they
	// hold anything that readers of traces must not see. At most 32 labels are added, each cut to 256
	// bytes.
	Labels bool
	// Content adds the answers of models, the reasons of judges, and the topic, to the spans. Texts of people and models then
	// leave the process, to wherever the spans go. Each text is cut to 8 KiB. The prompts are in no
	// event, so they are in no span.
	Content bool

	once   sync.Once
	tracer trace.Tracer
	meters *instruments

	flows, kinds, vendors, models, states vocabulary // of the metrics
}

func (o *Observer) prepare() {
	tracers := o.TracerProvider
	if tracers == nil {
		tracers = otelapi.GetTracerProvider()
	}
	o.tracer = tracers.Tracer(scope, trace.WithSchemaURL(schemaURL))
	o.meters = newInstruments(o.provider())
}

// provider receives the metrics.
func (o *Observer) provider() metric.MeterProvider {
	if o.MeterProvider != nil {
		return o.MeterProvider
	}
	return otelapi.GetMeterProvider()
}

// Watch passes the events of one debate on, unchanged and in order, and makes a trace and metrics of
// them. It works with any sequence of events: [debate.Engine.Run] and [debate.Session.Events] while they
// happen, and [debate.Engine.Events] for a debate that ended long ago. The times of spans are those of
// the events.
//
// The span of the debate is a child of the span in ctx, if there is one. ctx only supplies values: the
// sequence or its reader ends the loop. Nothing is made before the sequence is read, and each reading
// makes a trace of its own. However a reading ends (the debate's end, an error, break or a panic), all
// its spans end. Watch starts no goroutine.
func (o *Observer) Watch(ctx context.Context, events iter.Seq2[flow.Event, error]) iter.Seq2[flow.Event, error] {
	return o.watch(ctx, events, 0)
}

// watch is Watch, but does not measure the facts up to after; 0: it measures all.
func (o *Observer) watch(ctx context.Context, events iter.Seq2[flow.Event, error], after int64) iter.Seq2[flow.Event, error] {
	if o == nil {
		return events
	}
	return func(yield func(flow.Event, error) bool) {
		o.once.Do(o.prepare)
		w := newWatch(ctx, o, after)
		var failure error
		defer func() { w.close(failure) }()
		for event, err := range events {
			if failure = err; err == nil {
				w.take(&event)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// Observe watches a session that nobody else needs to read. The trace is that of the debate from its first event. Measured is what
// happens from [debate.Session.After] on: workers that open a debate one after the other measure each fact once. [debate.Work].With is
// the place to call it in a worker.
//
// Observe returns nil when the debate is over. Otherwise it returns the error that ended the events: ctx is done, or the session was
// closed. Observe blocks; the caller owns the goroutine that it runs on.
func (o *Observer) Observe(ctx context.Context, session *debate.Session) error {
	for _, err := range o.watch(ctx, session.Events(ctx, 0), session.After()) {
		if err != nil {
			return err
		}
	}
	return nil
}
