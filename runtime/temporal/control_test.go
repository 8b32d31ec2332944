package temporal_test

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// updated collects what becomes of an update.
type updated struct {
	refused, failed error
	status          *temporal.Status
	then            func()
}

func (u *updated) Accept()          {}
func (u *updated) Reject(err error) { u.refused = err; u.end() }
func (u *updated) Complete(success any, err error) {
	if status, ok := success.(temporal.Status); ok {
		u.status = &status
	}
	u.failed = err
	u.end()
}

func (u *updated) end() {
	if u.then != nil {
		u.then()
	}
}

// A pause by an update stops the debate, and it continues when a signal resumes it.
func TestPauseAndResume(t *testing.T) {
	s := newScene(t, nil)
	paused := &updated{then: func() {
		s.env.RegisterDelayedCallback(func() {
			assert.Equal(t, flow.StatePaused, s.status().State)
			assert.True(t, s.status().Idle)
			s.env.SignalWorkflow(temporal.ControlName, temporal.Control{
				Action: temporal.ActionResume, Reason: "on we go", Person: "Mia",
			})
		}, 48*time.Hour)
	}}
	given := make(chan struct{})
	gave := sync.OnceFunc(func() { close(given) })
	s.around("debate.control", func(run func() (any, error), _ any) (any, error) {
		defer gave()
		return run()
	})
	ask := sync.OnceFunc(func() {
		s.env.RegisterDelayedCallback(func() {
			s.env.UpdateWorkflow(temporal.ControlName, "pause", paused, temporal.Control{Action: temporal.ActionPause, Drain: true})
		}, 0)
	})
	before(s.script, func(id string) {
		if strings.Contains(id, "/r2.") {
			ask()
			<-given // or the debate might be over before the pause is in its log
		}
	})
	s.run(nil)
	require.NoError(t, errors.Join(paused.refused, paused.failed))
	require.NotNil(t, paused.status)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
	assert.Equal(t, 1, s.entered(flow.StatePaused))
	assert.Equal(t, "Mia", s.askedBy(flow.TriggerResume))
}

// The timer of a workflow ends the wait for a person when the time of the budget is over. A verdict that comes later is recorded, and
// completes the debate.
func TestAPersonIsAwaitedNoLongerThanTheBudget(t *testing.T) {
	s := newScene(t, func(c *debate.Config) {
		c.Budget = &debate.Budget{HardTime: time.Hour}
		c.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Zoe", Person: true}}}
	})
	s.env.RegisterDelayedCallback(func() {
		assert.Equal(t, flow.StateError, s.status().State)
		record := s.record()
		assert.Equal(t, provider.KindCostLimit, record.Failure.Kind)
		_, example, _ := strings.Cut(record.Inquiries[0].Question, "looks like this: ")
		s.env.SignalWorkflow(temporal.ControlName, temporal.Control{
			Action: temporal.ActionAnswer, Inquiry: record.Inquiries[0].ID, Text: example,
		})
	}, 2*time.Hour)
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Equal(t, 1, s.entered(flow.StateError))
}

// What an update may not ask for is refused: at once what it shows by itself, and with the log's reason what the log shows.
func TestControlsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		control temporal.Control
		late    bool // by the log
		says    string
	}{
		"no action":          {temporal.Control{}, false, "no action"},
		"an unknown one":     {temporal.Control{Action: "explode"}, false, "no action"},
		"a drained stop":     {temporal.Control{Action: temporal.ActionStop, Drain: true}, false, "only a pause"},
		"a pause with text":  {temporal.Control{Action: temporal.ActionPause, Text: "x"}, false, "only an answer"},
		"an answer to none":  {temporal.Control{Action: temporal.ActionAnswer, Text: "x"}, false, "inquiry"},
		"an answer too long": {temporal.Control{Action: temporal.ActionAnswer, Inquiry: "q", Text: strings.Repeat("x", 1<<17)}, false, "131072 bytes"},
		"a reason too long":  {temporal.Control{Action: temporal.ActionPause, Reason: strings.Repeat("x", 10_000)}, false, "10000 bytes"},
		"a name too long": {
			temporal.Control{Action: temporal.ActionAnswer, Inquiry: "q", Text: "x", Person: strings.Repeat("x", 10_000)}, false, "10000 bytes",
		},
		"a pause by a name too long": {
			temporal.Control{Action: temporal.ActionPause, Person: strings.Repeat("x", 10_000)}, false, "10000 bytes",
		},
		"a useless resume":   {temporal.Control{Action: temporal.ActionResume}, true, "resume"},
		"an unknown inquiry": {temporal.Control{Action: temporal.ActionAnswer, Inquiry: "q", Text: "x"}, true, "q"},
		"a line too many":    {temporal.Control{Action: temporal.ActionPause, Reason: "a\nb"}, true, "line"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, nil)
			given := &updated{}
			s.env.RegisterDelayedCallback(func() { s.env.UpdateWorkflow(temporal.ControlName, "u", given, c.control) }, 0)
			s.run(nil)
			err := given.refused
			if c.late {
				require.NoError(t, given.refused)
				err = given.failed
			}
			var failed *sdk.ApplicationError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "refused", failed.Type())
			assert.True(t, failed.NonRetryable())
			assert.ErrorContains(t, err, c.says)
			assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()), "nothing has changed")
		})
	}
}

// A control that a worker did not live to give is refused like any other, when another worker tries it.
func TestAControlOfAWorkerThatDied(t *testing.T) {
	for name, c := range map[string]temporal.Control{
		"an unknown inquiry": {Action: temporal.ActionAnswer, Inquiry: "q", Text: "x"},
		"a useless resume":   {Action: temporal.ActionResume},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, nil)
			died := false
			s.around("debate.control", func(run func() (any, error), _ any) (any, error) {
				if !died {
					died = true
					return nil, errors.New("the worker died before it did anything")
				}
				return run()
			})
			given := &updated{}
			s.env.RegisterDelayedCallback(func() { s.env.UpdateWorkflow(temporal.ControlName, "u", given, c) }, 0)
			s.run(nil)
			require.NoError(t, given.refused)
			var failed *sdk.ApplicationError
			require.ErrorAs(t, given.failed, &failed)
			assert.Equal(t, "refused", failed.Type())
			assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()), "nothing has changed")
		})
	}
}

// A worker dies while it gives an answer. Another one gives it, unless the log has it: the same answer of another person is not it,
// and then the error names that person.
func TestAnAnswerOfAWorkerThatDied(t *testing.T) {
	for name, c := range map[string]struct {
		first, person string // of the answer in the log, "" if there is none, and of the one that is given
		refused       bool
	}{
		"it is given":          {"", "Pat", false},
		"it was given already": {"Pat", "Pat", false},
		"another was first":    {"Mia", "Pat", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, func(c *debate.Config) { c.Unattended = false })
			stage.Befall(s.script, provider.KindAuthentication, stage.Said("Ben", 1))
			answer := flow.Answer{Option: flow.OptionModel, Model: "test/spare"}
			died := false
			s.around("debate.control", func(run func() (any, error), _ any) (any, error) {
				if died {
					return run()
				}
				died = true
				if c.first != "" {
					answer.Person = c.first
					assert.NoError(t, s.engine.Control(t.Context(), s.config.ID, answer))
				}
				return nil, errors.New("the worker died")
			})
			given := &updated{then: func() {
				if c.refused { // the workflow has not learned of the other answer
					s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(temporal.LookName, temporal.Look{}) }, 0)
				}
			}}
			s.env.RegisterDelayedCallback(func() {
				answer.Inquiry = s.record().Inquiries[0].ID
				s.env.UpdateWorkflow(temporal.ControlName, "u", given, temporal.Control{
					Action: temporal.ActionAnswer, Inquiry: answer.Inquiry, Option: answer.Option, Model: answer.Model, Person: c.person,
				})
			}, time.Hour)
			s.run(nil)
			require.NoError(t, given.refused)
			if c.refused {
				var failed *sdk.ApplicationError
				require.ErrorAs(t, given.failed, &failed)
				assert.Equal(t, "refused", failed.Type())
				assert.ErrorContains(t, given.failed, `was answered by "Mia" at `)
			} else {
				require.NoError(t, given.failed)
			}
			assert.Equal(t, flow.StateCompleted, s.result().State)
			answers := s.record().Answers
			require.Len(t, answers, 1)
			assert.Equal(t, cmp.Or(c.first, c.person), answers[0].Person)
		})
	}
}

// A workflow that is canceled cancels its debate, which accounts for the call in flight.
func TestCancellation(t *testing.T) {
	s := newScene(t, nil)
	reply := s.script.Reply
	s.script.Reply = func(r *provider.Request) scripted.Reply {
		answer := reply(r)
		if strings.Contains(r.ID, "/r2.") {
			answer.Delay = time.Hour // until the call is broken off
			s.env.CancelWorkflow()
		}
		return answer
	}
	s.run(nil)
	require.True(t, sdk.IsCanceledError(s.env.GetWorkflowError()), "%v", s.env.GetWorkflowError())
	record := s.record()
	assert.Equal(t, flow.StateCanceled, record.State)
	assert.Zero(t, record.InFlight())
	assert.Contains(t, record.Evidence, "the workflow was canceled")
}

// Somebody who answers by Engine.Control and sends a look is heard.
func TestALook(t *testing.T) {
	s := newScene(t, func(c *debate.Config) { c.Unattended = true })
	require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Pause{}))
	s.env.RegisterDelayedCallback(func() {
		assert.Equal(t, flow.StatePaused, s.status().State)
		s.env.SignalWorkflow(temporal.LookName, temporal.Look{After: time.Hour})
		require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Resume{}))
	}, time.Minute)
	s.env.RegisterDelayedCallback(func() {
		assert.Equal(t, flow.StatePaused, s.status().State, "the workflow does not know yet")
	}, 30*time.Minute)
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
}
