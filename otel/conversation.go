package otel

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Conversations makes metrics of the unfinished conversations in a store that a filter selects, until stop is called: how many there
// are in each state, how long the first of them has been in it, how many of them need a process and have none, and how long the first of
// these has waited for one. They have the attributes that the host program gives.
//
// The store is asked whenever the metrics are collected, twice ([store.CountStates]); Conversations starts no goroutine. All processes
// that ask the same store see the same, so one of them is enough. If the store fails, OpenTelemetry's error handler gets the error, and
// the metrics have no value then.
func (o *Observer) Conversations(s store.Store, filter store.Filter, attributes ...attribute.KeyValue) (stop func() error, err error) {
	if o == nil || s == nil {
		return idle, nil
	}
	meter := o.meter()
	var number, due metric.Int64ObservableGauge
	var age, dueAge metric.Float64ObservableGauge
	var errs [4]error
	number, errs[0] = meter.Int64ObservableGauge("debate.conversations", metric.WithUnit("{debate}"),
		metric.WithDescription("Unfinished conversations."))
	age, errs[1] = meter.Float64ObservableGauge("debate.conversations.age", metric.WithUnit("s"),
		metric.WithDescription("How long the first of these conversations has been in its state."))
	due, errs[2] = meter.Int64ObservableGauge("debate.due", metric.WithUnit("{debate}"),
		metric.WithDescription("Conversations that need a process and have none."))
	dueAge, errs[3] = meter.Float64ObservableGauge("debate.due.age", metric.WithUnit("s"),
		metric.WithDescription("How long the first of these conversations has waited for a process."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	of := metric.WithAttributeSet(attribute.NewSet(attributes...))
	registration, err := meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		all, err := store.CountStates(ctx, s, filter)
		if err != nil {
			return err
		}
		for _, c := range o.merged(all) {
			in := metric.WithAttributeSet(attribute.NewSet(append(slices.Clone(attributes),
				keyState.String(string(c.State)), keyHeld.Bool(c.Held), keyQuarantined.Bool(c.Quarantined))...))
			to.ObserveInt64(number, int64(c.Count), in)
			to.ObserveFloat64(age, c.Oldest.Seconds(), in)
		}
		waiting := filter
		waiting.Due = true
		if all, err = store.CountStates(ctx, s, waiting); err != nil {
			return err
		}
		n, oldest := 0, time.Duration(0)
		for _, c := range all {
			n, oldest = n+c.Count, max(oldest, c.Oldest)
		}
		to.ObserveInt64(due, int64(n), of)
		to.ObserveFloat64(dueAge, oldest.Seconds(), of)
		return nil
	}, number, age, due, dueAge)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// merged returns the counts with states of a bounded number. Flows make up their own.
func (o *Observer) merged(counts []store.StateCount) map[store.StateCount]store.StateCount {
	all := make(map[store.StateCount]store.StateCount) // by what is alike
	for _, c := range counts {
		alike := store.StateCount{State: flow.State(o.states.word(string(c.State))), Held: c.Held, Quarantined: c.Quarantined}
		sum, known := all[alike]
		if !known {
			sum = alike
		}
		sum.Count, sum.Oldest = sum.Count+c.Count, max(sum.Oldest, c.Oldest)
		all[alike] = sum
	}
	return all
}
