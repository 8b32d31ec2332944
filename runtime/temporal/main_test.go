package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// scene is a stored debate, a worker's engine, and the environment in which its workflow runs.
type scene struct {
	t      *testing.T
	config debate.Config
	store  *store.Memory
	engine *debate.Engine
	script *scripted.Provider
	env    *testsuite.TestWorkflowEnvironment
}

func newScene(t *testing.T, change func(*debate.Config)) *scene {
	t.Helper()
	config := stage.TwoDebaters()
	config.ID = "d"
	if change != nil {
		change(&config)
	}
	s := &scene{t: t, config: config, store: &store.Memory{}}
	s.engine, s.script = s.newEngine()
	_, err := s.engine.Submit(t.Context(), config)
	require.NoError(t, err)
	s.renew()
	return s
}

// newEngine is the engine of one more process.
func (s *scene) newEngine() (*debate.Engine, *scripted.Provider) {
	engine, script := stage.Engine(s.config)
	engine.Store, engine.Lease = s.store, time.Minute
	engine.Seed = func() string { return "seed" }
	return engine, script
}

// renew makes the environment of another run.
func (s *scene) renew() {
	s.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	s.env = suite.NewTestWorkflowEnvironment()
	s.env.SetTestTimeout(time.Hour) // by the clock of the machine
	s.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: s.config.ID})
	require.NoError(s.t, temporal.Register(s.env, s.engine))
}

// run runs the workflow to its end. more is what the run before has left; nil: it is the first.
func (s *scene) run(more any) {
	s.t.Helper()
	if more == nil {
		more = map[string]any{"id": s.config.ID}
	}
	s.env.ExecuteWorkflow(temporal.WorkflowName, more)
	require.True(s.t, s.env.IsWorkflowCompleted())
}

// result returns the status with which the workflow ended.
func (s *scene) result() (status temporal.Status) {
	s.t.Helper()
	require.NoError(s.t, s.env.GetWorkflowError())
	require.NoError(s.t, s.env.GetWorkflowResult(&status))
	return status
}

func (s *scene) status() (status temporal.Status) {
	s.t.Helper()
	value, err := s.env.QueryWorkflow(temporal.StatusName)
	require.NoError(s.t, err)
	require.NoError(s.t, value.Get(&status))
	return status
}

func (s *scene) record() *debate.Record {
	s.t.Helper()
	record, err := s.engine.Record(s.t.Context(), s.config.ID)
	require.NoError(s.t, err)
	return record
}

// undisturbed is what a session makes of the same debate.
func (s *scene) undisturbed() string {
	s.t.Helper()
	engine, _ := s.newEngine()
	engine.Store = &store.Memory{}
	session, err := engine.Start(s.t.Context(), s.config)
	require.NoError(s.t, err)
	defer session.Close()
	record, err := session.Wait(s.t.Context())
	require.NoError(s.t, err)
	return stage.Canonical(s.t, record)
}

// before makes every reply wait for a function, which gets the request's id and how often it was asked.
func before(script *scripted.Provider, do func(id string)) {
	reply := script.Reply
	script.Reply = func(r *provider.Request) scripted.Reply {
		do(r.ID)
		return reply(r)
	}
}

// losses counts the attempts whose outcome nobody knows.
func (s *scene) losses() (lost int) {
	s.t.Helper()
	for event, err := range s.store.Read(s.t.Context(), s.config.ID, 0) {
		require.NoError(s.t, err)
		if failure, ok := event.Body.(*flow.Failure); ok && failure.Void {
			lost++
		}
	}
	return lost
}

// entered counts how often the debate came to a state.
func (s *scene) entered(state flow.State) (n int) {
	s.t.Helper()
	for event, err := range s.store.Read(s.t.Context(), s.config.ID, 0) {
		require.NoError(s.t, err)
		if change, ok := event.Body.(*flow.Transition); ok && change.To == state {
			n++
		}
	}
	return n
}

// askedBy returns who has asked for the control that fired a trigger last.
func (s *scene) askedBy(on flow.Trigger) (person string) {
	s.t.Helper()
	for event, err := range s.store.Read(s.t.Context(), s.config.ID, 0) {
		require.NoError(s.t, err)
		if change, ok := event.Body.(*flow.Transition); ok && change.On == on {
			person = change.Person
		}
	}
	return person
}

// quiet is a logger of Temporal's that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
