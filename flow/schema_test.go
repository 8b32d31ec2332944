package flow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider/scripted"
)

type choice struct {
	Pick string `json:"pick" jsonschema:"enum=participant's name"`
}

type choiceConfig struct {
	Names []string `json:"names"`
}

func (*choiceConfig) Flow() string { return "choice" }

func (c *choiceConfig) Settings() flow.Settings {
	return flow.Settings{Topic: "Who?", Participants: c.Names, Rounds: 1, Unattended: true}
}

func (c *choiceConfig) Seats() flow.Seats { return stage.Seats("test/m", c.Names...) }

// choosing is a flow of one question, whose answer is one of the participants.
func choosing() *flow.Flow {
	ask := func(r *flow.Record) []*flow.Call {
		return []*flow.Call{{
			ID: "pick", Kind: "pick", By: r.Settings().Participants[0], Model: "test/m", Schema: "pick", Last: func(*flow.Record) string { return "Who?" },
		}}
	}
	return &flow.Flow{
		Name: "choice", Version: 1, Start: "picking",
		Rules: []flow.Rule{{From: "picking", On: "picked", To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Round: r.NextRound(1)}, true
			}},
			"picking": {Calls: flow.Missing(ask), Next: flow.Then("picked")},
		},
		Schemas: map[string]*flow.Schema{"pick": flow.AnswerSchema[choice]("pick", flow.AnswerOf[choice]{
			Check: func(r *flow.Record, v *choice) []string {
				if !slices.Contains(r.Settings().Participants, v.Pick) {
					return []string{"pick: is nobody's name"}
				}
				return nil
			},
		})},
		Decode: flow.DecodeTo[choiceConfig], Normalize: flow.NormalizeTo(func(*choiceConfig) {}),
	}
}

// Conversations with different names that take turns are each sent a schema with their own names.
func TestASchemaHasTheNamesOfItsConversation(t *testing.T) {
	engine := &debate.Engine{
		Flows: map[string]*debate.Flow{"choice": choosing()}, Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
	}
	for range 2 {
		for _, names := range [][]string{{"Ada", "Ben"}, {"Cem", "Dora"}} {
			h := flowtest.Begin(t, engine, &choiceConfig{Names: names})
			command, err := h.Command("pick")
			require.NoError(t, err)
			assert.Contains(t, string(command.Request.Schema.JSON), `"enum":["`+names[0]+`","`+names[1]+`"]`)
			h.Say("pick", `{"pick":"Eve"}`)
			assert.Contains(t, h.Prompt("pick"), "is nobody's name")
			h.Say("pick", `{"pick":"`+names[1]+`"}`)
			require.Equal(t, flow.StateCompleted, h.Record().State)
		}
	}
}

// TestASchemaOfFieldsIsThatOfTheCall: it names whom this call is about, and not whom the conversation has. What it demands beyond the type
// is checked by the flow.
func TestASchemaOfFieldsIsThatOfTheCall(t *testing.T) {
	f := choosing()
	f.Schemas["pick"] = flow.AnswerSchema[choice]("pick", flow.AnswerOf[choice]{
		Fields: func(r *flow.Record, c *flow.Call) prompt.Fields {
			others := slices.DeleteFunc(slices.Clone(r.Settings().Participants), func(name string) bool { return name == c.By })
			return prompt.Fields{{Name: "pick", Kind: prompt.Choice, Names: others}}
		},
		Check: func(r *flow.Record, v *choice) []string {
			if v.Pick == r.Settings().Participants[0] {
				return []string{"pick: is the one who picks"}
			}
			return nil
		},
	})
	engine := &debate.Engine{
		Flows: map[string]*debate.Flow{"choice": f}, Providers: map[string]debate.Provider{"test": &scripted.Provider{}},
	}
	h := flowtest.Begin(t, engine, &choiceConfig{Names: []string{"Ada", "Ben", "Cem"}})
	command, err := h.Command("pick")
	require.NoError(t, err)
	require.NotNil(t, command.Request.Schema)
	assert.Equal(t, "pick", command.Request.Schema.Name)
	assert.JSONEq(t, `{"type":"object","properties":{"pick":{"type":"string","enum":["Ben","Cem"]}},"required":["pick"],"additionalProperties":false}`,
		string(command.Request.Schema.JSON))
	h.Say("pick", `{"pick":"Ada"}`)
	assert.Contains(t, h.Prompt("pick"), "is the one who picks")
	h.Say("pick", `{"pick":"Cem"}`)
	require.Equal(t, flow.StateCompleted, h.Record().State)
}
