package temporal_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// The call of a worker that falls silent is lost, charged and made again. The one after it is not touched.
func TestAWorkerThatFallsSilent(t *testing.T) {
	s := newScene(t, nil)
	var n atomic.Int64
	s.around("debate.call", func(run func() (any, error), _ any) (any, error) {
		if i := n.Add(1); i == 2 || i == 3 {
			return nil, sdk.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
		}
		return run()
	})
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Equal(t, 2, s.losses())
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// A worker that dies between the append and its answer to the server has lost nothing, and nothing is asked again.
func TestAWorkerThatDiesAfterTheAppend(t *testing.T) {
	s := newScene(t, nil)
	var asked sync.Map
	before(s.script, func(id string) {
		_, twice := asked.LoadOrStore(id, true)
		assert.False(t, twice, id)
	})
	var n atomic.Int64
	s.around("debate.call", func(run func() (any, error), _ any) (any, error) {
		done, err := run()
		if n.Add(1)%2 == 0 {
			return nil, sdk.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
		}
		return done, err
	})
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Zero(t, s.losses())
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// around lets a function stand around an activity.
func (s *scene) around(name string, do func(run func() (any, error), in any) (any, error)) {
	s.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&around{name: name, do: do}}})
}

type around struct {
	interceptor.WorkerInterceptorBase
	interceptor.ActivityInboundInterceptorBase

	name string
	do   func(run func() (any, error), in any) (any, error)
}

func (a *around) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &around{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, name: a.name, do: a.do}
}

func (a *around) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	run := func() (any, error) { return a.Next.ExecuteActivity(ctx, in) }
	if a.name != "" && activity.GetInfo(ctx).ActivityType.Name != a.name {
		return run()
	}
	return a.do(run, in.Args[0])
}

// onlyActivities is a worker that runs no workflows.
type onlyActivities struct {
	worker.Registry

	env *testsuite.TestActivityEnvironment
}

func (onlyActivities) RegisterWorkflowWithOptions(any, workflow.RegisterOptions) {}

func (o onlyActivities) RegisterActivityWithOptions(a any, options activity.RegisterOptions) {
	o.env.RegisterActivityWithOptions(a, options)
}

// A worker without the provider of a debate says so. It charges nothing, and another worker continues.
func TestAWorkerThatLacksSomething(t *testing.T) {
	s := newScene(t, nil)
	poor, _ := s.newEngine()
	poor.Providers = nil
	var n atomic.Int64
	name := ""
	s.around("", func(run func() (any, error), in any) (any, error) {
		if n.Add(1)%2 == 0 {
			return run()
		}
		if name = "debate.call"; n.Load() == 1 {
			name = "debate.advance"
		}
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestActivityEnvironment()
		assert.NoError(t, temporal.Register(onlyActivities{env: env}, poor))
		_, err := env.ExecuteActivity(name, in)
		assert.ErrorContains(t, err, `no provider "test"`)
		var failed *sdk.ApplicationError
		assert.ErrorAs(t, err, &failed)
		return nil, failed
	})
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.Zero(t, s.losses())
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// A call that no worker can make is offered to others at once some times, and then less and less often. A debate that is canceled
// meanwhile ends, and nothing is charged for the call.
func TestACallThatNoWorkerCanMake(t *testing.T) {
	s := newScene(t, nil)
	began := s.env.Now()
	var offered []time.Duration
	s.around("debate.call", func(func() (any, error), any) (any, error) {
		offered = append(offered, s.env.Now().Sub(began))
		return nil, sdk.NewNonRetryableApplicationError("no provider", "unmade", nil)
	})
	s.env.RegisterDelayedCallback(func() {
		s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: temporal.ActionCancel})
	}, 5*time.Minute)
	s.run(nil)
	assert.Equal(t, flow.StateCanceled, s.result().State)
	assert.Zero(t, s.record().InFlight())
	assert.Zero(t, s.record().Spent().Cost)
	require.Greater(t, len(offered), 10)
	assert.Less(t, len(offered), 40)
	assert.Less(t, offered[7], 10*time.Second, "no timer was waited for")
	assert.Greater(t, offered[len(offered)-1], time.Minute)
}

// A worker of an older release leaves what it does not know to other workers.
func TestAnOccasionOfANewerRelease(t *testing.T) {
	s := newScene(t, nil)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	require.NoError(t, temporal.Register(onlyActivities{env: env}, s.engine))
	_, err := env.ExecuteActivity("debate.advance", map[string]any{"id": s.config.ID, "owner": "o", "on": "dawn"})
	require.ErrorContains(t, err, `the occasion "dawn"`)
	var failed *sdk.ApplicationError
	require.ErrorAs(t, err, &failed)
	assert.False(t, failed.NonRetryable())
}

// A control that comes before a new run knows the log is given, though the worker that had it died, and the log has an older one like it.
func TestAControlLikeAnOlderOne(t *testing.T) {
	s := newScene(t, nil)
	for _, signal := range []flow.Signal{flow.Pause{}, flow.Resume{}, flow.Pause{}} {
		require.NoError(t, s.engine.Control(t.Context(), s.config.ID, signal))
	}
	dying := func(name string) interceptor.WorkerInterceptor {
		died := false
		return &around{name: name, do: func(run func() (any, error), _ any) (any, error) {
			if !died {
				died = true
				return nil, errors.New("the worker died before it did anything")
			}
			return run()
		}}
	}
	s.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{dying("debate.advance"), dying("debate.control")}})
	for action, at := range map[temporal.Action]time.Duration{temporal.ActionResume: 0, temporal.ActionCancel: time.Hour} {
		s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(temporal.ControlName, temporal.Control{Action: action}) }, at)
	}
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
}

func TestAnEngineWithoutAStore(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	err := temporal.Register(onlyActivities{env: suite.NewTestActivityEnvironment()}, &debate.Engine{})
	var failed *flow.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, provider.KindValidation, failed.Kind)
	assert.Equal(t, "store", failed.Field)
}

// The workflow of a debate that does not exist fails, and says why.
func TestADebateThatDoesNotExist(t *testing.T) {
	s := newScene(t, nil)
	s.run(map[string]any{"id": "nobody"})
	var failed *sdk.ApplicationError
	require.ErrorAs(t, s.env.GetWorkflowError(), &failed)
	assert.Equal(t, "missing", failed.Type())
	assert.ErrorContains(t, failed, `no such conversation: "nobody"`)
}

// While a session has the debate, the workflow waits. What the session leaves in flight when its process dies is lost.
func TestADebateThatAnotherProcessHolds(t *testing.T) {
	s := newScene(t, nil)
	other, script := s.newEngine()
	script.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "never", Delay: time.Hour} }
	_, err := other.Open(t.Context(), s.config.ID)
	require.NoError(t, err)
	require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Pause{Drain: true, Reason: "seen by both"}))
	require.NoError(t, s.engine.Control(t.Context(), s.config.ID, flow.Resume{}))
	var refused atomic.Int64
	s.around("debate.advance", func(run func() (any, error), _ any) (any, error) {
		out, err := run()
		if err != nil && refused.Add(1) == 3 {
			assert.ErrorContains(t, err, "another owner holds")
			require.NoError(t, s.store.Release(t.Context(), s.config.ID, owner(t, s)))
		}
		return out, err
	})
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.GreaterOrEqual(t, refused.Load(), int64(3))
	assert.Equal(t, 1, s.losses())
	assert.Equal(t, s.undisturbed(), stage.Canonical(t, s.record()))
}

// owner is whoever has the lease of the debate.
func owner(t *testing.T, s *scene) string {
	t.Helper()
	for info, err := range s.store.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		if info.ID == s.config.ID {
			return info.Owner
		}
	}
	return ""
}

// Retries wait in the workflow, whose clock is not that of the workers.
func TestRetriesWait(t *testing.T) {
	s := newScene(t, func(c *debate.Config) { c.Patience = time.Hour })
	var once sync.Map
	reply := s.script.Reply
	s.script.Reply = func(r *provider.Request) scripted.Reply {
		answer := reply(r)
		if _, again := once.LoadOrStore("x", true); !again && strings.Contains(r.ID, "/r1.") {
			answer.Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: 20 * time.Minute, Message: "later"}
		}
		return answer
	}
	start := s.env.Now()
	s.run(nil)
	assert.Equal(t, flow.StateCompleted, s.result().State)
	assert.GreaterOrEqual(t, s.env.Now().Sub(start), 20*time.Minute)
	assert.Zero(t, s.losses())
}

// telling is a store whose error tells what nobody should know.
type telling struct{ *store.Memory }

func (telling) Describe(context.Context, string) (store.Info, error) {
	return store.Info{}, errors.New("dial postgres://debates:hunter2-hunter2@db.example/debates: refused")
}

// A history keeps no secret that the error of a store tells, neither in the error nor in its causes.
func TestErrorsWithoutSecrets(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Store = telling{&store.Memory{}}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	require.NoError(t, temporal.Register(onlyActivities{env: env}, engine))
	_, err := env.ExecuteActivity("debate.advance", map[string]any{"id": "d", "owner": "o", "on": "look"})
	require.ErrorContains(t, err, "db.example")
	assert.NotContains(t, sdk.GetDefaultFailureConverter().ErrorToFailure(err).String(), "hunter2", "causes are kept too")
}
