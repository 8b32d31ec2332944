package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// spendless is a body that ends no attempt, so that no log can hold it.
type spendless struct{}

func (*spendless) EventKind() flow.EventKind { return "spendless" }

// ending is a body that a browser takes for the end of a stream.
type ending struct{ flow.Spend }

func (*ending) EventKind() flow.EventKind { return "end" }

func TestMalformedFlowsAreRefused(t *testing.T) {
	next := func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "go", flow.Exit{}, true }
	small := func() *debate.Flow {
		return &debate.Flow{
			Name: "small", Version: 1, Start: "only", Decode: flow.DecodeTo[debate.Config],
			Rules: []debate.Rule{{From: "only", On: "go", To: flow.StateCompleting}},
			Steps: map[debate.State]flow.Step{"only": {Next: next}},
		}
	}
	yes := func(*debate.Record) bool { return true }
	for name, c := range map[string]struct {
		flow *debate.Flow
		says string
	}{
		"nil":                     {nil, `under "small"`},
		"no reader of configs":    {change(small(), func(f *debate.Flow) { f.Decode = nil }), "a Decode"},
		"another name":            {change(small(), func(f *debate.Flow) { f.Name = "other" }), `under "small"`},
		"no start":                {change(small(), func(f *debate.Flow) { f.Start = "" }), "first state"},
		"start of lifecycle":      {change(small(), func(f *debate.Flow) { f.Start = flow.StateReady }), "first state"},
		"state without a step":    {change(small(), func(f *debate.Flow) { delete(f.Steps, "only") }), `"only"`},
		"step without a next":     {change(small(), func(f *debate.Flow) { f.Steps["only"] = flow.Step{} }), `"only"`},
		"typo in a target":        {change(small(), func(f *debate.Flow) { f.Rules[0].To = "complting" }), `"complting"`},
		"empty target":            {change(small(), func(f *debate.Flow) { f.Rules[0].To = "" }), `""`},
		"step for no state":       {change(small(), func(f *debate.Flow) { f.Steps["lost"] = flow.Step{Next: next} }), `"lost"`},
		"step when paused":        {change(small(), func(f *debate.Flow) { f.Steps[flow.StatePaused] = flow.Step{Next: next} }), "paused"},
		"guard without name":      {change(small(), func(f *debate.Flow) { f.Rules[0].When = debate.Guard{OK: yes} }), "guard"},
		"guard without test":      {change(small(), func(f *debate.Flow) { f.Rules[0].When = debate.Guard{Name: "sure"} }), "guard"},
		"no version":              {change(small(), func(f *debate.Flow) { f.Version = 0 }), "a version"},
		"accepts the future":      {change(small(), func(f *debate.Flow) { f.Accepts = 2 }), "a version"},
		"input of lifecycle":      {change(small(), func(f *debate.Flow) { f.Inputs = []debate.Trigger{flow.TriggerStop} }), `"stop"`},
		"time of no state":        {change(small(), func(f *debate.Flow) { f.Timed = []debate.State{"lost"} }), `"lost"`},
		"body without a spend":    {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&spendless{}} }), `"spendless"`},
		"body of streams":         {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&ending{}} }), `"end"`},
		"two bodies of a kind":    {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&opinion{}, &opinion{}} }), `"opinion"`},
		"body of every flow":      {change(small(), func(f *debate.Flow) { f.Bodies = []flow.Body{&flow.Turn{}} }), "every flow has"},
		"nil schema":              {change(small(), func(f *debate.Flow) { f.Schemas = map[string]*flow.Schema{"mark": nil} }), `"mark"`},
		"input without a rule":    {change(small(), func(f *debate.Flow) { f.Inputs = []debate.Trigger{"hurry"} }), `the input "hurry" has no rule`},
		"unchanged, and no input": {change(small(), func(f *debate.Flow) { f.Rules[0].To = flow.StateUnchanged }), "Inputs does not list it"},
		"unchanged as a source":   {change(small(), func(f *debate.Flow) { f.Rules[0].From = flow.StateUnchanged }), "begins in a working state"},
		"rule out of a pause": {change(stage.Recording(small(), "hurry"), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StatePaused, On: "hurry", To: "only"})
		}), "not in paused"},
		"input after an end": {change(stage.Recording(small(), "hurry"), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleted, On: "hurry", To: flow.StateUnchanged})
		}), "not in completed"},
		"rule out of an end": {change(small(), func(f *debate.Flow) {
			f.Rules = append(f.Rules, debate.Rule{From: flow.StateCompleted, On: "again", To: "only"})
		}), "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := stage.Engine(stage.TwoDebaters())
			engine.Flows = map[string]*debate.Flow{"small": c.flow}
			_, err := engine.New(stage.TwoDebaters())
			stage.RequireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, c.says)
		})
	}
	t.Run("well-formed", func(t *testing.T) {
		engine, _ := stage.Engine(stage.TwoDebaters())
		engine.Flows = map[string]*debate.Flow{"small": small()}
		assert.Equal(t, flow.StateCompleted, stage.Run(t, engine, flow.Named("small", stage.TwoDebaters())).State)
	})
}

func change[T any](v *T, how func(*T)) *T {
	how(v)
	return v
}

// The chart decides where a trigger leads, and not the table that it is made from: with a chart that has lost one guard a debate ends
// after its first round, and must not.
func TestWithoutAGuardInItsChartADebateGoesWrong(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging = nil
	without := func(guard string) *flow.Record {
		engine, _ := stage.Engine(config)
		h := flowtest.Begin(t, engine, config)
		h.Unguard(guard)
		for asked := h.InFlight(); len(asked) > 0; asked = h.InFlight() {
			h.Say(asked[0].Call, "A point of "+asked[0].Call+".")
		}
		return h.Record()
	}
	record := without("none of them")
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, []int{6, 3}, []int{len(record.Turns), record.Round})
	for _, guard := range []string{"tooFewParticipants", "shouldEndDebate", "maxRoundsReached"} {
		record := without(guard)
		require.Equal(t, flow.StateError, record.State, guard)
		require.ErrorContains(t, record.Failure, "it still lacks rounds 2 to 3", guard)
		assert.Equal(t, 1, record.Round, guard)
	}
}
