package otel

import (
	"context"
	"errors"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// scope is the name of this instrumentation.
const scope = "github.com/agonist-dev/debate/otel"

// instruments are the metrics of an observer.
type instruments struct {
	took     metric.Float64Histogram
	tokens   metric.Int64Histogram
	calls    metric.Int64Counter
	retries  metric.Int64Counter
	cost     metric.Float64Counter
	atMost   metric.Float64Counter
	ended    metric.Int64Counter
	active   metric.Int64UpDownCounter
	rounds   metric.Int64Histogram
	duration metric.Float64Histogram
	lag      metric.Float64Histogram
}

// newInstruments creates them. If one cannot be created, it measures nothing, and OpenTelemetry's error
// handler gets the error.
func newInstruments(provider metric.MeterProvider) *instruments {
	meter := provider.Meter(scope, metric.WithSchemaURL(schemaURL))
	var m instruments
	var errs [11]error
	m.took, errs[0] = meter.Float64Histogram(metricTook, metric.WithUnit("s"),
		metric.WithDescription("How long a request to a model took, time in a queue of the host's excluded."),
		// The bounds that the conventions recommend.
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	m.tokens, errs[1] = meter.Int64Histogram(metricTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of input or output of a request to a model, as the vendor reported them."),
		// Likewise.
		metric.WithExplicitBucketBoundaries(
			1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	m.calls, errs[2] = meter.Int64Counter("debate.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Attempts at calls, by what became of them."))
	m.retries, errs[3] = meter.Int64Counter("debate.retries", metric.WithUnit("{call}"),
		metric.WithDescription("Attempts at calls after the first."))
	m.cost, errs[4] = meter.Float64Counter("debate.cost", metric.WithUnit("{USD}"),
		metric.WithDescription("What calls cost, in USD, as far as it is known."))
	m.atMost, errs[9] = meter.Float64Counter("debate.cost.at_most", metric.WithUnit("{USD}"),
		metric.WithDescription("The most that calls may have cost beyond debate.cost, in USD: they were broken off, or no usage is reported."))
	m.ended, errs[5] = meter.Int64Counter("debate.ended", metric.WithUnit("{debate}"),
		metric.WithDescription("Debates that were watched to their end, or to where they stopped."))
	m.active, errs[6] = meter.Int64UpDownCounter("debate.active", metric.WithUnit("{debate}"),
		metric.WithDescription("Debates that are being watched."))
	m.rounds, errs[7] = meter.Int64Histogram("debate.rounds", metric.WithUnit("{round}"),
		metric.WithDescription("Rounds of debates that are over."), metric.WithExplicitBucketBoundaries(0, 1, 2, 3, 5, 8, 13, 21, 34))
	m.duration, errs[8] = meter.Float64Histogram("debate.duration", metric.WithUnit("s"),
		metric.WithDescription("From the start of a debate to its end, pauses included."),
		metric.WithExplicitBucketBoundaries(1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400))
	m.lag, errs[10] = meter.Float64Histogram("debate.lag", metric.WithUnit("s"),
		metric.WithDescription("From a start, an answer or a control to the next call."),
		metric.WithExplicitBucketBoundaries(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300, 900))
	if err := errors.Join(errs[:]...); err != nil {
		otelapi.Handle(err)
	}
	m.fill()
	return &m
}

// fill replaces the instruments that a provider failed to create by ones that do nothing.
func (m *instruments) fill() {
	instead(&m.took, metric.Float64Histogram(noop.Float64Histogram{}))
	instead(&m.tokens, metric.Int64Histogram(noop.Int64Histogram{}))
	instead(&m.calls, metric.Int64Counter(noop.Int64Counter{}))
	instead(&m.retries, metric.Int64Counter(noop.Int64Counter{}))
	instead(&m.cost, metric.Float64Counter(noop.Float64Counter{}))
	instead(&m.atMost, metric.Float64Counter(noop.Float64Counter{}))
	instead(&m.ended, metric.Int64Counter(noop.Int64Counter{}))
	instead(&m.active, metric.Int64UpDownCounter(noop.Int64UpDownCounter{}))
	instead(&m.rounds, metric.Int64Histogram(noop.Int64Histogram{}))
	instead(&m.duration, metric.Float64Histogram(noop.Float64Histogram{}))
	instead(&m.lag, metric.Float64Histogram(noop.Float64Histogram{}))
}

func instead[T comparable](instrument *T, silent T) {
	var none T
	if *instrument == none {
		*instrument = silent
	}
}

// enabled reports whether anything that is measured is collected.
func (m *instruments) enabled(ctx context.Context) bool {
	return m.took.Enabled(ctx) || m.tokens.Enabled(ctx) || m.calls.Enabled(ctx) || m.retries.Enabled(ctx) || m.cost.Enabled(ctx) ||
		m.atMost.Enabled(ctx) || m.ended.Enabled(ctx) || m.active.Enabled(ctx) || m.rounds.Enabled(ctx) ||
		m.duration.Enabled(ctx) || m.lag.Enabled(ctx)
}
