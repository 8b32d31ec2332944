package otel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/worker"
)

// laboring is a worker with given figures.
type laboring struct {
	figures worker.Figures
	err     error
}

func (l *laboring) Figures(context.Context) (worker.Figures, error) { return l.figures, l.err }

// collected returns the values of all metrics, by their name and the state of jobs.
func collected(t *testing.T, reader *sdkmetric.ManualReader) (map[string]float64, error) {
	t.Helper()
	var all metricdata.ResourceMetrics
	failure := reader.Collect(t.Context(), &all)
	values := make(map[string]float64)
	note := func(name string, of attribute.Set, value float64) {
		at, ok := of.Value("at")
		assert.True(t, ok)
		assert.Equal(t, "one", at.AsString())
		if state, ok := of.Value("debate.job.state"); ok {
			name += " " + state.AsString()
		}
		values[name] = value
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, p.Value)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return values, failure
}

// TestTheMetricsOfAWorker reads every figure. A queue that cannot be read hides nothing else.
func TestTheMetricsOfAWorker(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	w := &laboring{figures: worker.Figures{
		Running: 1, Held: 2, Calls: 3, Queued: 4, Opened: 5, Snoozed: 6, Failing: 7, Drained: 8, Rescued: 9, Supplied: 10,
		Queue: worker.Queue{Waiting: 11, Snoozed: 12, Running: 13, Oldest: 1500 * time.Millisecond},
	}}
	observer := &otel.Observer{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
	stop, err := observer.Worker(w, attribute.String("at", "one"))
	require.NoError(t, err)
	own := map[string]float64{
		"debate.worker.running": 1, "debate.worker.held": 2, "debate.worker.calls": 3, "debate.worker.queued": 4, "debate.worker.opened": 5,
		"debate.worker.snoozed": 6, "debate.worker.failing": 7, "debate.worker.drained": 8, "debate.worker.rescued": 9,
		"debate.worker.supplied": 10,
	}
	got, err := collected(t, reader)
	require.NoError(t, err)
	for name, value := range own {
		assert.InDelta(t, value, got[name], 0, name)
		delete(got, name)
	}
	assert.Equal(t, map[string]float64{
		"debate.queue.jobs waiting": 11, "debate.queue.jobs snoozed": 12, "debate.queue.jobs running": 13, "debate.queue.oldest": 1.5,
	}, got)

	w.err = errors.New("the database is gone")
	got, err = collected(t, reader)
	require.ErrorContains(t, err, "the database is gone")
	assert.Equal(t, own, got)

	require.NoError(t, stop())
	got, err = collected(t, reader)
	require.NoError(t, err)
	assert.Empty(t, got)
}

// A nil Observer makes nothing.
func TestNoObserverOfAWorker(t *testing.T) {
	stop, err := (*otel.Observer)(nil).Worker(&laboring{})
	require.NoError(t, err)
	require.NoError(t, stop())
}
