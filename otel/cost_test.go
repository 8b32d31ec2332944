package otel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	meters "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	tracers "go.opentelemetry.io/otel/trace/noop"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func unused() *otel.Observer {
	return &otel.Observer{TracerProvider: tracers.NewTracerProvider(), MeterProvider: meters.NewMeterProvider()}
}

func TestNobodyWhoReadsNothingPays(t *testing.T) {
	events, observer := play(t, nil), unused()
	watched := observer.Watch(t.Context(), sequence(events, nil))
	few := testing.AllocsPerRun(100, func() { drain(watched) })
	watched = observer.Watch(t.Context(), sequence(append(events, events...), nil))
	assert.Equal(t, few, testing.AllocsPerRun(100, func() { drain(watched) }), "no event allocates")
	assert.Less(t, few, 40.0)
}

func drain(events func(func(flow.Event, error) bool)) {
	for range events {
		continue
	}
}

// Of a debate that is not sampled the metrics are still right.
func TestASampleThatIsNotTaken(t *testing.T) {
	r := newRecorder()
	r.TracerProvider = trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()), trace.WithSpanProcessor(r.spans))
	events := play(t, nil)
	read(t, r, events)
	assert.Empty(t, r.ended(t))
	golden(t, "metrics.txt", r.measured(t))
}

// BenchmarkWatch reads a stored debate as Engine.Events gives it: watched by nobody, by metrics, and by all. "x" is how
// many times as long that takes as the bare loop, which reads the same events beside it.
func BenchmarkWatch(b *testing.B) {
	engine := engineOf(func(req *provider.Request) scripted.Reply {
		reply := script(req)
		reply.Delay, reply.Err = 0, nil
		if req.Schema != nil && req.Schema.Name != string(debate.KindVerdict) {
			reply.Text = judgement("Ada", "Ben", "Cy")
		} else if req.Schema != nil {
			reply.Text = verdict(req.Schema.JSON, "Ada", "Ben", "Cy")
		}
		return reply
	})
	config := cars()
	config.Rounds = 20
	drain(engine.Run(b.Context(), config))
	bare := engine.Events(b.Context(), config.ID, 0)
	facts := 0
	for range bare {
		facts++
	}
	measured := unused()
	measured.MeterProvider = metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	traced := &otel.Observer{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(forget{})), MeterProvider: measured.MeterProvider,
	}
	for _, by := range []struct {
		name     string
		observer *otel.Observer
	}{{"nobody", unused()}, {"metrics", measured}, {"all", traced}} {
		b.Run(by.name, func(b *testing.B) {
			watched := by.observer.Watch(b.Context(), bare)
			var plain, with time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				drain(bare)
				plain += time.Since(began)
				began = time.Now()
				drain(watched)
				with += time.Since(began)
			}
			b.ReportMetric(float64(with)/float64(plain), "x")
			b.ReportMetric(float64(with-plain)/float64(b.N*facts), "ns/fact")
		})
	}
}

// forget is where spans go that nobody wants.
type forget struct{}

func (forget) OnStart(context.Context, trace.ReadWriteSpan) {}
func (forget) OnEnd(trace.ReadOnlySpan)                     {}
func (forget) Shutdown(context.Context) error               { return nil }
func (forget) ForceFlush(context.Context) error             { return nil }

// The process that makes a call may have died when somebody cancels the debate. Then its end is never recorded, and all spans around the
// call, and the metric, have what it may have cost.
func TestACostThatIsNeverRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session := stage.Started(t, engine, cars())
		var events []flow.Event
		var asked *flow.Intent
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			if event.Kind() != flow.EventChunk {
				events = append(events, event)
			}
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" {
				asked = in
				require.NoError(t, session.Cancel(t.Context()))
			}
			if change := body.As[flow.Transition](event); change != nil && change.To == flow.StateCanceled {
				break
			}
		}
		require.NotNil(t, asked)
		require.Positive(t, asked.Reserve)
		r := newRecorder()
		read(t, r, events)
		want := fmt.Sprintf("%.6g", float64(asked.Reserve)/float64(flow.USD))
		for _, name := range []string{"invoke_workflow debate", "round", "invoke_agent Ben"} {
			assert.Equal(t, want, get(r.one(t, name), "debate.cost_at_most_usd"), name)
		}
		calls := r.find(t, "chat talker")
		assert.Equal(t, want, get(calls[len(calls)-1], "debate.cost_at_most_usd"))
		assert.Contains(t, r.measured(t), want+"\n")
		assert.Contains(t, r.measured(t), "debate.cost.at_most")
	})
}

// What a canceled debate still has to pay is part of its cost, though it came after the end.
func TestACostThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session := stage.Started(t, engine, cars())
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			require.NoError(t, err)
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" {
				require.NoError(t, session.Cancel(t.Context()))
			}
		}
		record := stage.Ended(t, session)
		root := r.one(t, "invoke_workflow debate")
		assert.Equal(t, "canceled", get(root, "debate.state"))
		assert.Equal(t, "host", get(root, "debate.end_reason"))
		assert.Empty(t, get(root, "debate.unfinished"))
		assert.Equal(t, codes.Unset, root.Status().Code)
		assert.Equal(t, fmt.Sprintf("%.6g", float64(record.Spent().Cost)/float64(flow.USD)), get(root, "debate.cost_usd"))
		assert.Equal(t, fmt.Sprintf("%.6g", float64(record.Spent().AtMost)/float64(flow.USD)), get(root, "debate.cost_at_most_usd"))
		assert.Positive(t, record.Spent().AtMost)
		calls := r.find(t, "chat talker")
		assert.Equal(t, "late", get(calls[len(calls)-1], "debate.call.outcome"))
	})
}
