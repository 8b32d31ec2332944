package arbiter_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// slow answers after an hour.
func slow(v any) func(*provider.Request) scripted.Reply {
	return func(*provider.Request) scripted.Reply { return scripted.Reply{Text: toJSON(v), Delay: time.Hour} }
}

// planned is a result with a plan of these steps.
func planned(steps ...string) arbiter.Result {
	update := &arbiter.PlanUpdate{}
	for i, step := range steps {
		update.Steps = append(update.Steps, arbiter.StepUpdate{Index: i, Description: step})
	}
	return arbiter.Result{Success: true, Output: "I have planned.", PlanUpdates: update}
}

// open starts work in which attempts take an hour and may be long.
func open(t *testing.T, a answers, edit func(*arbiter.Config)) *debate.Session {
	t.Helper()
	engine, _ := engineFor(a)
	c := config()
	c.TurnTimeout, c.Unattended = 2*time.Hour, false
	c.Retry, c.Patience = &flow.RetryPolicy{Base: 1}, time.Nanosecond
	if edit != nil {
		edit(&c)
	}
	session := stage.Started(t, engine, c)
	return session
}

func send(t *testing.T, s *debate.Session, on flow.Trigger, payload any) error {
	t.Helper()
	return s.Send(t.Context(), on, json.RawMessage(toJSON(payload)))
}

func at(t *testing.T, s *debate.Session) *arbiter.Work {
	t.Helper()
	record := stage.SessionRecord(t, s)
	w, ok := arbiter.Of(record)
	require.True(t, ok)
	return w
}

// later lets half an hour pass: what was asked is not answered, and all else has happened.
func later() {
	<-time.After(time.Hour / 2)
	synctest.Wait()
}

func TestAForcedAgentActsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"d1": slow(picks("Ada")), "r1.Ben": slow(arbiter.Result{Success: true, Output: "Done."}), "d2": completes("Done.")}, nil)
		later()
		require.Equal(t, arbiter.StateSelecting, at(t, s).State)
		require.ErrorContains(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Eve"}), `no agent "Eve" is known: there are `)
		require.ErrorContains(t, send(t, s, arbiter.TriggerSkipStep, nil), "hasSteps")
		require.NoError(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Ben"}))
		synctest.Wait()
		w := at(t, s)
		require.Equal(t, arbiter.StateExecuting, w.State)
		assert.Equal(t, "Ben", w.Current()[0].Name)
		require.ErrorContains(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Ada"}), "not possible in state executing")
		record := stage.Ended(t, s)
		w, _ = arbiter.Of(record)
		assert.Equal(t, "d2 complete[]\nr1.Ben success\n0/0 failures\ncompleted complete", said(w)) // d1 came too late
		assert.True(t, w.Executions()[0].Forced)
	})
}

func TestStepsAreSkippedAndRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"r1.Ada": planned("think", "write", "test"), "d2": slow(picks("Ada")), "d3": slow(picks("Ben")), "d5": completes("Done.")}, nil)
		later()
		require.Equal(t, arbiter.StateEvaluating, at(t, s).State)
		two := 2
		require.NoError(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{Step: &two}))
		require.NoError(t, s.Pause(t.Context()))
		synctest.Wait() // the decision is broken off
		require.NoError(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{}))
		require.ErrorContains(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{Step: &two}), "step 2 is skipped; left are: 1")
		require.ErrorContains(t, send(t, s, arbiter.TriggerRerunStep, arbiter.RerunStep{Step: 3}), "the plan has no step 3: it has 3, counted from 0")
		require.Error(t, send(t, s, arbiter.TriggerRerunStep, "step two"))
		require.Equal(t, 1, at(t, s).Plan().CurrentStepIndex)
		require.NoError(t, send(t, s, arbiter.TriggerRerunStep, arbiter.RerunStep{Step: 0}))
		assert.Equal(t, arbiter.Pending, at(t, s).Plan().Steps[0].Status)
		require.NoError(t, s.Resume(t.Context()))
		record := stage.Ended(t, s)
		w, _ := arbiter.Of(record)
		assert.Equal(t, 0, w.Executions()[1].Step)
		assert.Equal(t, &arbiter.Plan{CurrentStepIndex: 1, Steps: []arbiter.Step{
			{Index: 0, Description: "think", Status: arbiter.Complete, AgentsUsed: []string{"Ben"}},
			{Index: 1, Description: "write", Status: arbiter.Pending},
			{Index: 2, Description: "test", Status: arbiter.Skipped},
		}}, w.Plan())
		assert.Len(t, w.Inputs, 3)
	})
}

// A decision that was asked for before the plan was changed does not count: the arbiter is asked anew.
func TestADecisionOfAnOlderPlanDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"r1.Ada": planned("think"), "d2": slow(completes("Too early.")), "d3": picks("Ben"), "d5": completes("Done.")}, nil)
		later()
		require.NoError(t, send(t, s, arbiter.TriggerRerunStep, arbiter.RerunStep{Step: 0}))
		record := stage.Ended(t, s)
		w, _ := arbiter.Of(record)
		assert.Equal(t, "d1 select[Ada]\nd3 select[Ben]\nd5 complete[]\nr1.Ada success\nr2.Ben success\n0/0 failures\ncompleted complete", said(w))
	})
}

// Nor does one that was made while the work was paused, before the plan was changed.
func TestADecisionThatWasMadeDuringAPauseDoesNotCountForAnotherPlan(t *testing.T) {
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config())
	h.Say("d1", toJSON(picks("Ada")))
	h.Say("r1.Ada", toJSON(planned("think")))
	h.Do(flow.Pause{Drain: true})
	h.Say("d2", toJSON(completes("Too early.")))
	h.Do(flow.Sent{Trigger: arbiter.TriggerRerunStep, Payload: json.RawMessage(`{"step":0}`)})
	h.Do(flow.Resume{})
	h.Say("d3", toJSON(picks("Ben")))
	h.Say("r2.Ben", toJSON(arbiter.Result{Success: true, Output: "Done."}))
	h.Say("d5", toJSON(completes("Done.")))
	w, _ := arbiter.Of(h.Reload())
	assert.Equal(t, "d1 select[Ada]\nd3 select[Ben]\nd5 complete[]\nr1.Ada success\nr2.Ben success\n0/0 failures\ncompleted complete", said(w))
}

// A plan that is reported during a pause is there: its steps can be skipped before the work is resumed.
func TestAStepOfAPlanThatWasReportedDuringAPauseIsSkipped(t *testing.T) {
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config())
	h.Say("d1", toJSON(picks("Ada")))
	h.Do(flow.Pause{Drain: true})
	h.Say("r1.Ada", toJSON(planned("think", "write")))
	h.Do(flow.Sent{Trigger: arbiter.TriggerSkipStep, Payload: json.RawMessage(`{"step":1}`)})
	h.Do(flow.Resume{})
	h.Say("d2", toJSON(picks("Ben")))
	h.Say("r2.Ben", toJSON(arbiter.Result{Success: true, Output: "Done."}))
	h.Say("d4", toJSON(completes("Done.")))
	w, _ := arbiter.Of(h.Reload())
	assert.Equal(t, flow.StateCompleted, w.State)
	assert.Equal(t, arbiter.Skipped, w.Plan().Steps[1].Status)
	assert.Equal(t, arbiter.Complete, w.Plan().Steps[0].Status)
	assert.Len(t, w.Inputs, 1)
}

// A retry does not do a step that was skipped since.
func TestARetryLeavesOutASkippedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{
			"r1.Ada": planned("think", "write"), "d2": picks("Ben"), "r2.Ben": fails("no"), "d4": slow(moves(arbiter.MoveRetry)),
			"d5": moves(arbiter.MoveRetry), "d7": completes("Done."),
		}, nil)
		later()
		require.NoError(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{}))
		record := stage.Ended(t, s)
		w, _ := arbiter.Of(record)
		assert.Equal(t, arbiter.Skipped, w.Plan().Steps[0].Status)
		assert.Equal(t, 1, w.Executions()[2].Step)
	})
}

// Without an iteration left no agent can be forced, and the arbiter's word counts.
func TestNobodyIsForcedWithoutAnIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"d2": slow(completes("Done."))}, func(c *arbiter.Config) { c.MaxIterations = 1 })
		later()
		require.ErrorContains(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Ben"}), "no iteration is left")
		record := stage.Ended(t, s)
		assert.Equal(t, arbiter.EndComplete, record.Reason)
	})
}

// What ended executions have reported counts also where the work is ended in the middle of an execution.
func TestWhatWasReportedCountsAtAnyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"d1": picks("Ada", "Ben"), "r1.Ada": planned("think"), "r1.Ben": slow(fails("late"))},
			func(c *arbiter.Config) { c.Parallel = 2 })
		later()
		require.Equal(t, arbiter.StateExecuting, at(t, s).State)
		require.Nil(t, at(t, s).Plan())
		require.NoError(t, s.Stop(t.Context()))
		synctest.Wait()
		require.NotNil(t, at(t, s).Plan())
		assert.Equal(t, "think", at(t, s).Plan().Steps[0].Description)
	})
}

// An amendment keeps to what the config allows, counted in executions.
func TestAmendmentsOfIterations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"d1": picks("Ada", "Ben"), "d2": slow(completes("Done."))}, func(c *arbiter.Config) { c.Parallel = 2 })
		later()
		for _, rounds := range []int{1, 1001} {
			require.ErrorContains(t, s.Control(t.Context(), flow.Amendment{Rounds: &rounds}), "2 to 1000 iterations are possible")
		}
		rounds := 2
		require.NoError(t, s.Control(t.Context(), flow.Amendment{Rounds: &rounds}))
	})
}

// decidedByPat starts work whose arbiter is a person. Ada was selected and has planned two steps, and the next decision is asked
// for.
func decidedByPat(t *testing.T) *debate.Session {
	t.Helper()
	s := open(t, answers{"r1.Ada": planned("think", "write")}, func(c *arbiter.Config) { c.Arbiter = arbiter.Arbiter{Person: true} })
	asked(t, s, "d1")
	require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: "d1", Text: toJSON(picks("Ada"))}))
	asked(t, s, "d2")
	return s
}

// asked waits until nothing but one question is open.
func asked(t *testing.T, s *debate.Session, call string) {
	t.Helper()
	stage.AwaitsInput(t, s)
	inquiries := at(t, s).Inquiries
	require.Len(t, inquiries, 1)
	require.Equal(t, call, inquiries[0].ID)
}

// An agent that is forced while a person is asked to decide acts at once: the person need not answer. Nor may they.
func TestAForcedAgentNeedsNoPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := decidedByPat(t)
		require.NoError(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Ben"}))
		asked(t, s, "d4")
		require.ErrorContains(t, s.Answer(t.Context(), flow.Answer{Inquiry: "d2", Text: toJSON(completes("Too late."))}), "no inquiry")
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: "d4", Text: toJSON(completes("Done."))}))
		record := stage.Ended(t, s)
		w, _ := arbiter.Of(record)
		assert.Equal(t, "d1 select[Ada]\nd4 complete[]\nr1.Ada success\nr2.Ben success\n0/0 failures\ncompleted complete", said(w))
	})
}

// A person who was asked before the plan changed is asked anew, with the plan as it is.
func TestASkippedStepAsksThePersonAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := decidedByPat(t)
		require.NoError(t, send(t, s, arbiter.TriggerSkipStep, arbiter.SkipStep{}))
		asked(t, s, "d3")
		assert.Contains(t, at(t, s).Inquiries[0].Question, "skipped")
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: "d3", Text: toJSON(completes("Done."))}))
		stage.Ended(t, s)
	})
}

// An agent that is forced while somebody is asked about a failed decision acts, and the question is closed.
func TestAForcedAgentClosesTheQuestionAboutAFailedDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, answers{"d2": &provider.Error{Kind: provider.KindAuthentication}, "d4": completes("Done.")}, nil)
		stage.AwaitsInput(t, s)
		require.NoError(t, send(t, s, arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Ben"}))
		record := stage.Ended(t, s)
		assert.Empty(t, record.Inquiries)
		w, _ := arbiter.Of(record)
		assert.Equal(t, "d1 select[Ada]\nd4 complete[]\nr1.Ada success\nr2.Ben success\n1/0 failures\ncompleted complete", said(w))
	})
}
