package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
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

// Whatever part of a log is read, and however its reader or the sequence ends, every span is ended once, no later than
// its last fact and no earlier than it began, under a parent of the same trace.
func TestEverySpanIsEnded(t *testing.T) {
	events := play(t, nil)
	ends := map[string]func(*recorder, []flow.Event){
		"the sequence ends": func(r *recorder, part []flow.Event) { drain(r.Watch(t.Context(), sequence(part, nil))) },
		"an error": func(r *recorder, part []flow.Event) {
			drain(r.Watch(t.Context(), sequence(part, errors.New(canary))))
		},
		"break": func(r *recorder, part []flow.Event) {
			for event, err := range r.Watch(t.Context(), sequence(part, nil)) {
				if err != nil || event.Seq == part[len(part)-1].Seq {
					break
				}
			}
		},
		"a panic": func(r *recorder, part []flow.Event) {
			n := len(part)
			defer func() { _ = recover() }()
			for event, err := range r.Watch(t.Context(), sequence(part, nil)) {
				if err != nil || event.Seq == part[len(part)-1].Seq {
					part[n].Seq = 0
				}
			}
		},
	}
	type part struct{ from, to int }
	var parts []part
	for i := range events {
		parts = append(parts, part{0, i + 1}, part{i, len(events)})
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		from := random.IntN(len(events))
		parts = append(parts, part{from, from + 1 + random.IntN(len(events)-from)})
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			for _, p := range parts {
				r := newRecorder()
				end(r, events[p.from:p.to])
				wellFormed(t, r, events[p.to-1].At)
			}
		})
	}
}

func wellFormed(t *testing.T, r *recorder, last time.Time) {
	t.Helper()
	spans := r.ended(t)
	require.NotEmpty(t, spans)
	known := map[string]bool{}
	roots := 0
	for _, s := range spans {
		require.False(t, s.EndTime().Before(s.StartTime()), s.Name())
		require.False(t, s.EndTime().After(last), s.Name())
		known[s.SpanContext().SpanID().String()] = true
		if !s.Parent().IsValid() {
			roots++
			continue
		}
		require.True(t, known[s.Parent().SpanID().String()], "%s has a parent that began before it", s.Name())
	}
	require.Equal(t, 1, roots)
	require.Contains(t, r.measured(t), "debate.active [{debate}] {} 0\n")
	require.NotContains(t, r.tree(t), canary)
}

// A log that nobody could have written makes no panic and leaves nothing open.
func TestAHostileLog(t *testing.T) {
	events := play(t, nil)
	long := strings.Repeat("\x00\u202e\n"+"x", 1<<18)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		log := slices.Clone(events)
		random.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
		for i := range log {
			switch random.IntN(8) {
			case 0:
				log[i].At = time.Time{}
			case 1:
				log[i].Body = nil // without what it tells
			case 2:
				log[i].At = log[i].At.Add(time.Duration(random.Int64N(int64(time.Hour))) - time.Hour/2)
			case 3:
				log[i].Body = &flow.Intent{
					Call: long, Model: long, By: long, Kind: flow.CallKind(long), Target: long, Again: long,
				}
			case 4:
				spend := flow.Spend{Call: long, Took: -1, Cost: -1, Usage: debate.Usage{Input: -1}}
				log[i].Body = &flow.Failure{Spend: spend, Next: long}
			case 5:
				log[i].Body = &flow.Transition{To: flow.State(long), Reason: flow.EndReason(long)}
			}
		}
		log = append(log, log[:10]...)
		r := newRecorder()
		drain(r.Watch(t.Context(), sequence(log, nil)))
		tree := r.tree(t)
		for text := range strings.Lines(tree) {
			require.Less(t, len(text), 400)
			require.NotContains(t, text, "\x00")
			require.NotContains(t, text, "\u202e")
		}
		for _, s := range r.ended(t) {
			require.False(t, s.EndTime().Before(s.StartTime()))
			require.Less(t, s.EndTime().Year(), 2001, "the log is of the year 2000, as every bubble: the clock has no part in it")
		}
		require.Less(t, len(r.measured(t)), 30_000)
	}
}

// The clock has no part in a trace, even where a log has no times.
func TestALogWithoutTimes(t *testing.T) {
	r := newRecorder()
	read(t, r, []flow.Event{{Body: &flow.Round{N: 1}}, {Body: &flow.Acknowledge{}}})
	for _, s := range r.ended(t) {
		assert.Equal(t, time.Unix(0, 0), s.StartTime().Local())
		assert.Equal(t, time.Unix(0, 0), s.EndTime().Local())
	}
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
		session, err := engine.Open(t.Context(), config.ID)
		require.NoError(t, err)
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

// A process that dies in a call leaves it open; whoever opens the debate again learns what became of it.
func TestACallThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session, err := engine.Start(t.Context(), cars())
		require.NoError(t, err)
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" {
				require.NoError(t, session.Close())
			}
			if err != nil {
				require.ErrorIs(t, err, flow.ErrClosed)
			}
		}
		root := r.one(t, "invoke_workflow debate")
		assert.Equal(t, "true", get(root, "debate.unfinished"))

		pass(time.Hour)
		r = newRecorder()
		session, err = engine.Open(t.Context(), "cars")
		require.NoError(t, err)
		defer session.Close()
		require.NoError(t, r.Observe(t.Context(), session))
		calls := r.find(t, "chat talker")
		assert.Equal(t, "void", get(calls[2], "debate.call.outcome"))
		assert.Equal(t, "network", get(calls[2], "error.type"))
		assert.Equal(t, "accepted", get(calls[3], "debate.call.outcome"))
		assert.Equal(t, "2", get(calls[3], "debate.call.attempt"))
		assert.NotContains(t, r.measured(t), "error.type=network gen_ai.operation.name=chat", "nobody knows how long it took")
	})
}

// What a canceled debate still has to pay is part of its cost, though it came after the end.
func TestACostThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session, err := engine.Start(t.Context(), cars())
		require.NoError(t, err)
		defer session.Close()
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			require.NoError(t, err)
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" {
				require.NoError(t, session.Cancel(t.Context()))
			}
		}
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		root := r.one(t, "invoke_workflow debate")
		assert.Equal(t, "canceled", get(root, "debate.state"))
		assert.Equal(t, "host", get(root, "debate.end_reason"))
		assert.Empty(t, get(root, "debate.unfinished"))
		assert.Equal(t, codes.Unset, root.Status().Code)
		assert.Equal(t, fmt.Sprintf("%.6g", float64(record.Spent().Cost)/float64(flow.USD)), get(root, "debate.cost_usd"))
		calls := r.find(t, "chat talker")
		assert.Equal(t, "late", get(calls[len(calls)-1], "debate.call.outcome"))
	})
}

// A person who judges is asked and answers within the span of the call.
func TestAPersonWhoJudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		config := cars()
		config.Rounds, config.Unattended = 1, nil
		config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Person: true}}}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		r := newRecorder()
		for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
			require.NoError(t, err)
			if q := body.As[flow.Inquiry](event); q != nil && q.About != "" {
				require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionDrop))
			} else if q != nil {
				pass(time.Minute)
				require.NoError(t, session.Answer(t.Context(), q.ID, verdict("Ada", "Ben")))
			}
		}
		call := r.one(t, "call verdict")
		assert.Equal(t, time.Minute, call.EndTime().Sub(call.StartTime()))
		assert.Empty(t, get(call, "gen_ai.operation.name"), "a person is no model")
		require.Len(t, call.Events(), 2)
		assert.Equal(t, "debate.inquiry", call.Events()[0].Name)
		assert.Equal(t, "debate.answer", call.Events()[1].Name)
		assert.Contains(t, r.measured(t), "debate.calls [{call}] {debate.call.kind=verdict debate.call.outcome=accepted} 1\n")
		assert.NotContains(t, r.measured(t), "{gen_ai.operation.name=chat}")
		for _, s := range r.find(t, "awaitingInput") {
			assert.Empty(t, get(s, "debate.unfinished"))
		}
		var events []string
		for _, e := range r.find(t, "awaitingResponses")[0].Events() {
			events = append(events, e.Name+" "+among(e.Attributes, "debate.inquiry.options")+among(e.Attributes, "debate.answer.option"))
		}
		assert.Contains(t, events, `debate.inquiry ["retry","model","drop","end"]`)
		assert.Contains(t, events, "debate.answer drop")
		assert.NotContains(t, r.tree(t), canary)
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

// A state that was passed at once has no span; one in which the debate waited has, though nothing happened in it.
func TestAStateWithoutFacts(t *testing.T) {
	began := time.Unix(1000, 0)
	move := func(to flow.State, at time.Duration) flow.Event {
		return flow.Event{At: began.Add(at), Body: &flow.Transition{To: to}}
	}
	r := newRecorder()
	read(t, r, []flow.Event{
		move(debate.StateJudging, 0), move(debate.StateRoundComplete, 0), move(debate.StateAwaitingResponses, 0),
		move(flow.StateCanceled, time.Minute),
	})
	assert.Len(t, r.ended(t), 2)
	waited := r.one(t, "awaitingResponses")
	assert.Equal(t, time.Minute, waited.EndTime().Sub(waited.StartTime()))
	assert.Empty(t, get(waited, "debate.unfinished"))
}

// What could not fit was never asked: it is a failure, but no request.
func TestACallThatWasNotSent(t *testing.T) {
	spend := flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker"}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: &flow.Intent{Call: "r1.Ada", Attempt: 1, Kind: "argument", Model: "acme/talker"}},
		{Body: &flow.Failure{
			Spend: spend, Error: &flow.Error{Kind: provider.KindContextOverflow}, Final: true, Unsent: true,
		}},
	})
	call := r.one(t, "chat talker")
	assert.Equal(t, "unsent", get(call, "debate.call.outcome"))
	assert.Equal(t, "context_overflow", get(call, "error.type"))
	assert.Contains(t, r.measured(t), "debate.call.outcome=unsent error.type=context_overflow")
	assert.NotContains(t, r.measured(t), "gen_ai.client")
}

// An attempt of which the engine gives no time took as long as lies between its facts.
func TestACallWithoutATime(t *testing.T) {
	began := time.Unix(1000, 0)
	turn := &flow.Turn{Spend: flow.Spend{Call: "r1.Ada", Attempt: 1, Model: "acme/talker"}}
	r := newRecorder()
	read(t, r, []flow.Event{
		{At: began, Body: &flow.Intent{Call: "r1.Ada", Attempt: 1, Kind: "argument", Model: "acme/talker"}},
		{At: began.Add(3 * time.Second), Body: turn},
	})
	assert.Contains(t, r.measured(t), "gen_ai.request.model=talker} 1 of 3 in all")
}

// note is what another flow records of a call.
type note struct{ flow.Spend }

func (*note) EventKind() flow.EventKind { return "note" }

func TestACallOfAnotherFlow(t *testing.T) {
	spend := flow.Spend{Call: "note.Ada", Attempt: 1, Model: "acme/talker", Cost: flow.USD}
	start := &flow.Start{
		Flow: "notes", Config: flow.Value{JSON: []byte(`{"format":1}`)},
		Terms: flow.Terms{ID: "n1", Participants: []string{"Ada"}},
	}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: start},
		{Body: &flow.Intent{Call: "note.Ada", Attempt: 1, Kind: "note", By: "Ada", Model: "acme/talker"}},
		{Body: &note{spend}},
	})
	root := r.one(t, "invoke_workflow notes")
	assert.Equal(t, "n1", get(root, "gen_ai.conversation.id"))
	assert.Equal(t, "1", get(root, "debate.participants"))
	assert.Equal(t, "1", get(root, "debate.cost_usd"))
	assert.Empty(t, get(root, "debate.format"))
	assert.Equal(t, "accepted", get(r.one(t, "chat talker"), "debate.call.outcome"))
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

// A model asks for a tool before it answers: two attempts, and between them the use of the tool.
func TestToolsAreTraced(t *testing.T) {
	spend := func(call string, attempt int, model string) flow.Spend {
		return flow.Spend{Call: call, Attempt: attempt, Model: model}
	}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: &flow.Intent{Call: "work.Ada", Attempt: 1, Kind: "work", Model: "acme/talker"}},
		{Body: &flow.ToolCalls{Spend: spend("work.Ada", 1, "acme/talker"), By: "Ada", Text: canary}},
		{Body: &flow.Intent{Call: "work.Ada.tool.1", Attempt: 1, Kind: flow.KindTool, By: "Ada", Tool: "add"}},
		{Body: &flow.ToolResult{Spend: spend("work.Ada.tool.1", 1, ""), By: "Ada", Tool: "add", Text: canary, Failed: true}},
		{Body: &flow.Intent{Call: "work.Ada", Attempt: 2, Kind: "work", Model: "acme/talker"}},
		{Body: &flow.Turn{Spend: spend("work.Ada", 2, "acme/talker"), Speaker: "Ada"}},
	})
	use := r.one(t, "execute_tool add")
	assert.Equal(t, "execute_tool", get(use, "gen_ai.operation.name"))
	assert.Equal(t, "add", get(use, "gen_ai.tool.name"))
	assert.Equal(t, "failed", get(use, "debate.call.outcome"))
	asked := r.find(t, "chat talker")
	assert.Equal(t, "tools", get(asked[0], "debate.call.outcome"))
	assert.Equal(t, "accepted", get(asked[1], "debate.call.outcome"))
	assert.NotContains(t, r.measured(t), canary)
}
