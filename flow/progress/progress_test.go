package progress_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// tracing returns hooks that write down what they are told.
func tracing(tell func(line string)) progress.Hooks {
	say := func(format string, args ...any) { tell(fmt.Sprintf(format, args...)) }
	return progress.Hooks{
		OnRound:    func(r flow.Round) { say("round %d of %d", r.N, r.Of) },
		OnPhase:    func(p progress.Phase) { say("> r%d %s (%d)", p.Round, p.State, p.Expected) },
		OnPhaseEnd: func(p progress.Phase) { say("< r%d %s", p.Round, p.State) },
		OnCall:     func(j progress.Job) { say("%s begins", j.Call) },
		OnDone:     func(j progress.Job) { say("%s is done", j.Call) },
		OnRetry:    func(j progress.Job, why error) { say("%s again: %v", j.Call, why) },
		OnFailed:   func(j progress.Job, why error) { say("%s fails: %v", j.Call, why) },
		OnText:     func(j progress.Job, chunk *flow.Chunk) { say("%s says %s", j.Call, chunk.Text) },
		OnTool:     func(j progress.Job) { say("%s uses %s %s", j.By, j.Tool, j.Arguments) },
		OnToolDone: func(j progress.Job, r *flow.ToolResult) { say("%s has used %s: %s", j.By, j.Tool, r.Text) },
		OnQuestion: func(q *flow.Inquiry) { say("question %s: %s", q.ID, q.Question) },
		OnAnswer:   func(a *flow.Answer) { say("answer to %s: %s", a.Inquiry, a.Text) },
		OnWarning:  func(w *flow.Warning) { say("warning %s: %s", w.Kind, w.By) },
	}
}

// stored makes a sequence of events that are there already.
func stored(all []flow.Event) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for _, event := range all {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// trace returns what hooks are told with each event.
func trace(t *testing.T, events iter.Seq2[flow.Event, error]) (told [][]string) {
	t.Helper()
	var now []string
	for _, err := range tracing(func(line string) { now = append(now, line) }).Events(events) {
		require.NoError(t, err)
		told, now = append(told, now), nil
	}
	return told
}

// TestHooks: the calls of each phase end one after the other.
func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := flows.Deliberation("links")
		config.Rounds = 2
		engine := flows.Engine(&store.Memory{}, func(ctx context.Context, req *provider.Request) error {
			return flows.Slowly(time.Duration(slices.Index([]string{"judge", "ada", "ben"}, req.Self))*time.Second)(ctx, req)
		})
		lines := slices.DeleteFunc(slices.Concat(trace(t, engine.Run(t.Context(), config))...), func(line string) bool {
			return strings.Contains(line, " says ")
		})
		assert.Equal(t, strings.TrimSpace(`
> r0 clarifying (0)
< r0 clarifying
> r0 planningRound (0)
< r0 planningRound
round 1 of 2
> r1 summarizing (0)
< r1 summarizing
> r1 proposing (2)
r1.propose.ada begins
r1.propose.ben begins
r1.propose.ada is done
r1.propose.ben is done
< r1 proposing
> r1 critiquing (2)
r1.critique.ada.ben begins
r1.critique.ben.ada begins
r1.critique.ada.ben is done
r1.critique.ben.ada is done
< r1 critiquing
> r1 refining (2)
r1.refine.ada begins
r1.refine.ben begins
r1.refine.ada is done
r1.refine.ben is done
< r1 refining
> r1 evaluating (0)
< r1 evaluating
> r1 planningRound (0)
< r1 planningRound
round 2 of 2
> r2 summarizing (0)
< r2 summarizing
> r2 proposing (0)
< r2 proposing
> r2 critiquing (2)
r2.critique.ada.ben begins
r2.critique.ben.ada begins
r2.critique.ada.ben is done
r2.critique.ben.ada is done
< r2 critiquing
> r2 refining (2)
r2.refine.ada begins
r2.refine.ben begins
r2.refine.ada is done
r2.refine.ben is done
< r2 refining
> r2 evaluating (0)
< r2 evaluating
> r2 planningRound (0)
< r2 planningRound
> r2 completing (1)
synthesis begins
synthesis is done
< r2 completing`), strings.Join(lines, "\n"))
	})
}

// logs plays a conversation of each flow, in which the third request fails at first, and returns the events.
func logs(t *testing.T) map[string][]flow.Event {
	t.Helper()
	all := make(map[string][]flow.Event)
	for _, config := range []flow.Config{flows.Debate("debate"), flows.Deliberation("deliberation"), flows.Arbitration("arbiter")} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int64
			engine := flows.Engine(&store.Memory{}, func(context.Context, *provider.Request) error {
				if asked.Add(1) == 3 {
					return &provider.Error{Kind: provider.KindNetwork, Message: "gone"}
				}
				return nil
			})
			for event, err := range engine.Run(t.Context(), config) {
				require.NoError(t, err)
				all[config.Flow()] = append(all[config.Flow()], event)
			}
		})
	}
	require.Len(t, all, 3)
	return all
}

// TestWhatBeginsEndsOnce: in every flow, each call has one end, and one phase follows the other.
func TestWhatBeginsEndsOnce(t *testing.T) {
	for name, all := range logs(t) {
		t.Run(name, func(t *testing.T) {
			pending, phase, count := make(map[string]bool), "", make(map[string]int)
			for _, line := range slices.Concat(trace(t, stored(all))...) {
				switch words := strings.Fields(line); words[0] {
				case "warning":
				case "round":
					count["round"]++
					assert.Equal(t, fmt.Sprint(count["round"]), words[1])
				case ">":
					assert.Empty(t, phase, line)
					phase = words[2]
				case "<":
					assert.Equal(t, phase, words[2])
					phase = ""
				default:
					count[words[1]]++
					assert.Equal(t, words[1] != "begins", pending[words[0]], line)
					pending[words[0]] = words[1] != "is"
				}
			}
			assert.NotContains(t, fmt.Sprint(pending), "true", "what has begun is done")
			assert.Empty(t, phase)
			assert.Equal(t, 1, count["again:"])
			assert.Zero(t, count["fails:"])
			assert.Greater(t, count["begins"], 4)
			assert.Positive(t, count["round"])
			assert.Positive(t, count["says"])

			var jobs progress.Jobs
			most := 0
			for _, event := range all {
				jobs.Fold(&event)
				most = max(most, len(slices.Collect(jobs.Pending())))
			}
			assert.Positive(t, most)
			assert.Empty(t, slices.Collect(jobs.Pending()))
		})
	}
}

var ofRound = regexp.MustCompile(`^([<>]) r\d+ `)

// TestReadersWhoComeLate: whenever a reader comes, it is told with each event what the one is told that was there all the time. Only a
// round is told once more, with its own event, to a reader who has missed the transition before.
func TestReadersWhoComeLate(t *testing.T) {
	for name, all := range logs(t) {
		t.Run(name, func(t *testing.T) {
			whole := trace(t, stored(all))
			for k := 1; k < len(all); k++ {
				for i, lines := range trace(t, stored(all[k:])) {
					if _, round := all[k+i].Body.(*flow.Round); round {
						continue
					}
					require.Len(t, lines, len(whole[k+i]), "reader from event %d on, event %d", k, k+i)
					for n, line := range lines {
						require.Equal(t, ofRound.ReplaceAllString(whole[k+i][n], "$1 "), ofRound.ReplaceAllString(line, "$1 "))
					}
				}
			}
		})
	}
}

// TestHooksOfLogs: a phase that was interrupted goes on, and does not begin anew; what becomes of a call is told once.
func TestHooksOfLogs(t *testing.T) {
	const call = "r1.propose.ada"
	const proposing = deliberation.StateProposing
	begun := []string{"< r0 summarizing", "> r0 proposing (3)", call + " begins"}
	to := func(on flow.Trigger, from, to flow.State, calls int) flow.Body {
		return &flow.Transition{From: from, To: to, On: on, Calls: calls}
	}
	ask := func(attempt int) flow.Body { return &flow.Intent{Call: call, Attempt: attempt, By: "ada", Round: 1} }
	fail := func(f flow.Failure) flow.Body {
		f.Call, f.By, f.Error = call, "ada", &flow.Error{Kind: provider.KindNetwork}
		return &f
	}
	spend := flow.Spend{Call: call}
	void, turn, round := fail(flow.Failure{Void: true}), &flow.Turn{Spend: spend, Speaker: "ada"}, &flow.Round{N: 1, Of: 2}
	stop := to(flow.TriggerStop, proposing, flow.StateCompleting, 1)
	for name, tt := range map[string]struct {
		bodies []flow.Body // after the phase and the call have begun
		want   []string
	}{
		"a pause": {
			[]flow.Body{
				to(flow.TriggerPause, proposing, flow.StatePaused, 0), void, to(flow.TriggerResume, flow.StatePaused, proposing, 0), ask(2), turn,
			},
			[]string{call + " is done"},
		},
		"a question": {
			[]flow.Body{
				&flow.Inquiry{ID: "q", Question: "How many?"}, to("", proposing, flow.StateAwaitingInput, 0), &flow.Answer{Inquiry: "q", Text: "Ten."},
				to(flow.TriggerAnswered, flow.StateAwaitingInput, proposing, 0), turn,
			},
			[]string{"question q: How many?", "answer to q: Ten.", call + " is done"},
		},
		"a person who is late": {
			[]flow.Body{
				to("", proposing, flow.StateAwaitingInput, 0), fail(flow.Failure{Final: true}),
				to(flow.TriggerOverdue, flow.StateAwaitingInput, proposing, 0), ask(2), turn,
			},
			[]string{call + " fails: debate: network", call + " begins", call + " is done"},
		},
		"an error that is retried": {
			[]flow.Body{
				fail(flow.Failure{}), ask(2), fail(flow.Failure{Final: true}), to(flow.TriggerFail, proposing, flow.StateError, 0),
				to(flow.TriggerRetry, flow.StateError, proposing, 0), ask(3), turn,
			},
			[]string{call + " again: debate: network", call + " fails: debate: network", call + " begins", call + " is done"},
		},
		"a stop in a pause": {
			[]flow.Body{
				to(flow.TriggerPause, proposing, flow.StatePaused, 0), void, to(flow.TriggerStop, flow.StatePaused, flow.StateCompleting, 1),
				to(flow.TriggerCompleted, flow.StateCompleting, flow.StateCompleted, 0),
			},
			[]string{"< r0 proposing", "> r0 completing (1)", "< r0 completing"},
		},
		"a stop":                           {[]flow.Body{stop, void}, []string{"< r0 proposing", "> r0 completing (1)"}},
		"a result that comes after a stop": {[]flow.Body{stop, turn}, []string{"< r0 proposing", "> r0 completing (1)", call + " is done"}},
		"cancelled at once":                {[]flow.Body{to(flow.TriggerCancel, proposing, flow.StateCanceled, 0)}, []string{"< r0 proposing"}},
		"the next speakers of a phase":     {[]flow.Body{to("", proposing, proposing, 2)}, nil},
		"a round": {
			[]flow.Body{&flow.Transition{From: proposing, To: deliberation.StateCritiquing, Round: round}, round},
			[]string{"< r0 proposing", "round 1 of 2", "> r1 critiquing (0)"},
		},
		"a round whose transition does not name it": {[]flow.Body{round}, []string{"round 1 of 2"}},
		"an answer that is not accepted": {
			[]flow.Body{
				&flow.Rejection{Spend: spend, Problems: []string{"it is", "too long"}}, ask(2), &flow.Rejection{Spend: spend, Final: true},
			},
			[]string{call + " again: the answer was not accepted: it is; too long", call + " fails: the answer was not accepted: "},
		},
		"a call that is left out": {
			[]flow.Body{&flow.Skipped{Call: call, Reason: "its time was over"}, void, &flow.Skipped{Call: "r1.propose.ben"}},
			[]string{call + " fails: the call is left out: its time was over"},
		},
		"a call that has failed and is left out": {
			[]flow.Body{fail(flow.Failure{Final: true}), &flow.Skipped{Call: call}, &flow.Warning{Kind: flow.WarnLeftOut, By: "ada"}},
			[]string{call + " fails: debate: network", "warning left-out: ada"},
		},
		"a call that is withdrawn, and wanted again": {
			[]flow.Body{&flow.Withdrawn{Call: call}, void, ask(2)}, []string{call + " fails: the call is no longer wanted", call + " begins"},
		},
		"texts": {
			[]flow.Body{
				&flow.Chunk{Call: call, Text: "Hm.", Reasoning: true}, &flow.Chunk{Call: call, Text: "Yes."}, &flow.Chunk{Call: call, Text: `{"a":`, Schema: "a"},
			},
			[]string{call + " says Yes."},
		},
		"a tool": {
			[]flow.Body{
				&flow.ToolCalls{Spend: spend, By: "ada", Uses: []flow.AskedTool{
					{Use: "t0", Denied: "it is one too many"}, {Use: "t1", ToolCall: provider.ToolCall{Arguments: []byte(`{"for":"links"}`)}},
				}},
				&flow.Intent{Call: "t1", Attempt: 1, Kind: flow.KindTool, By: "ada", Tool: "search", For: call},
				&flow.ToolResult{Spend: flow.Spend{Call: "t1"}, By: "ada", Tool: "search", Text: "42"},
				ask(2), &flow.Continued{Spend: spend, By: "ada"}, ask(3), turn,
			},
			[]string{`ada uses search {"for":"links"}`, "ada has used search: 42", call + " is done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []flow.Event
			begin := []flow.Body{&flow.Start{}, to("contextsReady", deliberation.StateSummarizing, proposing, 3), ask(1)}
			for _, body := range append(begin, tt.bodies...) {
				all = append(all, flow.Event{Body: body})
			}
			assert.Equal(t, slices.Concat(begun, tt.want), slices.Concat(trace(t, stored(all))...))
		})
	}
}

// TestHooksPassOn: hooks change no event and no error, take what has no hook, and stop when the reader does.
func TestHooksPassOn(t *testing.T) {
	broken := errors.New("the store is gone")
	pulled := 0
	source := func(yield func(flow.Event, error) bool) {
		for n := range int64(3) {
			pulled++
			if !yield(flow.Event{Seq: n + 1, Body: &flow.Round{N: int(n) + 1, Of: 3}}, nil) {
				return
			}
		}
		yield(flow.Event{}, broken)
	}
	rounds := 0
	passed := progress.Hooks{OnRound: func(r flow.Round) { rounds += 10*r.N + r.Of }}.Events(source)
	for range 2 { // as often as one likes
		var seqs []int64
		var last error
		for event, err := range passed {
			seqs, last = append(seqs, event.Seq), err
		}
		assert.Equal(t, []int64{1, 2, 3, 0}, seqs)
		assert.Equal(t, broken, last)
	}
	assert.Equal(t, 2*(13+23+33), rounds)
	pulled = 0
	for _, err := range (progress.Hooks{}).Events(source) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, 1, pulled)
}

// TestHooksOfAnything: no log, however wrong, makes hooks fall over.
func TestHooksOfAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, all := range logs(t) {
		for range 100 {
			mixed := slices.Clone(all)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			mixed = mixed[:random.IntN(len(mixed))]
			require.NotPanics(t, func() { trace(t, stored(mixed)) })
			for _, err := range (progress.Hooks{}).Events(stored(mixed)) {
				require.NoError(t, err)
			}
		}
	}
}
