package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestTheTraceOfADebate(t *testing.T) {
	r := newRecorder()
	events := play(t, &r.Observer)
	tree, measured := r.tree(t), r.measured(t)
	golden(t, "tree.txt", tree)
	golden(t, "metrics.txt", measured)
	assert.NotContains(t, tree, canary)
	assert.NotContains(t, measured, canary)

	r = newRecorder()
	read(t, r, events)
	assert.Equal(t, tree, r.tree(t), "the log gives the same trace when all is over")
	assert.Equal(t, measured, r.measured(t))
}

// sequence yields events, and then an error unless it is nil.
func sequence(events []flow.Event, err error) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
		if err != nil {
			yield(flow.Event{}, err)
		}
	}
}

// read reads events under the observer and checks that they come out as they went in.
func read(t *testing.T, r *recorder, events []flow.Event) {
	t.Helper()
	var got []flow.Event
	for event, err := range r.Watch(t.Context(), sequence(events, nil)) {
		require.NoError(t, err)
		got = append(got, event)
	}
	assert.Equal(t, events, got)
}

func TestAReaderThatJoinsLate(t *testing.T) {
	events := play(t, nil)
	at := slices.IndexFunc(events, func(e flow.Event) bool { return body.As[flow.Turn](e) != nil && body.As[flow.Turn](e).Speaker == "Ben" })
	r := newRecorder()
	read(t, r, events[at:])
	root := r.one(t, "invoke_workflow")
	assert.Equal(t, fmt.Sprint(at), get(root, "debate.after"))
	assert.Equal(t, "completed", get(root, "debate.state"))
	ben := r.find(t, "chat talker")[0]
	assert.Equal(t, "Ben", get(ben, "gen_ai.agent.name"))
	assert.Equal(t, "mistral_ai", get(ben, "gen_ai.provider.name"))
	assert.Equal(t, "accepted", get(ben, "debate.call.outcome"))
	assert.Equal(t, 2*time.Second, ben.EndTime().Sub(ben.StartTime()), "as long as the engine says that it took")
	assert.NotContains(t, r.measured(t), "debate.duration", "nobody knows when it began")
}

func TestWhatIsUnfinishedSaysSo(t *testing.T) {
	events := play(t, nil)
	at := slices.IndexFunc(events, func(e flow.Event) bool { return body.As[flow.Turn](e) != nil && body.As[flow.Turn](e).Speaker == "Ben" })
	r := newRecorder()
	chunk := flow.Event{At: events[at-1].At.Add(time.Second), Body: &flow.Chunk{Text: canary}}
	read(t, r, append(slices.Clone(events[:at]), chunk))
	spans := r.ended(t)
	for _, name := range []string{"invoke_workflow debate", "round", "awaitingResponses"} {
		assert.Equal(t, "true", get(r.one(t, name), "debate.unfinished"), name)
		assert.Equal(t, codes.Unset, r.one(t, name).Status().Code, name)
		assert.Equal(t, chunk.At, r.one(t, name).EndTime(), "the last that is known of it")
	}
	last := spans[len(spans)-1]
	assert.Equal(t, "Ben", get(last, "gen_ai.agent.name"))
	assert.Equal(t, "true", get(last, "debate.unfinished"))
	assert.Empty(t, get(r.find(t, "chat talker")[0], "debate.unfinished"), "Ada has spoken")
	assert.Contains(t, r.measured(t), "debate.ended [{debate}] {debate.end_reason= debate.flow=debate debate.state=unfinished} 1\n")
}

func TestHowASequenceEnds(t *testing.T) {
	events := play(t, nil)
	half := events[:len(events)/2]
	for name, test := range map[string]struct {
		err    error
		kind   string
		status codes.Code
	}{
		"a failing store":     {errors.New(canary), "_OTHER", codes.Error},
		"an error of ours":    {fmt.Errorf("x: %w", &flow.Error{Kind: provider.KindConflict}), "conflict", codes.Error},
		"a deadline":          {context.DeadlineExceeded, "timeout", codes.Error},
		"a reader that left":  {context.Canceled, "", codes.Unset},
		"a closed session":    {flow.ErrClosed, "", codes.Unset},
		"a person is awaited": {flow.ErrAwaitingInput, "", codes.Unset},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			var last error
			for _, err := range r.Watch(t.Context(), sequence(half, test.err)) {
				last = err
			}
			assert.Equal(t, test.err, last, "the error is handed on")
			root := r.one(t, "invoke_workflow debate")
			assert.Equal(t, test.kind, get(root, "error.type"))
			assert.Equal(t, trace.Status{Code: test.status}, root.Status())
		})
	}
	t.Run("before the first fact", func(t *testing.T) {
		r := newRecorder()
		drain(r.Watch(t.Context(), sequence(nil, errors.New("no such debate"))))
		assert.Empty(t, r.ended(t))
	})
	t.Run("after the last", func(t *testing.T) {
		r := newRecorder()
		drain(r.Watch(t.Context(), sequence(events, errors.New("late"))))
		assert.Equal(t, codes.Unset, r.one(t, "invoke_workflow debate").Status().Code)
	})
}

// A debate that stops in the error state is a trace that failed; the same, retried, is one that has an error inside.
func TestTheErrorState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		engine := engineOf(func(req *provider.Request) scripted.Reply {
			reply := script(req)
			if reply.Err == nil && req.Self == "Ben" && broken {
				reply.Err = &provider.Error{Kind: provider.KindQuota, Status: 402, Message: canary}
			}
			return reply
		})
		config := cars()
		config.Participants = config.Participants[:2]
		r := newRecorder()
		var last error
		for _, err := range r.Watch(t.Context(), engine.Run(t.Context(), config)) {
			last = err
		}
		require.ErrorIs(t, last, &flow.Error{Kind: provider.KindQuota}, "%v", last)
		root := r.one(t, "invoke_workflow debate")
		assert.Equal(t, "error", get(root, "debate.state"))
		assert.Equal(t, "quota", get(root, "error.type"))
		assert.Equal(t, trace.Status{Code: codes.Error}, root.Status())
		assert.Equal(t, "quota", get(r.one(t, "error"), "error.type"))
		assert.Contains(t, r.measured(t),
			"debate.ended [{debate}] {debate.end_reason=failure debate.flow=debate debate.state=error error.type=quota} 1\n")
		assert.NotContains(t, r.tree(t), canary)

		broken = false
		session := stage.Reopen(t, engine, config.ID)
		defer session.Close()
		require.NoError(t, session.Retry(t.Context()))
		r = newRecorder()
		require.NoError(t, r.Observe(t.Context(), session))
		root = r.one(t, "invoke_workflow debate")
		assert.Equal(t, "completed", get(root, "debate.state"))
		assert.Equal(t, "rounds", get(root, "debate.end_reason"))
		assert.Equal(t, codes.Unset, root.Status().Code)
		assert.Equal(t, codes.Error, r.one(t, "error").Status().Code)
		assert.Empty(t, get(r.one(t, "error"), "debate.unfinished"))
		assert.Len(t, r.find(t, "awaitingResponses"), 2, "the one that was interrupted goes on")
	})
}

func TestTheParentIsThatOfTheContext(t *testing.T) {
	events := play(t, nil)
	r := newRecorder()
	ctx, parent := r.TracerProvider.Tracer("host").Start(t.Context(), "request")
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	drain(r.Watch(ctx, sequence(events, nil)))
	parent.End()
	assert.Equal(t, parent.SpanContext().SpanID(), r.one(t, "invoke_workflow debate").Parent().SpanID())
	assert.Contains(t, r.measured(t), "debate.rounds", "a context that is done stops no measurement")
}

func TestContentAndLabels(t *testing.T) {
	events := play(t, nil)
	r := newRecorder()
	r.Content, r.Labels, r.Vendors = true, true, map[string]string{"openai": "azure.ai.openai"}
	for i := range events {
		if turn := body.As[flow.Turn](events[i]); turn != nil {
			long := *turn
			long.Text = strings.Repeat("é", 1<<20)
			events[i].Body = &long
		}
	}
	read(t, r, events)
	root := r.one(t, "invoke_workflow debate")
	assert.Equal(t, canary, get(root, "debate.label.mark"))
	assert.Equal(t, "acme", get(root, "debate.label.tenant"))
	assert.Contains(t, get(root, "debate.topic"), canary)
	calls := r.find(t, "chat talker")
	assert.Empty(t, get(calls[0], "gen_ai.output.messages"), "a failure's text is never told")
	assert.Equal(t, `[{"role":"assistant","parts":[{"type":"text","content":"`+strings.Repeat("é", 4096)+`"}],"finish_reason":"stop"}]`,
		get(calls[1], "gen_ai.output.messages"))
	assert.Equal(t, "azure.ai.openai", get(calls[1], "gen_ai.provider.name"))
	judge := r.find(t, "chat judge")
	assert.Contains(t, get(judge[0], "gen_ai.output.messages"), "no JSON, but "+canary)
	assert.Contains(t, get(judge[1], "gen_ai.output.messages"), `\"qualityScore\":7.5`)
	assert.NotContains(t, r.measured(t), canary)
}

// A log that is read as JSON gives the same trace as one that was never written.
func TestALogThatWasWritten(t *testing.T) {
	events := play(t, nil)
	live, stored := newRecorder(), newRecorder()
	read(t, live, events)
	flow := debate.DebateFlow()
	for i := range events {
		data, err := json.Marshal(events[i])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &events[i]))
		events[i], err = flow.DecodeEvent(events[i])
		require.NoError(t, err)
	}
	read(t, stored, events)
	assert.Equal(t, live.tree(t), stored.tree(t))
}

// The values of the metrics' attributes have a bound, whatever configs and flows make up.
func TestTheSeriesAreBounded(t *testing.T) {
	r := newRecorder()
	for n := range 1000 {
		name := fmt.Sprint("made-up-", n)
		call := flow.Spend{Call: name, Attempt: 1, Model: name + "/" + name, Usage: debate.Usage{Input: 1}, Cost: 1}
		read(t, r, []flow.Event{
			{Body: &flow.Start{Config: flow.Value{Go: &debate.Config{}}, Flow: name}},
			{Body: &flow.Intent{Call: name, Attempt: 1, Kind: flow.CallKind(name), Model: call.Model}},
			{Body: &flow.Failure{Spend: call, Error: &flow.Error{Kind: flow.Kind(name)}}},
			{Body: &flow.Transition{To: flow.StateCompleted, Reason: flow.EndReason(name)}},
		})
	}
	measured := r.measured(t)
	assert.Less(t, strings.Count(measured, "\n"), 600)
	assert.Contains(t, measured, "error.type=_OTHER")
	assert.Contains(t, measured, "gen_ai.request.model=_OTHER")
	assert.Contains(t, measured, "debate.end_reason=_OTHER")
	assert.Contains(t, measured, "gen_ai.request.model=made-up-0")
}

func TestANilObserverHandsEventsOn(t *testing.T) {
	events := play(t, nil)
	var none *otel.Observer
	var got []flow.Event
	for event, err := range none.Watch(t.Context(), sequence(events, nil)) {
		require.NoError(t, err)
		got = append(got, event)
	}
	assert.Equal(t, events, got)
}
