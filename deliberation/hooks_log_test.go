package deliberation_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestHooksOfReadersWhoComeLate: whenever a reader comes, it is told what the one is told that was there all
// the time, but for beginnings that it has missed.
func TestHooksOfReadersWhoComeLate(t *testing.T) {
	engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
		if call == "r1.critique.cyd.ada" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}, true
		}
		return scripted.Reply{Text: strings.Repeat("Words. ", 300)}, req.Schema == nil
	})
	config := three()
	config.Rounds = 6
	config.Summaries.Threshold, config.Summaries.MaxLength = 3000, 500
	all := events(t, engine, play(t, engine, config).ID)

	// What is told with which event; the rounds, sizes and activities that need what came before are left out.
	told := func(part []flow.Event) [][]string {
		var now []string
		lines := make([][]string, 0, len(part)+1)
		hooks := tracing(func(line string) {
			if before, _, ok := strings.Cut(line, " has summarized "); ok {
				line = before + " has summarized"
			}
			if before, _, ok := strings.Cut(line, " fails "); ok {
				line = before + " fails"
			}
			if number, after, ok := strings.Cut(line, " "); ok && strings.HasPrefix(number, "r") && number != "round" {
				line = after
			}
			now = append(now, line)
		})
		for _, err := range hooks.Events(stored(part)) {
			require.NoError(t, err)
			lines, now = append(lines, now), nil
		}
		return append(lines, now)
	}
	whole := told(all)
	missed := 0
	for k := 1; k < len(all); k++ {
		late := told(all[k:])
		for i, lines := range late {
			for _, line := range lines {
				require.Contains(t, whole[k+i], line, "reader from event %d on, event %d", k, k+i)
			}
			for _, line := range whole[k+i] {
				if slices.Contains(lines, line) {
					continue
				}
				missed++
				require.True(t, i == 0 && strings.Contains(line, " begins ("),
					"reader from event %d on is not told at event %d: %s", k, k+i, line)
			}
		}
	}
	assert.Positive(t, missed, "a phase that began with the event before")
	assert.Less(t, missed, len(all))
}

// TestHooksOfControls: a phase that was interrupted goes on, and does not begin anew.
func TestHooksOfControls(t *testing.T) {
	to := func(on flow.Trigger, from, to flow.State, calls int) flow.Event {
		return flow.Event{Body: &flow.Transition{From: from, To: to, On: on, Calls: calls}}
	}
	ask := func(attempt int) flow.Event {
		return flow.Event{Body: &flow.Intent{
			Call: "r1.propose.ada", Attempt: attempt, Kind: deliberation.KindProposal, By: "ada", Round: 1,
		}}
	}
	fail := func(f flow.Failure) flow.Event {
		f.Call, f.By, f.Error = "r1.propose.ada", "ada", &flow.Error{Kind: provider.KindNetwork}
		return flow.Event{Body: &f}
	}
	start := flow.Event{Body: &flow.Start{}}
	begin := to(deliberation.TriggerContextsReady, deliberation.StateSummarizing, deliberation.StateProposing, 3)
	tests := map[string]struct {
		events []flow.Event
		want   []string
	}{
		"a pause": {
			[]flow.Event{
				start, begin, ask(1), to(flow.TriggerPause, deliberation.StateProposing, flow.StatePaused, 0), fail(flow.Failure{Void: true}),
				to(flow.TriggerResume, flow.StatePaused, deliberation.StateProposing, 0), ask(2),
			},
			[]string{"r0 summarizing is over", "r0 proposing begins (3)", "ada begins proposing"},
		},
		"an error that is retried": {
			[]flow.Event{
				start, begin, ask(1), fail(flow.Failure{}), ask(2), fail(flow.Failure{Final: true}),
				to(flow.TriggerFail, deliberation.StateProposing, flow.StateError, 0),
				to(flow.TriggerRetry, flow.StateError, deliberation.StateProposing, 0), ask(3),
			},
			[]string{
				"r0 summarizing is over", "r0 proposing begins (3)", "ada begins proposing", "ada again proposing: debate: network",
				"ada fails proposing: debate: network", "ada begins proposing",
			},
		},
		"a stop in a pause": {
			[]flow.Event{
				start, begin, to(flow.TriggerPause, deliberation.StateProposing, flow.StatePaused, 0),
				to(flow.TriggerStop, flow.StatePaused, flow.StateCompleting, 1),
				to(flow.TriggerCompleted, flow.StateCompleting, flow.StateCompleted, 0),
			},
			[]string{
				"r0 summarizing is over", "r0 proposing begins (3)", "r0 proposing is over", "r0 completing begins (1)", "r0 completing is over",
			},
		},
		"cancelled at once": {
			[]flow.Event{start, begin, to(flow.TriggerCancel, deliberation.StateProposing, flow.StateCanceled, 0)},
			[]string{"r0 summarizing is over", "r0 proposing begins (3)", "r0 proposing is over"},
		},
		"a start, and then nothing": {
			[]flow.Event{start, begin}, []string{"r0 summarizing is over", "r0 proposing begins (3)"},
		},
		"a pause that a reader finds": {
			[]flow.Event{
				to(flow.TriggerResume, flow.StatePaused, deliberation.StateProposing, 0), ask(2),
				to(deliberation.TriggerProposed, deliberation.StateProposing, deliberation.StateCritiquing, 6), ask(1),
			},
			[]string{"r1 proposing is over", "r1 critiquing begins (6)"},
		},
		"a tool": {
			[]flow.Event{
				start, ask(1),
				{Body: &flow.ToolCalls{Spend: flow.Spend{Call: "r1.propose.ada"}, By: "ada"}},
				{Body: &flow.Intent{Call: "t1", Attempt: 1, Kind: flow.KindTool, By: "ada", Tool: "search"}},
				{Body: &flow.ToolResult{By: "ada", Tool: "search"}},
				ask(2),
			},
			[]string{"ada begins proposing", "ada uses search", "ada has used search: true"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, trace(t, tt.events)) })
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
	passed := deliberation.Hooks{OnRoundStart: func(round, of int) { rounds += 10*round + of }}.Events(source)
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
	for _, err := range (deliberation.Hooks{}).Events(source) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, 1, pulled)
}

// TestHooksOfAnything: no log, however wrong, makes hooks fall over.
func TestHooksOfAnything(t *testing.T) {
	engine, _ := engineFor(nil)
	config := three()
	all := events(t, engine, play(t, engine, config).ID)
	random := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		mixed := slices.Clone(all)
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		mixed = mixed[:random.IntN(len(mixed))]
		for i := range mixed {
			if turn := body.As[flow.Turn](mixed[i]); turn != nil && random.IntN(3) == 0 {
				changed := *turn
				changed.Speaker, changed.Data, changed.Round = "zoe", []byte("{"), -random.IntN(5)
				changed.Kind = []flow.CallKind{deliberation.KindDigest, deliberation.KindSynthesis, "check"}[random.IntN(3)]
				mixed[i].Body = &changed
			}
		}
		require.NotPanics(t, func() { trace(t, mixed) })
		for _, err := range (deliberation.Hooks{}).Events(stored(mixed)) {
			require.NoError(t, err)
		}
	}
}
