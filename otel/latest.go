package otel

import (
	"context"
	"errors"
	"slices"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/agonist-dev/debate"
)

// Names that the conventions have changed since version 1.41.0, in a repository of their own. No version of them is
// published, so nothing made with Observer.Latest has a schema URL.
const (
	keyCacheWriteLatest = attribute.Key("gen_ai.usage.cache_write.input_tokens")
	keyModality         = attribute.Key("gen_ai.token.modality")
	modalityUnknown     = "unknown" // vendors divide tokens by modality in too many ways

	metricTookLatest = "gen_ai.client.inference.duration"
	prefixOne        = "gen_ai.client.inference.operation."
	prefixUsed       = "gen_ai.client.inference.usage."
)

// The kinds of tokens, in the order of latest.used.
const (
	usedInput = iota
	usedOutput
	usedCacheRead
	usedCacheWrite
	usedReasoning
	usedKinds
)

// latest are the instruments for tokens by their newest names.
type latest struct {
	input, output metric.Int64Histogram
	used          [usedKinds]metric.Int64Counter
}

func newLatest(meter metric.Meter) *latest {
	var m latest
	var errs [2 + usedKinds]error
	m.input, errs[0] = meter.Int64Histogram(prefixOne+"input_tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of input of a request to a model, as the vendor reported them."), tokenBounds())
	m.output, errs[1] = meter.Int64Histogram(prefixOne+"output_tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of output of a request to a model, as the vendor reported them."), tokenBounds())
	instead(&m.input, metric.Int64Histogram(noop.Int64Histogram{}))
	instead(&m.output, metric.Int64Histogram(noop.Int64Histogram{}))
	for i, name := range [usedKinds]string{
		"input_tokens", "output_tokens", "cache_read.input_tokens", "cache_write.input_tokens", "reasoning.output_tokens",
	} {
		m.used[i], errs[2+i] = meter.Int64Counter(prefixUsed+name, metric.WithUnit("{token}"),
			metric.WithDescription("Tokens of requests to models, as the vendors reported them."))
		instead(&m.used[i], metric.Int64Counter(noop.Int64Counter{}))
	}
	if err := errors.Join(errs[:]...); err != nil {
		otelapi.Handle(err)
	}
	return &m
}

// enabled reports whether any of them is collected. nil measures nothing.
func (m *latest) enabled(ctx context.Context) bool {
	return m != nil && (m.input.Enabled(ctx) || m.output.Enabled(ctx) ||
		slices.ContainsFunc(m.used[:], func(c metric.Int64Counter) bool { return c.Enabled(ctx) }))
}

// record measures the tokens of a request. Those of the cache and of thoughts are parts of the others.
func (m *latest) record(ctx context.Context, u debate.Usage, request, failed []attribute.KeyValue) {
	m.input.Record(ctx, int64(max(0, u.Input)), set(request, failed))
	m.output.Record(ctx, int64(max(0, u.Output)), set(request, failed))
	all := set(request, []attribute.KeyValue{keyModality.String(modalityUnknown)})
	for i, n := range [usedKinds]int{u.Input, u.Output, u.CachedInput, u.CacheWrite, u.Reasoning} {
		m.used[i].Add(ctx, int64(max(0, n)), all)
	}
}

// tokenBounds are the bounds that the conventions recommend for tokens.
func tokenBounds() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(
		1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
}
