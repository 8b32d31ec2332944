package arbiter_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// said is the work in short: each decision and execution in the order in which it came, and how the work has ended.
func said(w *arbiter.Work) string {
	var out []string
	for _, d := range w.Decisions() {
		out = append(out, fmt.Sprintf("%s %s%v", d.Call, d.Move, d.Agents))
	}
	for _, e := range w.Executions() {
		out = append(out, fmt.Sprintf("%s %s", e.Call, e.Result))
	}
	total, row := w.Failures()
	return strings.Join(append(out, fmt.Sprintf("%d/%d failures", total, row), fmt.Sprintf("%s %s", w.State, w.Reason)), "\n")
}

func fails(what string) arbiter.Result { return arbiter.Result{Output: what} }

// down is a provider's failure of this kind.
func down(kind provider.Kind) error { return &provider.Error{Kind: kind, Message: "it is down"} }

func TestTheCourseOfWork(t *testing.T) {
	for name, test := range map[string]struct {
		answers answers
		edit    func(c *arbiter.Config)
		want    string
	}{
		"the arbiter selects until the task is complete": {
			want: "d1 select[Ada]\nd2 select[Ben]\nd4 select[Ada]\nd6 complete[]\nr1.Ada success\nr2.Ben success\nr3.Ada success\n" +
				"0/0 failures\ncompleted complete",
		},
		"continue keeps the agent": {
			answers: answers{"d2": moves(arbiter.MoveContinue), "d4": completes("Done.")},
			want:    "d1 select[Ada]\nd2 continue[]\nd4 complete[]\nr1.Ada success\nr2.Ada success\n0/0 failures\ncompleted complete",
		},
		"retry keeps the agent": {
			answers: answers{"r1.Ada": fails("no time"), "d2": moves(arbiter.MoveRetry), "d4": completes("Done.")},
			want:    "d1 select[Ada]\nd2 retry[]\nd4 complete[]\nr1.Ada failed\nr2.Ada success\n1/0 failures\ncompleted complete",
		},
		"complete comes before the limit of iterations": {
			answers: answers{"d2": completes("Done.")}, edit: func(c *arbiter.Config) { c.MaxIterations = 1 },
			want: "d1 select[Ada]\nd2 complete[]\nr1.Ada success\n0/0 failures\ncompleted complete",
		},
		"the limit of iterations comes before retry": {
			answers: answers{"r1.Ada": fails("no time"), "d2": moves(arbiter.MoveRetry)}, edit: func(c *arbiter.Config) { c.MaxIterations = 1 },
			want: "d1 select[Ada]\nd2 retry[]\nr1.Ada failed\n1/1 failures\ncompleted iterations",
		},
		"three failures in a row end the work": {
			answers: answers{"r1.Ada": fails("a"), "r2.Ben": fails("b"), "r3.Ada": fails("c")},
			want: "d1 select[Ada]\nd2 select[Ben]\nd4 select[Ada]\nr1.Ada failed\nr2.Ben failed\nr3.Ada failed\n" +
				"3/3 failures\nerror failure",
		},
		"a success begins a new row": {
			answers: answers{"r1.Ada": fails("a"), "r3.Ada": fails("c")},
			want: "d1 select[Ada]\nd2 select[Ben]\nd4 select[Ada]\nd6 complete[]\nr1.Ada failed\nr2.Ben success\nr3.Ada failed\n" +
				"2/1 failures\ncompleted complete",
		},
		"what passes is recovered from": {
			answers: answers{"r1.Ada": down(provider.KindRateLimit), "d3": completes("Done.")},
			want:    "d1 select[Ada]\nd2 select[Ben]\nd3 complete[]\nr1.Ada failed\nr2.Ben success\n1/0 failures\ncompleted complete",
		},
		"what does not pass is an error": {
			answers: answers{"r1.Ada": down(provider.KindAuthentication)},
			want:    "d1 select[Ada]\nr1.Ada failed\n1/1 failures\nerror failure",
		},
		"a failure of the arbiter counts": {
			answers: answers{"d1": down(provider.KindNetwork), "d2": down(provider.KindNetwork), "d3": down(provider.KindNetwork)},
			want:    "3/3 failures\nerror failure",
		},
		"an illegal ruling is asked for again once": {
			answers: answers{"d1": moves(arbiter.MoveRetry), "d1 again": picks("Ben"), "d2": completes("Done.")},
			want:    "d1 select[Ben]\nd2 complete[]\nr1.Ben success\n0/0 failures\ncompleted complete",
		},
		"a second illegal ruling fails": {
			answers: answers{"d1": picks("Eve"), "d1 again": picks("Eve")},
			want:    "1/1 failures\nerror failure",
		},
		"a result that is no result": {
			answers: answers{"r1.Ada": "done", "r1.Ada again": "done"},
			want:    "d1 select[Ada]\nr1.Ada failed\n1/1 failures\nerror failure",
		},
		"agents that are selected together act at once": {
			answers: answers{"d1": picks("Ben", "Ada"), "d2": completes("Done.")}, edit: func(c *arbiter.Config) { c.Parallel = 2 },
			want: "d1 select[Ben Ada]\nd2 complete[]\nr1.Ben success\nr1.Ada success\n0/0 failures\ncompleted complete",
		},
		"a partial failure keeps the rest": {
			answers: answers{"d1": picks("Ben", "Ada"), "r1.Ben": down(provider.KindAuthentication), "d2": completes("Done.")},
			edit:    func(c *arbiter.Config) { c.Parallel = 2 },
			want:    "d1 select[Ben Ada]\nd2 complete[]\nr1.Ben failed\nr1.Ada success\n1/0 failures\ncompleted complete",
		},
		"of several agents those retry that have failed": {
			answers: answers{
				"d1": picks("Ben", "Ada"), "r1.Ben": fails("no time"), "d2": moves(arbiter.MoveRetry), "d4": completes("Done."),
			},
			edit: func(c *arbiter.Config) { c.Parallel = 2 },
			want: "d1 select[Ben Ada]\nd2 retry[]\nd4 complete[]\nr1.Ben failed\nr1.Ada success\nr2.Ben success\n1/0 failures\ncompleted complete",
		},
		"a rule leaves an execution out": {
			answers: answers{"r1.Ada": down(provider.KindAuthentication), "d2": completes("Done.")},
			edit:    func(c *arbiter.Config) { c.OnFailure = []flow.FailureRule{{Do: flow.OptionSkip}} },
			want:    "d1 select[Ada]\nd2 complete[]\nr1.Ada failed\n1/1 failures\ncompleted complete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(test.answers)
			c := config()
			c.Retry, c.Patience = &flow.RetryPolicy{Base: 1}, time.Nanosecond
			if test.edit != nil {
				test.edit(&c)
			}
			w, err := play(t, engine, c)
			assert.Equal(t, test.want, said(w), err)
			assert.Equal(t, w.State == flow.StateError, err != nil)
		})
	}
}

// What an agent is told: the plan, its step, the arbiter's reason, and what has failed before.
func TestWhatAgentsAndArbiterRead(t *testing.T) {
	plan := arbiter.Result{Success: true, Output: "I have planned.", PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{
		{Index: 0, Description: "write it", Agent: "Ben"}, {Index: 1, Description: "review it"},
	}}}
	engine, p := engineFor(answers{
		"r1.Ada": plan, "r2.Ben": fails("the disk is full"), "d4": moves(arbiter.MoveRetry), "d6": completes("Done."),
	})
	p.Record = true
	w := worked(t, engine, config())
	got := map[string]string{}
	for _, req := range p.Requests() {
		got[callOf(&req)] = req.System + "\n----\n" + req.Last.Text
	}
	for call, want := range map[string][]string{
		"d1":     {"You are the arbiter", "Write a function.", "- Ada: plans", "There is no plan yet.", "Nobody has acted yet.", "- select:"},
		"r1.Ada": {"You are Ada", "Your assignment:", "assignment of the arbiter>>>\nit is their part", `"output": the work itself`},
		"d2":     {"0. [pending] write it (Ben)", "1. Ada: reports success: I have planned.", "- continue:", "- complete:"},
		"r2.Ben": {"You work on step 0."},
		"d4":     {"0. [failed] write it (Ben)", "Why Ben has failed", "the disk is full", "- retry:"},
		"r3.Ben": {"Your last execution has failed.", "the disk is full", "You work on step 0."},
		"d6":     {"0. [complete] write it (Ben)", "The current step is 1 (counted from 0)."},
	} {
		for _, part := range want {
			assert.Contains(t, got[call], part, call)
		}
	}
	assert.NotContains(t, got["d1"], "- retry:")
	assert.Equal(t, &arbiter.Plan{CurrentStepIndex: 1, Steps: []arbiter.Step{
		{Index: 0, Description: "write it", Status: arbiter.Complete, Agent: "Ben", AgentsUsed: []string{"Ben"}},
		{Index: 1, Description: "review it", Status: arbiter.Pending},
	}}, w.Plan())
}

// Who decides may be a function in Go.
func TestAFunctionDecides(t *testing.T) {
	engine, p := engineFor(answers{"r1.Ada": fails("no time")})
	c := config()
	c.Arbiter = arbiter.Arbiter{Function: "turns"}
	p.Reply = answers{"r1.Ada": fails("no time")}.reply
	engine.Functions = map[string]flow.Function{"turns": arbiter.RoundRobin(2)}
	w := worked(t, engine, c)
	assert.Equal(t, "d1 select[Ada]\nd2 retry[]\nd4 select[Ben]\nd6 select[Ada]\nd8 select[Ben]\nd10 complete[]\n"+
		"r1.Ada failed\nr2.Ada success\nr3.Ben success\nr4.Ada success\nr5.Ben success\n1/0 failures\ncompleted complete", said(w))
}

// Who decides may be a person, in any process.
func TestAPersonDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := engineFor(nil)
		c := config()
		c.Arbiter, c.Unattended = arbiter.Arbiter{Person: true}, false
		session := stage.Started(t, engine, c)
		for _, ruling := range []arbiter.Ruling{moves(arbiter.MoveRetry), picks("Ben"), completes("Done.")} {
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			assert.Equal(t, arbiter.KindDecision, q.Kind)
			assert.Contains(t, q.Question, "Legal now:")
			err := session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: toJSON(ruling)})
			assert.Equal(t, ruling.Move == arbiter.MoveRetry, err != nil, "%v", err) // what is not legal is refused at once
		}
		record := stage.Ended(t, session)
		w, _ := arbiter.Of(record)
		assert.Equal(t, "d1 select[Ben]\nd2 complete[]\nr1.Ben success\n0/0 failures\ncompleted complete", said(w))
	})
}

// A person who decides too late is replaced for one decision by a model, which reads what models read, and comes back. Where the term says
// so, the work fails, and a retry asks the person again.
func TestAPersonWhoDecidesTooLate(t *testing.T) {
	const words = "Prefer short plans."
	late := func(term flow.Term) *stage.Stepper {
		engine, _ := engineFor(nil)
		c := config()
		term.Within = flow.Duration(10 * time.Minute)
		c.Arbiter = arbiter.Arbiter{Person: true, Prompt: words, Term: term}
		s := stage.BegunBy(t, engine, c)
		q, open := s.Record().Question("d1")
		require.True(t, open)
		require.Equal(t, s.At.Add(10*time.Minute), q.Until)
		s.At = q.Until
		s.Feed(flow.Tick{})
		return s
	}
	s := late(flow.Term{StandIn: "test/m"})
	require.Equal(t, []flow.Lost{{Call: "d1", Attempt: 2}}, s.InFlight())
	command, err := s.Command("d1")
	require.NoError(t, err)
	assert.Equal(t, "m", command.Request.Model)
	assert.Contains(t, command.Request.System, words)
	assert.NotContains(t, command.Request.Last.Text, words)
	assert.NotContains(t, command.Request.Last.Text, "Why your last decision has failed")
	_, err = s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: "d1", Text: toJSON(picks("Ben"))}})
	require.Error(t, err, "a model decides already")
	s.Feed(flow.Result{Call: "d1", Attempt: 2, Text: toJSON(picks("Ada")), Usage: stage.LittleUsage})
	s.Feed(flow.Result{Call: "r1.Ada", Attempt: 1, Text: toJSON(arbiter.Result{Success: true, Output: "Done."}), Usage: stage.LittleUsage})
	_, open := s.Record().Question("d2")
	require.True(t, open, "the person is asked again")
	s.Feed(flow.Answer{Inquiry: "d2", Text: toJSON(completes("Done."))})
	assert.Equal(t, flow.StateCompleted, s.Record().State)
	w := workOf(t, s.Record())
	var models []string
	for _, d := range w.Decisions() {
		models = append(models, d.Model)
	}
	assert.Equal(t, []string{"test/m", ""}, models)
	failures, _ := w.Failures()
	assert.Zero(t, failures, "who is not there has not decided badly")

	s = late(flow.Term{Overdue: flow.OptionFail})
	require.Equal(t, flow.StateError, s.Record().State)
	assert.Equal(t, provider.KindTimeout, s.Record().Failure.Kind)
	s.Feed(flow.Retry{})
	_, open = s.Record().Question("d1")
	assert.True(t, open)
}

// What agents write does not make the arbiter's instruction so long that it fits no window: the work could not go on.
func TestTheInstructionIsBounded(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	engine, _ := engineFor(nil)
	engine.Models = map[string]debate.Model{"test/m": {Window: 128_000, MaxOutput: 16_384}}
	c := config()
	c.Agents, c.MaxTokens = nil, 16_384
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("A", i))
		c.Agents = append(c.Agents, arbiter.Agent{Name: names[i], Model: "test/m"})
	}
	c.Parallel, c.MaxIterations = len(names), 200
	h := flowtest.Begin(t, engine, c)
	h.Say("d1", toJSON(picks(names...)))
	steps := slices.Repeat([]string{strings.Repeat("漢 ", 499)}, 2)
	for _, name := range names {
		result := planned(steps...)
		result.Output = strings.Repeat("word ", 3200)
		h.Say("r1."+name, toJSON(result))
	}
	require.Len(t, workOf(t, h.Record()).Plan().Steps, 200)
	assert.Less(t, len(h.Prompt("d2")), 128<<10)
	h.Say("d2", toJSON(picks("A7")))
	assert.Less(t, len(h.Prompt("r2.A7")), 64<<10)
	assert.Contains(t, h.Prompt("r2.A7"), steps[0], "an agent reads its own step whole")
}

// A cap as large as there can be caps nothing.
func TestTheLargestCapAcceptsResults(t *testing.T) {
	h := byHand(t, func(c *arbiter.Config) { c.MaxTokens = 1 << 60 })
	h.Say("d1", toJSON(picks("Ada")))
	h.Say("r1.Ada", toJSON(arbiter.Result{Success: true, Output: "Done."}))
	assert.Equal(t, arbiter.StateEvaluating, h.Record().State)
}

// A log in which nothing could follow is refused, and does not wait for ever.
func TestALogThatLeadsNowhereIsRefused(t *testing.T) {
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config())
	h.Say("d1", toJSON(picks("Ada")))
	for name, change := range map[string]func(line string) string{
		`"jump" is no move`: func(line string) string { return strings.ReplaceAll(line, `"move":"select"`, `"move":"jump"`) },
		"round: begins in state selecting": func(line string) string {
			if strings.Contains(line, `"to":"executing"`) {
				return ""
			}
			return line
		},
	} {
		var events []flow.Event
		for i := range h.Log {
			if line := change(toJSON(h.Log[i])); line != "" {
				var e flow.Event
				require.NoError(t, json.Unmarshal([]byte(line), &e))
				e.Seq = int64(len(events) + 1)
				events = append(events, e)
			}
		}
		_, err := kernel.Of(t, engine).NewCore("test", events)
		require.ErrorContains(t, err, name)
	}
}
