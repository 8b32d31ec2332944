package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// poll is the config of a flow that asks some people, all at once, for as many rounds as it says.
type poll struct {
	ID     string         `json:"id,omitempty"`
	People []string       `json:"people"`
	Rounds int            `json:"rounds,omitempty"`
	Notes  map[string]int `json:"notes,omitempty"`
}

func (poll) Flow() string { return "poll" }

func (p poll) Settings() flow.Settings {
	return flow.Settings{ID: p.ID, Topic: "A poll", Participants: p.People, Rounds: p.Rounds}
}

func (p poll) Seats() flow.Seats { return stage.Seats("test/m", p.People...) }

type vote struct {
	Yes bool `json:"yes"`
}

// pollEngine returns an engine with the flow of polls, which is made of what the kernel offers for steps.
func pollEngine() *debate.Engine {
	const asking, asked = flow.State("asking"), flow.Trigger("asked")
	all := func(r *flow.Record) (calls []*flow.Call) {
		for _, name := range r.Config().(*poll).People {
			calls = append(calls, &flow.Call{
				ID: "vote." + name, Kind: "vote", By: name, Model: "test/m", Schema: "vote", System: r.Text("rule"), OnFail: flow.OnFail{Drop: flow.PersonOnly},
			})
		}
		return calls
	}
	none := func(*flow.Record) []*flow.Call { return nil }
	f := &debate.Flow{
		Name: "poll", Version: 1, Start: asking, Rules: []flow.Rule{{From: asking, On: asked, To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Round: r.NextRound(len(r.Settings().Participants))}, true
			}},
			asking: {Calls: flow.Missing(all), Next: flow.Then(asked)},
		},
		Schemas: map[string]*flow.Schema{"vote": flow.AnswerSchema[vote]("vote", flow.AnswerOf[vote]{Check: func(r *flow.Record, v *vote) []string {
			if !v.Yes && !r.Done("vote.Ada") {
				return []string{"somebody has to say yes first"}
			}
			return nil
		}})},
		Texts:  func(s flow.Setup) (map[string]string, error) { return map[string]string{"rule": s.FenceRule()}, nil },
		Decode: flow.DecodeTo[poll], Estimate: flow.EstimateRounds(none, all),
		Normalize: flow.NormalizeTo(func(p *poll) { p.ID, p.Rounds = "", max(1, p.Rounds) }),
		Check: func(config flow.Config, _ any, _ flow.Registry) []error {
			var f flow.Findings
			if n := config.(*poll).Rounds; n < 1 || n > 9 {
				f.Addf("rounds", "is %d: 1 to 9 are possible", n)
			}
			return f
		},
	}
	return &debate.Engine{
		Flows: map[string]*debate.Flow{"poll": f}, Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
	}
}

func TestStepsOfWhatTheKernelOffers(t *testing.T) {
	h := flowtest.Begin(t, pollEngine(), poll{People: []string{"Ada", "Ben", "Cyd"}})
	assert.Equal(t, 1, h.Record().Round)
	for _, call := range []string{"vote.Ada", "vote.Ben", "vote.Cyd"} {
		assert.True(t, h.Record().Asking(call), "all are asked at once")
	}
	h.Say("vote.Ben", `{"yes":true}`)
	h.Say("vote.Ada", `{"yes":false}`)
	h.Say("vote.Ada", `{"yes":true}`)
	require.Error(t, h.Try(flow.Resume{}))
	h.Fail("vote.Cyd", provider.KindRefusal)
	require.Equal(t, flow.StateAwaitingInput, h.Record().State, "a call that has failed is still missing, so its OnFail is read")
	h.Do(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionDrop})
	r := h.Reload()
	assert.Equal(t, flow.StateCompleted, r.State)
	answer, ok := flow.AnswerTo[vote](r, "vote.Ada")
	assert.Equal(t, vote{Yes: true}, answer, "the answer that was accepted is that of the call")
	assert.True(t, ok)
	_, ok = flow.AnswerTo[[]string](r, "vote.Ada")
	assert.False(t, ok, "it is no such answer")
	_, ok = flow.AnswerTo[vote](r, "vote.Cyd")
	assert.False(t, ok)
	assert.Equal(t, []string{"vote.Ben", "vote.Ada"}, []string{r.Turns[0].Call, r.Turns[1].Call})
	assert.Equal(t, 2, r.Turns[1].Attempt)
}

// TestTextsThatTakeLongHoldUpNoOtherStart: while the prompts of one conversation are rendered, others start.
func TestTextsThatTakeLongHoldUpNoOtherStart(t *testing.T) {
	engine, begun, release := pollEngine(), make(chan struct{}), make(chan struct{})
	f := engine.Flows["poll"]
	texts := f.Texts
	f.Texts = func(s flow.Setup) (map[string]string, error) {
		if s.Config.(*poll).People[0] == "Ada" {
			close(begun)
			<-release
		}
		return texts(s)
	}
	own, slow := kernel.Of(t, engine), make(chan error, 1)
	go func() {
		_, err := own.Freeze(poll{People: []string{"Ada"}})
		slow <- err
	}()
	<-begun
	_, err := own.Freeze(poll{People: []string{"Ben"}})
	close(release)
	require.NoError(t, err)
	require.NoError(t, <-slow)
}

func TestNormalizeTo(t *testing.T) {
	engine := pollEngine()
	given := &poll{ID: "x", People: []string{"Ada"}, Notes: map[string]int{"a": 1}}
	start, err := kernel.Of(t, engine).Freeze(given)
	require.NoError(t, err)
	given.People[0], given.Notes["a"] = "Eve", 2
	assert.Equal(t, &poll{People: []string{"Ada"}, Rounds: 1, Notes: map[string]int{"a": 1}}, start.Config.Go, "the copy is deep")
	var failure *flow.Error
	require.ErrorAs(t, engine.Validate(t.Context(), poll{People: []string{"Ada"}, Rounds: 10}), &failure)
	assert.Equal(t, "rounds", failure.Field)
	assert.Contains(t, failure.Error(), "is 10: 1 to 9 are possible")
	normalize := flow.NormalizeTo(func(*poll) {})
	_, err = normalize(flow.Named("other", poll{People: []string{"Ada"}}))
	require.NoError(t, err)
}

func TestEstimateRounds(t *testing.T) {
	most := stage.Estimated(t, pollEngine(), poll{People: []string{"Ada", "Ben"}, Rounds: 3})
	assert.Equal(t, 6, most.Calls)
	once := stage.Estimated(t, pollEngine(), poll{People: []string{"Ada", "Ben"}, Rounds: 1})
	assert.Greater(t, most.Tokens, 3*once.Tokens, "later rounds read the replies of those before")
}

// TestAnEstimateHasTheStepsOfTheFirstRound: who is asked what, and which calls are made at once.
func TestAnEstimateHasTheStepsOfTheFirstRound(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	steps := stage.Estimated(t, engine, config).Steps
	require.GreaterOrEqual(t, len(steps), 4)
	assert.Equal(t, flow.PlannedCall{Round: 1, Kind: steps[0].Kind, By: "Ada", Model: "test/debater", Together: steps[0].Together}, steps[0])
	assert.Equal(t, "Ben", steps[1].By)
	assert.Greater(t, steps[1].Together, steps[0].Together, "Ben reads what Ada says")
	last := steps[len(steps)-1]
	assert.Equal(t, []any{debate.KindVerdict, 0, true, "test/judge"}, []any{last.Kind, last.Round, last.Ends, last.Model})
	for i := range steps {
		assert.LessOrEqual(t, steps[i].Round, 1)
		assert.Equal(t, steps[i].Kind == debate.KindVerdict, steps[i].Ends)
	}
	config.Rounds = 50
	assert.Equal(t, steps, stage.Estimated(t, engine, config).Steps, "one round is enough")

	poll := stage.Estimated(t, pollEngine(), poll{People: []string{"Ada", "Ben"}, Rounds: 3}).Steps
	assert.Equal(t, []int{1, 1}, []int{poll[0].Together, poll[1].Together}, "both are asked at once")
}
