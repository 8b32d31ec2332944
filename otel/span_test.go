package otel_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
)

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
	for seed := range longform.Or[uint64](200, 20) {
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
					Call: long, Model: long, By: long, Kind: flow.CallKind(long), Target: long, Reask: true,
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
	read(t, r, []flow.Event{{Body: &flow.Round{N: 1}}, {Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}}})
	for _, s := range r.ended(t) {
		assert.Equal(t, time.Unix(0, 0), s.StartTime().Local())
		assert.Equal(t, time.Unix(0, 0), s.EndTime().Local())
	}
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
