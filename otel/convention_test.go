package otel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/body"
)

// The names are those of the version of the conventions that the documentation gives, the last one in which
// OpenTelemetry's own package has them.
func TestTheNamesAreTheConventions(t *testing.T) {
	conventional := []attribute.Key{
		semconv.GenAIOperationNameKey, semconv.GenAIWorkflowNameKey, semconv.GenAIConversationIDKey, semconv.GenAIAgentNameKey,
		semconv.GenAIProviderNameKey, semconv.GenAIRequestModelKey, semconv.GenAIRequestMaxTokensKey, semconv.GenAIRequestTemperatureKey,
		semconv.GenAIRequestTopPKey, semconv.GenAIRequestStopSequencesKey, semconv.GenAIRequestSeedKey,
		semconv.GenAIResponseIDKey, semconv.GenAIResponseModelKey,
		semconv.GenAIEvaluationNameKey, semconv.GenAIEvaluationScoreValueKey, semconv.GenAIEvaluationScoreLabelKey,
		semconv.GenAIEvaluationExplanationKey,
		semconv.GenAIOutputTypeKey, semconv.GenAIResponseFinishReasonsKey, semconv.GenAIUsageInputTokensKey,
		semconv.GenAIUsageOutputTokensKey, semconv.GenAIUsageCacheReadInputTokensKey, semconv.GenAIUsageCacheCreationInputTokensKey,
		semconv.GenAIUsageReasoningOutputTokensKey, semconv.GenAIOutputMessagesKey, semconv.GenAITokenTypeKey, semconv.ErrorTypeKey,
	}
	events := play(t, nil)
	for i := range events {
		if v := body.As[debate.Verdict](events[i]); v != nil {
			v.Usage.CacheWrite = 1
		}
	}
	r := newRecorder()
	r.Content = true
	read(t, r, events)
	var used []attribute.Key
	use := func(all []attribute.KeyValue) {
		for _, kv := range all {
			if !strings.HasPrefix(string(kv.Key), "debate.") {
				used = append(used, kv.Key)
			}
		}
	}
	for _, s := range r.ended(t) {
		use(s.Attributes())
		assert.Equal(t, semconv.SchemaURL, s.InstrumentationScope().SchemaURL)
		for _, e := range s.Events() {
			use(e.Attributes)
		}
	}
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	units := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		assert.Equal(t, semconv.SchemaURL, scope.Scope.SchemaURL)
		for _, m := range scope.Metrics {
			units[m.Name] = m.Unit
			if tokens, ok := m.Data.(metricdata.Histogram[int64]); ok {
				use(tokens.DataPoints[0].Attributes.ToSlice())
			}
		}
	}
	for _, key := range used {
		assert.Contains(t, conventional, key)
	}
	for _, key := range conventional {
		assert.Contains(t, used, key)
	}
	took, tokens := genaiconv.ClientOperationDuration{}, genaiconv.ClientTokenUsage{}
	assert.Equal(t, took.Unit(), units[took.Name()])
	assert.Equal(t, tokens.Unit(), units[tokens.Name()])
}
