package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// stranger is a body of a kind that no flow here lists.
type stranger struct{ flow.Spend }

func (*stranger) EventKind() flow.EventKind { return "stranger" }

// What AnswerOf.Body returns is checked when it is made, so that the log can always be read again.
func TestABodyThatNoLogCouldHoldFailsItsCall(t *testing.T) {
	for name, c := range map[string]struct {
		body func(in *flow.Intent, spend flow.Spend) flow.Body
		says string
	}{
		"of a kind that is not listed": {func(_ *flow.Intent, s flow.Spend) flow.Body { return &stranger{s} }, `kind "stranger", which Flow.Bodies lacks`},
		"without its spend":            {func(in *flow.Intent, _ flow.Spend) flow.Body { return &opinion{By: in.By} }, "lacks the Spend"},
		"none":                         {func(*flow.Intent, flow.Spend) flow.Body { return nil }, "has returned <nil>"},
		"a nil pointer":                {func(*flow.Intent, flow.Spend) flow.Body { return (*opinion)(nil) }, "not a pointer to a body"},
		"of the kernel":                {func(_ *flow.Intent, s flow.Spend) flow.Body { return &flow.Charge{Spend: s} }, `kind "spend"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := surveyFlow(t)
			f.Schemas["mark"] = flow.AnswerSchema[grade]("mark", flow.AnswerOf[grade]{
				Body: func(_ *debate.Record, in *flow.Intent, spend flow.Spend, _ *grade) flow.Body {
					return c.body(in, spend)
				},
			})
			source := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: `{"mark":3}`} }}
			engine := &debate.Engine{Providers: map[string]debate.Provider{"test": source}, Flows: map[string]*debate.Flow{"survey": f}}
			session := stage.Started(t, engine, &survey{Topic: "Tea", People: []string{"Ada"}, Model: "test/m"})
			record, err := session.Wait(t.Context())
			failure := stage.Question(t, record, err).Failure
			assert.Equal(t, provider.KindValidation, failure.Kind)
			assert.ErrorContains(t, failure, "flow survey, schema mark: ")
			assert.ErrorContains(t, failure, c.says)
			assert.Equal(t, 1, source.Calls(), "it is not asked again for what the flow has done")
			record, err = engine.Record(t.Context(), session.ID())
			require.NoError(t, err, "the log can be read")
			assert.Equal(t, flow.StateAwaitingInput, record.State)
			assert.Equal(t, 1, record.Spent().Requests)
		})
	}
}

// refusing is a projection that refuses every turn.
type refusing struct{}

func (refusing) Fold(e *debate.Event) error {
	if e.Kind() == flow.EventTurn {
		return errors.New("no turn is welcome")
	}
	return nil
}

// A projection that refuses an event of its own flow would leave a record that the log does not have.
func TestAProjectionThatRefusesItsOwnEventEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := stage.OneState(func(r *debate.Record) []*flow.Call {
			if r.Done("say") {
				return nil
			}
			return []*flow.Call{{ID: "say", Kind: "word", By: "Ada", Model: "test/debater"}}
		})
		f.Open = func(*debate.Record, *flow.Start) (flow.Projection, error) { return refusing{}, nil }
		engine, _, config := stage.WithFlow(f)
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		_, err := session.Wait(t.Context())
		require.ErrorContains(t, err, "no turn is welcome")
		record := stage.StoredRecord(t, engine, session.ID())
		assert.Empty(t, record.Turns, "it was not saved")
	})
}

// A drop that the flow does not act on is chosen once.
func TestADropThatTheFlowDoesNotActOn(t *testing.T) {
	calls := func(r *debate.Record) []*flow.Call {
		if r.Done("last") {
			return nil
		}
		return []*flow.Call{{ID: "last", Kind: "word", By: "Cato", Model: stage.ModelOf(r, "Ada"), OnFail: flow.OnFail{Drop: flow.RuleToo}}}
	}
	f := stage.OneState(nil)
	f.Steps[flow.StateCompleting] = flow.Step{Calls: calls}
	engine, source, config := stage.WithFlow(f)
	source.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
	}
	config.Unattended, config.OnFailure = true, []debate.FailureRule{{Do: flow.OptionDrop}}
	session := stage.Started(t, engine, stage.InFlow(engine, config))
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindState)
	require.ErrorContains(t, err, `the flow still returns this call after "drop"`)
	assert.Len(t, record.Answers, 1)
	assert.Equal(t, 1, source.Calls())
}

// waiting is a flow of one state whose Next fires only when ready.
func waiting(calls func(*debate.Record) []*flow.Call, ready func(*debate.Record) bool) *debate.Flow {
	f := stage.OneState(nil)
	f.Steps[stage.Asks] = flow.Step{Calls: calls, Next: func(r *debate.Record) (debate.Trigger, flow.Exit, bool) {
		return stage.Done, flow.Exit{}, ready(r)
	}}
	return f
}

// waitAnHour waits for a conversation that might hang.
func waitAnHour(t *testing.T, session *debate.Session) (*debate.Record, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	return session.Wait(ctx)
}

// A conversation in which nothing can happen any more stops at an error that says so.
func TestAFlowThatWaitsForNothing(t *testing.T) {
	never := func(*debate.Record) bool { return false }
	nothing := waiting(nil, never)
	concluding := stage.OneState(nil)
	concluding.Steps[flow.StateCompleting] = nothing.Steps[stage.Asks]
	refused := waiting(nil, never)
	refused.Inputs = []debate.Trigger{stage.Nudge}
	refused.Rules = append(refused.Rules, debate.Rule{From: stage.Asks, On: stage.Nudge, To: stage.Rests, When: debate.Guard{Name: "never", OK: never}})
	for name, f := range map[string]*debate.Flow{
		"no calls":                    nothing,
		"in completing":               concluding,
		"its input could not be sent": refused,
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, _, config := stage.WithFlow(f)
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := waitAnHour(t, session)
			stage.RequireKind(t, err, provider.KindState)
			assert.ErrorContains(t, err, "flow one")
			assert.ErrorContains(t, err, "no call is in flight, nothing is due, and no input is possible")
			assert.Equal(t, flow.StateError, record.State)
		}))
	}
}

// Whoever leaves out the calls that have failed is told which of them nothing was decided about. A retry makes it again.
func TestAFailedCallThatIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := func(r *debate.Record) bool { return r.Done("say.Ada") && r.Done("say.Ben") }
		all := stage.CallsOf(func(*flow.Call) {})
		engine, source, config := stage.WithFlow(waiting(func(r *debate.Record) []*flow.Call {
			return slices.DeleteFunc(all(r), func(c *flow.Call) bool { return r.Failed(c.ID) })
		}, said))
		cut := stage.Befall(source, provider.KindQuota, func(req *provider.Request) bool { return req.Self == "Ada" })
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		record, err := waitAnHour(t, session)
		failure := stage.RequireKind(t, err, provider.KindQuota)
		assert.Equal(t, "say.Ada", failure.Op)
		assert.ErrorContains(t, err, "Calls leaves out this call, which has failed")
		assert.Equal(t, []string{"r0 Ben"}, stage.Speakers(record), "whoever was in flight has spoken")
		cut.Over.Store(true)
		require.NoError(t, session.Retry(t.Context()))
		record, err = waitAnHour(t, session)
		require.NoError(t, err)
		assert.Equal(t, []string{"r0 Ben", "r0 Ada"}, stage.Speakers(record))
	})
}

// The end of a round's time is something to wait for.
func TestAFlowThatWaitsForTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		late := waiting(nil, (*debate.Record).Late)
		late.Timed = []debate.State{stage.Asks}
		late.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
			return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1}}, true
		}}
		engine, _, config := stage.WithFlow(late)
		config.RoundTimeout = time.Minute
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		_, err := waitAnHour(t, session)
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// A flow that asks a person, and leaves that out while it waits for the answer, would ask for ever.
func TestAFlowThatForgetsWhomItAsks(t *testing.T) {
	engine, _, config := stage.WithFlow(waiting(func(r *debate.Record) []*flow.Call {
		if len(r.Inquiries) > 0 || r.Done("ask") {
			return nil
		}
		return []*flow.Call{{ID: "ask", Kind: "question", By: "Ada", Performer: flow.ByPerson}}
	}, func(r *debate.Record) bool { return r.Done("ask") }))
	session := stage.Started(t, engine, stage.InFlow(engine, config))
	_, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindState)
	require.ErrorContains(t, err, "in a loop")
}

// A flow that leaves out a round would make a log that nobody can read: its conversation stops with an error that says so.
func TestRoundsHaveNoGaps(t *testing.T) {
	f := stage.OneState(func(*debate.Record) []*flow.Call { return nil })
	step := f.Steps[stage.Asks]
	step.Next = func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return stage.Done, flow.Exit{Round: &flow.Round{N: 3}}, true
	}
	f.Steps[stage.Asks] = step
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Flows = map[string]*debate.Flow{"one": f}
	session := stage.Started(t, engine, flow.Named("one", stage.TwoDebaters()))
	_, err := session.Wait(t.Context())
	assert.ErrorContains(t, stage.RequireKind(t, err, provider.KindState), "flow one begins round 3 after round 0")
	stage.StoredRecord(t, engine, session.ID())
}
