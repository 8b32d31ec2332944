package debates_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// TestAnUnknownNameListsTheKnownOnes, whatever it names: the error says which there are, and the hint says the same.
func TestAnUnknownNameListsTheKnownOnes(t *testing.T) {
	rule := func(r debate.FailureRule) func(*debate.Config) {
		return func(c *debate.Config) { c.OnFailure = stage.Rules(r) }
	}
	cases := map[string]struct {
		change func(*debate.Config)
		says   string
	}{
		"provider": {func(c *debate.Config) { c.Participants[0].Model = "tets/m" }, `participants[0].model: no provider "tets" is registered: there is only test`},
		"format":   {func(c *debate.Config) { c.Format = "oxfrod" }, `format: no format "oxfrod" is registered: there are `},
		"judge": {
			func(c *debate.Config) { c.Judging.Judges[0] = debate.JudgeConfig{Name: "Iris", Judge: "nobody"} },
			`judging.judges[0].judge: no judge or function "nobody" is registered: there is none`,
		},
		"mode":     {func(c *debate.Config) { c.Mode = "random" }, `mode: no mode "random" is known: there are sequential, simultaneous`},
		"side":     {func(c *debate.Config) { c.Participants[0].Side = "pro" }, `participants[0].side: no side "pro" is known: there are against, for, neutral; it may be left out`},
		"when":     {func(c *debate.Config) { c.Judging.When = "never" }, `judging.when: no time "never" is known: there are `},
		"protocol": {func(c *debate.Config) { c.Judging.Protocol = "dice" }, `judging.protocol: no protocol "dice" is known: there are `},
		"detector": {
			func(c *debate.Config) { c.StopOn = []format.Detector{"boredom"} },
			`stopOn[0]: no detector "boredom" is registered: there are `,
		},
		"context manager": {
			func(c *debate.Config) { c.Context = "a dream" },
			`context: no context manager "a dream" is registered: there are hybrid, sliding, summarize, truncate`,
		},
		"effort": {
			func(c *debate.Config) { c.Participants[0].Options = &provider.Options{Effort: "huge"} },
			`participants[0].options.effort: no effort "huge" is known: there are high, low, max, medium, minimal, none`,
		},
		"what a rule does": {rule(debate.FailureRule{Do: "pray"}), `onFailure[0].do: no option of a rule "pray" is known: there are ask, continue, drop`},
		"kind of failure":  {rule(debate.FailureRule{Do: flow.OptionSkip, Kinds: []flow.Kind{"bug"}}), `onFailure[0].kinds: no kind of failure "bug" is known: there are `},
		"kind of call":     {rule(debate.FailureRule{Do: flow.OptionSkip, Calls: []flow.CallKind{"asessment"}}), `onFailure[0].calls: no kind of call "asessment" is known: there are `},
		"a hostile name":   {func(c *debate.Config) { c.Mode = "\x1b[2J\nERROR" }, `mode: no mode " [2J ERROR" is known: there are `},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, _ := stage.Engine(config)
			tc.change(&config)
			err := engine.Validate(t.Context(), config)
			require.ErrorContains(t, err, tc.says)
			hint := stage.RequireKind(t, err, provider.KindValidation).Hint()
			assert.Regexp(t, `^Correct [^ ]+: (use |set Engine\.)`, hint)
			if _, known, ok := strings.Cut(tc.says, "there are "); ok && known != "" {
				assert.Contains(t, hint, "use one of "+strings.TrimSuffix(known, "; it may be left out"))
			}
		})
	}
}

func TestUnknownNamesOutsideOfConfigsListTheKnownOnes(t *testing.T) {
	engine := flows.Engine(&store.Memory{}, nil)
	_, err := engine.DecodeConfig([]byte(`{"flow":"chat"}`))
	require.ErrorContains(t, err, `flow: no flow "chat" is registered: there are arbiter, debate, deliberation`)
	assert.Equal(t, `Correct flow: use one of arbiter, debate, deliberation, or set Engine.Flows["chat"] before the engine is first used.`,
		stage.RequireKind(t, err, provider.KindValidation).Hint())
	_, err = engine.DecodeConfig([]byte(`{"topik":"x"}`))
	require.ErrorContains(t, err, `topik: is not a known key: there are `)
	require.ErrorContains(t, err, ` topic`)

	for id, config := range map[string]flow.Config{
		"debate": flows.Debate("debate"), "deliberation": flows.Deliberation("deliberation"), "arbiter": flows.Arbitration("arbiter"),
	} {
		who := map[string]string{
			"debate": `no actor "Eve" is known: there are Ada, Ben, judge`, "deliberation": `no actor "Eve" is known: there are ada, ben, judge`,
			"arbiter": `no actor "Eve" is known: there are Ada, Ben, arbiter`,
		}[id]
		t.Run(id, func(t *testing.T) {
			engine := flows.Engine(&store.Memory{}, func(context.Context, *provider.Request) error {
				return &provider.Error{Kind: provider.KindRefusal, Status: 400, Message: "no"}
			})
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			require.Error(t, err)
			err = session.Control(t.Context(), flow.Amendment{Models: map[string]flow.ModelChoice{"Eve": {Model: "test/other"}}})
			require.ErrorContains(t, err, who)
			err = session.Answer(t.Context(), flow.Answer{Inquiry: "nothing", Text: "x"})
			require.ErrorContains(t, err, `no inquiry "nothing" is open: there is none`)
		})
	}
	silent := flows.Engine(&store.Memory{}, func(ctx context.Context, _ *provider.Request) error {
		<-ctx.Done() // it is not over before it is paused
		return ctx.Err()
	})
	work := stage.Started(t, silent, flows.Arbitration(""))
	require.NoError(t, work.Pause(t.Context()))
	err = work.Send(t.Context(), arbiter.TriggerForceAgent, arbiter.ForceAgent{Agent: "Eve"})
	require.ErrorContains(t, err, `no agent "Eve" is known: there are Ada, Ben`)
	_, err = deliberation.FindRole("kiss", nil)
	require.ErrorContains(t, err, `no role "kiss" is known: there are architect, `)

	lost := &debate.Engine{Prompts: map[string]string{"referee": "x"}}
	_, err = lost.DecodeConfig([]byte(`{}`))
	require.ErrorContains(t, err, `no template "referee" is known: there are `)
}
