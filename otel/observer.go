package otel

import (
	"context"
	"iter"
	"sync"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
)

// Observer makes spans and metrics from the events of debates. Its zero value works with the providers that
// are registered globally; a nil *Observer hands events on and makes nothing. Set the fields before the first
// use; from then on an Observer is safe for concurrent use, and one serves a whole program. It must not
// be copied.
type Observer struct {
	// TracerProvider gets the spans; nil: the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider gets the metrics; nil: the global one. A host that only wants the trace of a debate that was
	// measured before sets the one of OpenTelemetry's package metric/noop.
	MeterProvider metric.MeterProvider
	// Vendors are the values of gen_ai.provider.name by the names in Engine.Providers. Names that are not in it stay as
	// they are, but for a few that the conventions write in another way ("mistral" is "mistral_ai").
	Vendors map[string]string
	// Labels writes the host's marks, Config.Labels, to the debate's span. Do not set it if they hold what
	// those who read traces should not see. At most 32 are written, each cut to 256 bytes.
	Labels bool
	// Content writes what the models answered, and the topic, to the spans: what people and models wrote leaves the
	// process, to wherever the spans go. Each text is cut to 8 KiB. What the models were sent is in no event, and so in
	// no span.
	Content bool

	once   sync.Once
	tracer trace.Tracer
	meters *instruments

	flows, kinds, vendors, models vocabulary // of the metrics
}

func (o *Observer) prepare() {
	tracers, meters := o.TracerProvider, o.MeterProvider
	if tracers == nil {
		tracers = otelapi.GetTracerProvider()
	}
	if meters == nil {
		meters = otelapi.GetMeterProvider()
	}
	o.tracer = tracers.Tracer(scope, trace.WithSchemaURL(schemaURL))
	o.meters = newInstruments(meters)
}

// Watch hands the events of one debate on, unchanged and in order, and makes a trace and measurements of them on the
// way. It is for any sequence of events: that of [debate.Engine.Run] and [debate.Session.Events] as they happen, or
// that of [debate.Engine.Events] of a debate which was over long ago. The times of spans are those of the events.
//
// The span of the debate is a child of the one in ctx, if there is one. ctx gives values only: what ends the loop
// is the sequence, or who reads it. Nothing is made before the sequence is read, each reading makes a trace of its own,
// and however one ends, by the debate's end, an error, break or a panic, every span of it is ended then. No
// goroutine is started.
func (o *Observer) Watch(ctx context.Context, events iter.Seq2[debate.Event, error]) iter.Seq2[debate.Event, error] {
	if o == nil {
		return events
	}
	return func(yield func(debate.Event, error) bool) {
		o.once.Do(o.prepare)
		w := newWatch(ctx, o)
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

// Observe watches a session that nobody else needs to read, from its first event to its last. It returns nil when
// the debate is over, else the error that ended the events: ctx is done, or the session was closed. It blocks: who
// calls it owns the goroutine that it runs on.
func (o *Observer) Observe(ctx context.Context, session *debate.Session) error {
	for _, err := range o.Watch(ctx, session.Events(ctx, 0)) {
		if err != nil {
			return err
		}
	}
	return nil
}
