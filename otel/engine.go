package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agonist-dev/debate"
)

// Engine makes metrics of what an engine counts ([debate.Engine.Stats]), until stop is called. They have the attributes that the host
// program gives: one program may have several engines if attributes tell them apart. The counts are read whenever the metrics are
// collected; Engine starts no goroutine.
func (o *Observer) Engine(engine *debate.Engine, attributes ...attribute.KeyValue) (stop func() error, err error) {
	if o == nil || engine == nil {
		return idle, nil
	}
	meter := o.meter()
	figures, err := newFigures(meter)
	if err != nil {
		return nil, err
	}
	observed := make([]metric.Observable, len(figures))
	for i := range figures {
		observed[i] = figures[i].instrument
	}
	of := metric.WithAttributeSet(attribute.NewSet(attributes...))
	registration, err := meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		now := engine.Stats()
		for i := range figures {
			to.ObserveInt64(figures[i].instrument, figures[i].of(&now), of)
		}
		return nil
	}, observed...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// idle stops what was never begun.
func idle() error { return nil }

// meter returns the meter of metrics that are read when they are collected.
func (o *Observer) meter() metric.Meter { return o.provider().Meter(scope) }

// figure is an instrument, and what it shows of an engine.
type figure struct {
	instrument metric.Int64Observable
	of         func(*debate.Stats) int64
}

// newFigures returns the instruments of an engine, one for each field of its counts.
func newFigures(meter metric.Meter) (all []figure, err error) {
	now := func(name, unit, text string, of func(*debate.Stats) int64) {
		instrument, failed := meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		all, err = append(all, figure{instrument, of}), errors.Join(err, failed)
	}
	total := func(name, unit, text string, of func(*debate.Stats) int64) {
		instrument, failed := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		all, err = append(all, figure{instrument, of}), errors.Join(err, failed)
	}
	now("debate.engine.calls", "{call}", "Calls that this engine is making.", func(s *debate.Stats) int64 { return s.Calls })
	now("debate.engine.queued", "{call}", "Calls that wait for a slot under MaxCalls.", func(s *debate.Stats) int64 { return s.Queued })
	total("debate.engine.given_up", "{call}", "Calls that were given up, since a provider, judge, tool or store did not return.",
		func(s *debate.Stats) int64 { return s.GivenUp })
	now("debate.engine.stuck", "{call}", "Calls that were given up, and have not returned yet.",
		func(s *debate.Stats) int64 { return s.Stuck })
	now("debate.engine.open", "{debate}", "Debates that this engine has open.", func(s *debate.Stats) int64 { return s.Open })
	total("debate.engine.opened", "{debate}", "Times that a stored debate was opened.", func(s *debate.Stats) int64 { return s.Opened })
	total("debate.engine.rested", "{debate}", "Times that an open debate was left, since it needed no process.",
		func(s *debate.Stats) int64 { return s.Rested })
	total("debate.engine.leased", "{debate}", "Times that another process was faster to open a debate.",
		func(s *debate.Stats) int64 { return s.Leased })
	total("debate.engine.refused", "{debate}", "Times that a debate could not be opened or continued.",
		func(s *debate.Stats) int64 { return s.Refused })
	total("debate.engine.drained", "{debate}", "Unfinished debates that were left to other processes at a stop.",
		func(s *debate.Stats) int64 { return s.Drained })
	return all, err
}
