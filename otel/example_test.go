package otel_test

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Around the loop that reads a debate's events anyway, Watch makes its trace. Here a recorder takes the spans, where
// a program would register an exporter.
func ExampleObserver_Watch() {
	ctx := context.Background()
	recorder := tracetest.NewSpanRecorder()
	observer := &otel.Observer{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(recorder))}

	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	for event, err := range observer.Watch(ctx, engine.Run(ctx, question())) {
		if err != nil {
			fmt.Println(err)
		}
		if turn, ok := event.Body.(*debate.Turn); ok {
			fmt.Println(turn.Speaker, "has spoken")
		}
	}
	draw(recorder.Started(), api.SpanID{}, "")
	// Output:
	// Ada has spoken
	// Ben has spoken
	// Ada has spoken
	// Ben has spoken
	// invoke_workflow debate
	//   round 1
	//     awaitingResponses
	//       invoke_agent Ada
	//         chat talker
	//       invoke_agent Ben
	//         chat talker
	//   round 2
	//     awaitingResponses
	//       invoke_agent Ada
	//         chat talker
	//       invoke_agent Ben
	//         chat talker
}

// A debate that ended long ago, perhaps in another process, gets its trace from its log. It was measured when it
// ran, so that no metrics are wanted now.
func ExampleObserver_Watch_afterwards() {
	ctx := context.Background()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	for _, err := range engine.Run(ctx, question()) {
		if err != nil {
			fmt.Println(err)
		}
	}

	recorder := tracetest.NewSpanRecorder()
	observer := &otel.Observer{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(recorder)),
		MeterProvider:  noop.NewMeterProvider(),
	}
	for _, err := range observer.Watch(ctx, engine.Events(ctx, "cars-1", 0)) {
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(recorder.Ended()), "spans")
	// Output: 13 spans
}

// A host that steers a session, and does not read its events, lets one goroutine of its own observe it.
func ExampleObserver_Observe() {
	ctx := context.Background()
	recorder := tracetest.NewSpanRecorder()
	observer := &otel.Observer{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(recorder))}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	session, err := engine.Start(ctx, question())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()

	observed := make(chan error, 1)
	go func() { observed <- observer.Observe(ctx, session) }()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(record.State, <-observed, len(recorder.Ended()), "spans")
	// Output: completed <nil> 13 spans
}

// A worker is watched by three calls: what its store holds, what its engine does, and each session that it opens.
func ExampleObserver_Engine() {
	ctx := context.Background()
	observer := &otel.Observer{}
	kept := &store.Memory{} // in earnest one of store/file or store/sql
	engine := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	if _, err := engine.Submit(ctx, question()); err != nil {
		fmt.Println(err)
		return
	}
	working, stop := context.WithCancel(ctx)
	defer stop()

	_, err := observer.Conversations(kept, debate.Filter{}) // in one process
	_, failed := observer.Engine(engine)                    // in each
	work := debate.Work{With: func(ctx context.Context, s *debate.Session) { _ = observer.Observe(ctx, s) }}
	ended := make(chan error, 1)
	go func() { ended <- engine.Work(working, work) }()

	for _, err := range engine.Events(ctx, "cars-1", 0) {
		if err != nil {
			fmt.Println(err)
		}
	}
	stop()
	fmt.Println(err, failed, <-ended, engine.Stats().Opened, "opened")
	// Output: <nil> <nil> <nil> 1 opened
}

// question is a debate of two rounds without a judge.
func question() debate.Config {
	return debate.Config{
		ID:     "cars-1",
		Topic:  "Should cities ban private cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"},
			{Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
}

// draw prints the spans of one parent, and what is below them.
func draw(spans []trace.ReadWriteSpan, parent api.SpanID, in string) {
	for _, span := range spans {
		if span.Parent().SpanID() != parent {
			continue
		}
		words := []string{in + span.Name()}
		for _, kv := range span.Attributes() {
			if kv.Key == attribute.Key("debate.round") && span.Name() == "round" {
				words = append(words, kv.Value.String())
			}
		}
		fmt.Println(strings.Join(words, " "))
		draw(spans, span.SpanContext().SpanID(), in+"  ")
	}
}
