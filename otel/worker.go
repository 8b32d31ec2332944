package otel

import (
	"context"
	"errors"

	otelapi "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agonist-dev/debate/worker"
)

// keyJobState is the state of a job in debate.queue.jobs.
const keyJobState = attribute.Key("debate.job.state")

// Worker makes metrics of a worker's figures, such as those of a worker of package worker/river, until stop is called. The figures
// are read whenever the metrics are collected, with the context of the collection; Worker starts no goroutine. One program may have
// several workers if attributes tell them apart.
//
// If the figures of the queue cannot be read, OpenTelemetry's error handler gets the error, and the metrics of the queue have no
// value then.
func (o *Observer) Worker(w worker.Watched, attributes ...attribute.KeyValue) (stop func() error, err error) {
	if o == nil || w == nil {
		return func() error { return nil }, nil
	}
	meters := o.MeterProvider
	if meters == nil {
		meters = otelapi.GetMeterProvider()
	}
	meter := meters.Meter(scope)
	figures := newFigures(meter)
	if figures.err != nil {
		return nil, figures.err
	}
	of := metric.WithAttributeSet(attribute.NewSet(attributes...))
	registration, err := meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		now, err := w.Figures(ctx)
		for _, f := range figures.own {
			to.ObserveInt64(f.instrument, f.of(&now), of)
		}
		if err != nil {
			return err
		}
		for _, jobs := range []struct {
			state string
			n     int64
		}{{"waiting", now.Queue.Waiting}, {"snoozed", now.Queue.Snoozed}, {"running", now.Queue.Running}} {
			to.ObserveInt64(figures.queue, jobs.n, of, metric.WithAttributes(keyJobState.String(jobs.state)))
		}
		to.ObserveFloat64(figures.oldest, now.Queue.Oldest.Seconds(), of)
		return nil
	}, figures.all...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// figure is an instrument, and the figure that it shows.
type figure struct {
	instrument metric.Int64Observable
	of         func(*worker.Figures) int64
}

// figures are the instruments of a worker.
type figures struct {
	own    []figure
	queue  metric.Int64ObservableGauge
	oldest metric.Float64ObservableGauge
	all    []metric.Observable
	err    error
}

func newFigures(meter metric.Meter) *figures {
	f := &figures{}
	now := func(name, unit, text string, of func(*worker.Figures) int64) {
		instrument, err := meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		f.add(instrument, err)
		f.own = append(f.own, figure{instrument, of})
	}
	total := func(name, unit, text string, of func(*worker.Figures) int64) {
		instrument, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		f.add(instrument, err)
		f.own = append(f.own, figure{instrument, of})
	}
	now("debate.worker.running", "{job}", "Jobs that have a place in this worker.", func(w *worker.Figures) int64 { return w.Running })
	now("debate.worker.held", "{debate}", "Debates that this worker has open.", func(w *worker.Figures) int64 { return w.Held })
	now("debate.worker.calls", "{call}", "Calls that this worker is making.", func(w *worker.Figures) int64 { return w.Calls })
	now("debate.worker.queued", "{call}", "Calls that wait for a slot under MaxCalls.", func(w *worker.Figures) int64 { return w.Queued })
	total("debate.worker.opened", "{debate}", "Times that this worker has opened a debate.", func(w *worker.Figures) int64 { return w.Opened })
	total("debate.worker.snoozed", "{job}", "Jobs that this worker has put off.", func(w *worker.Figures) int64 { return w.Snoozed })
	total("debate.worker.failing", "{job}", "Jobs put off because their debate could not be opened or continued.",
		func(w *worker.Figures) int64 { return w.Failing })
	total("debate.worker.drained", "{debate}", "Unfinished debates that were left to other workers at a stop.",
		func(w *worker.Figures) int64 { return w.Drained })
	total("debate.worker.rescued", "{job}", "Jobs that were taken from workers that have disappeared.",
		func(w *worker.Figures) int64 { return w.Rescued })
	total("debate.worker.supplied", "{debate}", "Debates that had work and no job, and were given one.",
		func(w *worker.Figures) int64 { return w.Supplied })
	var err error
	f.queue, err = meter.Int64ObservableGauge("debate.queue.jobs", metric.WithUnit("{job}"),
		metric.WithDescription("Unfinished jobs of all workers that share the queue."))
	f.add(f.queue, err)
	f.oldest, err = meter.Float64ObservableGauge("debate.queue.oldest", metric.WithUnit("s"),
		metric.WithDescription("How long the first of the waiting jobs has been due."))
	f.add(f.oldest, err)
	return f
}

// add takes an instrument that was made.
func (f *figures) add(instrument metric.Observable, err error) {
	f.all, f.err = append(f.all, instrument), errors.Join(f.err, err)
}
