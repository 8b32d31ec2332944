package deliberation_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// ofAgents is a config of so many agents.
func ofAgents(n int) deliberation.Config {
	config := three()
	config.Agents = crowd(n)
	return config
}

// twins are two cores of one deliberation: one lives as long as it, the other is made anew from the log before each step. Both
// must do the same.
type twins struct {
	t      *testing.T
	engine *kernel.Engine
	dice   *rand.Rand
	live   *flow.Core
	log    []flow.Event
	now    time.Time
	wait   time.Time
	flying []*flow.Command
}

// begin starts a deliberation.
func begin(t *testing.T, engine *debate.Engine, config deliberation.Config, seed uint64) *twins {
	t.Helper()
	s := &twins{t: t, engine: kernel.Of(t, engine), dice: rand.New(rand.NewPCG(seed, 33)), now: time.Unix(1_700_000_000, 0).UTC()}
	start, err := s.engine.Freeze(config)
	require.NoError(t, err)
	s.log = []flow.Event{
		{Seq: 1, At: s.now, Body: &start},
		{Seq: 2, At: s.now, Body: &flow.Transition{From: flow.StateReady, To: flow.StateInitializing, On: flow.TriggerStart}},
	}
	s.live = s.load()
	s.step(flow.Tick{})
	return s
}

func (s *twins) load() *flow.Core {
	core, err := s.engine.NewCore("crowd", s.log)
	require.NoError(s.t, err)
	return core
}

// step steps both cores.
func (s *twins) step(signal flow.Signal) {
	s.t.Helper()
	s.by((*flow.Core).Step, signal)
}

// by takes a signal on both cores in this way.
func (s *twins) by(step func(*flow.Core, flow.Input) (flow.Output, error), signal flow.Signal) {
	s.t.Helper()
	in := flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal}
	want, err := step(s.load(), in)
	require.NoError(s.t, err)
	got, err := step(s.live, in)
	require.NoError(s.t, err)
	events := func(out flow.Output) string { return toJSON(append([]flow.Event{}, out.Events...)) }
	require.Equal(s.t, events(want), events(got), "%T after event %d", signal, len(s.log))
	require.Equal(s.t, want.Start, got.Start)
	require.Equal(s.t, want.Abort, got.Abort)
	require.True(s.t, want.Wait.Equal(got.Wait), "%s, not %s", got.Wait, want.Wait)
	s.log, s.wait = append(s.log, got.Events...), got.Wait
	for _, id := range got.Start {
		command, err := s.live.Command(id)
		require.NoError(s.t, err)
		s.flying = append(s.flying, command)
	}
}

// land brings the outcome of one of the calls in flight, or of several at once.
func (s *twins) land() {
	s.now = s.now.Add(time.Duration(s.dice.IntN(200)) * time.Millisecond)
	signal := s.outcome()
	if s.dice.IntN(4) == 0 {
		outcomes := flow.Outcomes{signal}
		for range s.dice.IntN(6) {
			if len(s.flying) > 0 {
				outcomes = append(outcomes, s.outcome())
			}
		}
		signal = outcomes
	}
	if s.dice.IntN(30) == 0 {
		s.by((*flow.Core).StepDrain, signal)
		signal = flow.Tick{}
	}
	s.step(signal)
}

// outcome is that of one of the calls in flight.
func (s *twins) outcome() flow.Signal {
	i := s.dice.IntN(len(s.flying))
	c := s.flying[i]
	s.flying = slices.Delete(s.flying, i, i+1)
	failed := func(kind provider.Kind, after time.Duration) flow.Failed {
		return flow.Failed{Call: c.Call, Attempt: c.Attempt, Error: &flow.Error{Kind: kind, RetryAfter: after}}
	}
	result := flow.Result{Call: c.Call, Attempt: c.Attempt, Usage: provider.Usage{Input: 10, Output: 20}}
	switch n := s.dice.IntN(40); {
	case c.Use != nil:
		result.Text = "It is there."
		return result
	case n < 3:
		return failed(provider.KindNetwork, 0)
	case n < 5:
		return failed(provider.KindRateLimit, time.Duration(s.dice.IntN(90))*time.Second)
	case n < 7:
		return failed(provider.KindContextOverflow, 0)
	case n == 7:
		return failed(provider.KindRefusal, 0)
	case n < 12 && len(c.Request.Tools) > 0:
		result.Calls = []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}, {ID: "2", Name: "look", Arguments: json.RawMessage(`{}`)}}
	case n == 12 && c.Request.Schema != nil:
		result.Text = "no JSON"
	default:
		result.Text = usual(c.Call, c.Request)
		if c.Request.Schema == nil {
			result.Text = long(result.Text)
		}
	}
	return result
}

// disturb does what a host program may do meanwhile.
func (s *twins) disturb() {
	switch n := s.dice.IntN(60); {
	case n == 0 && s.live.Refusal(flow.TriggerPause) == nil:
		s.step(flow.Pause{Drain: s.dice.IntN(2) == 0})
	case n == 1:
		s.now = s.now.Add(time.Minute)
		s.step(flow.Tick{})
	case n == 3 && !s.live.Record().Final() && s.live.Record().Settings().Budget != nil:
		budget := *s.live.Record().Settings().Budget
		budget.HardTokens = 1 << (18 + s.dice.IntN(4))
		s.step(flow.Amendment{Budget: &budget})
	case n == 4 && s.live.Refusal(flow.TriggerStop) == nil && s.dice.IntN(5) == 0:
		s.by((*flow.Core).StepRemote, flow.Stop{})
		s.step(flow.Tick{})
	case n == 2 && s.live.HasWork():
		s.step(flow.Opened{By: "another"})
		for _, lost := range s.live.InFlight() {
			s.step(lost)
		}
		s.step(flow.Tick{})
		s.flying = nil
		for _, lost := range s.live.InFlight() { // those that the steps have begun anew
			command, err := s.live.Command(lost.Call)
			require.NoError(s.t, err)
			s.flying = append(s.flying, command)
		}
	}
}

// play goes on until the deliberation is over. Whatever fails is tried again a few times.
func (s *twins) play() *flow.Record {
	retries := 0
	for range 20_000 {
		r := s.live.Record()
		s.disturb()
		switch {
		case r.Final() && len(s.flying) == 0:
			return r
		case len(s.flying) > 0:
			s.land()
		case r.State == flow.StatePaused:
			s.step(flow.Resume{})
		case r.State == flow.StateError && retries < 5 && s.live.Refusal(flow.TriggerRetry) == nil:
			retries++
			s.step(flow.Retry{})
		case r.State == flow.StateError:
			s.step(flow.Stop{})
		case len(r.Inquiries) > 0:
			q := &r.Inquiries[0]
			s.step(flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry})
		default:
			require.False(s.t, s.wait.IsZero(), "nothing is due in state %s", r.State)
			if s.wait.After(s.now) {
				s.now = s.wait
			}
			s.step(flow.Tick{})
		}
	}
	require.Fail(s.t, "the deliberation does not end")
	return nil
}

// TestACoreThatLivesDoesWhatOneOfTheLogDoes: what a core keeps of the calls of a state changes nothing about what it does. Calls
// fail, wait, use tools, are made smaller and left out, end together, and come to limits of a budget, and the conversation is paused,
// drained, amended, stopped and taken over.
func TestACoreThatLivesDoesWhatOneOfTheLogDoes(t *testing.T) {
	t.Parallel()
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	seen := map[string]int{}
	for seed := range uint64(longform.Sized(80, 8, 5)) {
		config := ofAgents(3 + int(seed%3))
		config.Tools, config.Unattended = []string{"look"}, seed%3 > 0
		config.Summaries = deliberation.Summaries{Threshold: 1, MaxLength: 100}
		config.FullHistory = []*bool{nil, new(true), new(false)}[seed%3]
		if seed%2 == 0 {
			config.Patience = time.Minute
		}
		if seed%5 == 1 {
			config.RoundTimeout = time.Minute
		}
		switch seed % 4 { // a call takes 30 tokens, and keeps back some thousands
		case 2:
			config.MaxTokens, config.Budget = 300, &flow.Budget{SoftTokens: 100 * (1 + int(seed/4%5)), HardTokens: 200_000}
		case 3:
			config.MaxTokens, config.Budget = 300, &flow.Budget{HardTokens: 10_000 * (1 + int(seed%3))}
		default:
		}
		if seed%4 == 1 {
			config.Proposals = deliberation.ProposalsFresh
		}
		engine, _ := engineFor(nil)
		engine.Tools = map[string]flow.Tool{"look": look}
		for name, row := range engine.Models {
			row.Vocabulary = "o200k_base" // near a limit, tokens are counted
			engine.Models[name] = row
		}
		s := begin(t, engine, config, seed)
		r := s.play()
		seen[string(r.State)]++
		if slices.ContainsFunc(r.Warnings, func(w flow.Warning) bool { return w.Kind == flow.WarnHard }) {
			seen["hard limit"]++
		}
		if r.EndedEarlyBy == flow.EndedByBudget {
			seen["cut short"]++
		}
		seen["failures"] += len(r.Failures)
		seen["skipped"] += len(r.SkippedCalls)
		seen["uses"] += len(r.ToolUses)
		seen["summaries"] += strings.Count(strings.Join(calls(r), " "), "summarize")
	}
	t.Logf("%v", seen)
	for _, what := range []string{"completed", "failures", "skipped", "uses", "summaries", "cut short", "hard limit"} {
		assert.Positive(t, seen[what], what)
	}
}

// next answers the oldest call in flight with this text, and begins the calls that follow.
func (s *twins) next(text string) {
	c := s.flying[0]
	s.flying = s.flying[1:]
	out, err := s.live.Step(flow.Input{At: s.now, Signal: flow.Result{
		Call: c.Call, Attempt: c.Attempt, Text: text, Usage: provider.Usage{Input: 10, Output: 20},
	}})
	require.NoError(s.t, err)
	for _, id := range out.Start {
		command, err := s.live.Command(id)
		require.NoError(s.t, err)
		s.flying = append(s.flying, command)
	}
}

// TestTheEndOfACritiqueCostsNothingOfTheOthers: in a crowd of thirty, which makes 870 critiques at once, the end of one of them takes
// about as much memory as among eight, which make 56.
func TestTheEndOfACritiqueCostsNothingOfTheOthers(t *testing.T) {
	each := func(n int) float64 {
		engine, _ := engineFor(nil)
		config := ofAgents(n)
		config.Rounds = 1
		s := begin(t, engine, config, 1)
		for s.live.Record().State != deliberation.StateCritiquing {
			s.next(said(s.flying[0].Call))
		}
		require.Len(t, s.flying, n*(n-1))
		one := func() { s.next(said(s.flying[0].Call)) }
		one() // after the first one there is room for more
		const sample = 40
		return testing.AllocsPerRun(sample, one)
	}
	few, all := each(8), each(30)
	t.Logf("%.1f allocations at the end of a critique among 8 agents, %.1f among 30", few, all)
	assert.LessOrEqual(t, all, 2*few)
}

// TestTheEndOfASummaryReadsNoTextsOfTheOthers: where all read the whole history, whether a summary pays depends on the texts of all. What
// the end of one takes grows with the number of agents, and not with that of their texts.
func TestTheEndOfASummaryReadsNoTextsOfTheOthers(t *testing.T) {
	each := func(n int) float64 {
		engine, _ := engineFor(nil)
		config := ofAgents(n)
		config.Rounds, config.FullHistory, config.Summaries = 4, new(true), deliberation.Summaries{Threshold: 1000, MaxLength: 500}
		s := begin(t, engine, config, 1)
		for s.live.Record().State != deliberation.StateSummarizing || len(s.flying) == 0 {
			s.next(said(s.flying[0].Call) + strings.Repeat(" word", 200))
		}
		require.Len(t, s.flying, n)
		const sample = 5
		return testing.AllocsPerRun(sample, func() { s.next("A summary.") })
	}
	few, all := each(8), each(24)
	t.Logf("%.1f allocations at the end of a summary among 8 agents, %.1f among 24", few, all)
	assert.LessOrEqual(t, all, 5*few)
}
