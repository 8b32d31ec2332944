package otel_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate/otel"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorder is an observer whose spans and metrics can be read.
type recorder struct {
	otel.Observer

	spans  *tracetest.SpanRecorder
	reader *metric.ManualReader
}

func newRecorder() *recorder {
	r := &recorder{spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	r.TracerProvider = trace.NewTracerProvider(trace.WithSpanProcessor(r.spans))
	r.MeterProvider = metric.NewMeterProvider(metric.WithReader(r.reader))
	return r
}

// tree draws the spans, those of one parent in the order in which they were begun, with times since the
// first.
func (r *recorder) tree(t *testing.T) string {
	t.Helper()
	ended := r.ended(t)
	var b strings.Builder
	var draw func(parent api.SpanID, depth int)
	draw = func(parent api.SpanID, depth int) {
		for _, s := range ended {
			if s.Parent().SpanID() != parent {
				continue
			}
			in, began := strings.Repeat("  ", depth), ended[0].StartTime()
			fmt.Fprintf(&b, "%s%s", in, s.Name())
			if s.SpanKind() != api.SpanKindInternal {
				fmt.Fprintf(&b, " (%s)", s.SpanKind())
			}
			fmt.Fprintf(&b, " %s to %s", since(began, s.StartTime()), since(began, s.EndTime()))
			if s.Status().Code != codes.Unset {
				fmt.Fprintf(&b, " %s%s", s.Status().Code, s.Status().Description)
			}
			b.WriteString("\n")
			attributes(&b, in+"    ", s.Attributes())
			for _, e := range s.Events() {
				fmt.Fprintf(&b, "%s    * %s at %s\n", in, e.Name, since(began, e.Time))
				attributes(&b, in+"        ", e.Attributes)
			}
			draw(s.SpanContext().SpanID(), depth+1)
		}
	}
	draw(api.SpanID{}, 0)
	return b.String()
}

// ended returns the spans in the order in which they were begun. All of them have ended.
func (r *recorder) ended(t testing.TB) []trace.ReadOnlySpan {
	t.Helper()
	var spans []trace.ReadOnlySpan
	for _, s := range r.spans.Started() {
		require.False(t, s.EndTime().IsZero(), "span %q was never ended", s.Name())
		spans = append(spans, s)
	}
	require.Len(t, r.spans.Ended(), len(spans), "each span is ended once")
	return spans
}

func since(began, at time.Time) string {
	return at.Sub(began).Round(time.Millisecond).String()
}

func attributes(b *strings.Builder, in string, all []attribute.KeyValue) {
	for _, kv := range sorted(all) {
		fmt.Fprintf(b, "%s%s = %s\n", in, kv.Key, value(kv.Value))
	}
}

func sorted(all []attribute.KeyValue) []attribute.KeyValue {
	return slices.SortedFunc(slices.Values(all), func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
}

func value(v attribute.Value) string {
	if v.Type() == attribute.FLOAT64 {
		return fmt.Sprintf("%.6g", v.AsFloat64())
	}
	return v.String()
}

// measured writes the metrics down, one line for each series.
func (r *recorder) measured(t *testing.T) string {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	var lines []string
	line := func(m metricdata.Metrics, set attribute.Set, format string, args ...any) {
		var parts []string
		for _, kv := range set.ToSlice() {
			parts = append(parts, fmt.Sprintf("%s=%s", kv.Key, value(kv.Value)))
		}
		lines = append(lines, fmt.Sprintf("%s [%s] {%s} ", m.Name, m.Unit, strings.Join(parts, " "))+fmt.Sprintf(format, args...))
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%d", p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%.6g", p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%d", p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%.6g", p.Value)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%d of %d in all", p.Count, p.Sum)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, "%d of %.3g in all", p.Count, p.Sum)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// find returns the spans of a name.
func (r *recorder) find(t *testing.T, name string) (found []trace.ReadOnlySpan) {
	t.Helper()
	for _, s := range r.ended(t) {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
}

// one returns the only span of a name.
func (r *recorder) one(t *testing.T, name string) trace.ReadOnlySpan {
	t.Helper()
	found := r.find(t, name)
	require.Len(t, found, 1, name)
	return found[0]
}

// get returns an attribute of a span as text; "": it has none.
func get(s trace.ReadOnlySpan, key string) string { return among(s.Attributes(), key) }

func among(attributes []attribute.KeyValue, key string) string {
	for _, kv := range attributes {
		if string(kv.Key) == key {
			return value(kv.Value)
		}
	}
	return ""
}
