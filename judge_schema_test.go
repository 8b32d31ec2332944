package debate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// The schema that goes to a provider allows the debate's names only.
func TestTheSchemaNamesTheParticipants(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Name = `Ada "the" \ Fox`
	config.Judging.Criteria = []string{"wit"}
	engine, source := stage.Engine(config)
	record := stage.Run(t, engine, config)
	assert.Equal(t, config.Participants[0].Name, stage.View(record).Verdict.Winner.Participant)
	seen := map[string]bool{}
	for _, request := range source.Requests() {
		if request.Schema == nil || seen[request.Schema.Name] {
			continue
		}
		seen[request.Schema.Name] = true
		require.True(t, json.Valid(request.Schema.JSON))
		names := stage.LabelsIn(request.Schema.JSON)
		assert.ElementsMatch(t, []string{config.Participants[0].Name, "Ben"}, names)
		if request.Schema.Name == "verdict" {
			assert.Contains(t, string(request.Schema.JSON), `"required":`+stage.JSON(names))
			assert.Contains(t, string(request.Schema.JSON), `"required":["wit"]`)
		}
	}
	assert.Len(t, seen, 2)
}

// An integrator's own schema is checked, and its problems are shown, in the same way.
func TestASchemaOfAFlow(t *testing.T) {
	type plan struct {
		Steps []string `json:"steps"`
	}
	schema, err := flow.NewSchema("plan", func(_ *debate.Record, p *plan) []string {
		if len(p.Steps) == 0 {
			return []string{"steps: is empty"}
		}
		return nil
	})
	require.NoError(t, err)
	unchecked, err := flow.NewSchema[plan]("free", nil)
	require.NoError(t, err)
	f := stage.Reflecting()
	f.Schemas["plan"], f.Schemas["free"] = schema, unchecked
	calls := f.Steps["reflecting"].Calls
	f.Steps["reflecting"] = flow.Step{Next: f.Steps["reflecting"].Next, Calls: func(r *debate.Record) []*flow.Call {
		out := calls(r)
		for i := range out {
			out[i].Schema = "plan"
			if r.Round == 2 {
				out[i].Schema = "free"
			}
		}
		return out
	}}
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, source := stage.Engine(config)
		engine.Flows = map[string]*debate.Flow{f.Name: f}
		answer := source.Reply
		source.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil || req.Schema.Name != "plan" && req.Schema.Name != "free":
				return answer(req)
			case stage.Reasked(req), req.Schema.Name == "free":
				return scripted.Reply{Text: "```json\n{ \"steps\" : [\"ask\"] }\n```"}
			default:
				return scripted.Reply{Text: `{"steps":[]}`}
			}
		}
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		require.Len(t, record.Rejections, 1)
		assert.Equal(t, []string{"steps: is empty"}, record.Rejections[0].Problems)
		assert.JSONEq(t, `{"steps":["ask"]}`, string(record.Turns[2].Data))
		assert.Equal(t, []any{"r1.reflection.Ada", 2}, []any{record.Turns[2].Call, record.Turns[2].Attempt})
		assert.Equal(t, []any{"r2.reflection.Ada", 1}, []any{record.Turns[5].Call, record.Turns[5].Attempt})
	})
}

func TestSchemasThatDoNotCompile(t *testing.T) {
	_, err := flow.NewSchema[func()]("odd", nil)
	assert.Error(t, err)
}

func TestTheSchemaNamesOnlyThoseWhoAreLeft(t *testing.T) {
	f := debate.DebateFlow()
	f.Name = "dropping-debate"
	turns := f.Steps[debate.StateAwaitingResponses]
	f.Steps[debate.StateAwaitingResponses] = flow.Step{Next: turns.Next, Calls: func(r *debate.Record) []*flow.Call {
		calls := turns.Calls(r)
		for i := range calls {
			calls[i].OnFail = flow.OnFail{Drop: flow.RuleToo}
		}
		return calls
	}}
	config := stage.TwoDebaters()
	config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Model: "test/debater"})
	config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionDrop})
	engine, p := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{f.Name: f}
	p.Reply = func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, "/r2.") && req.Self == "Cem" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		names := []string{"Ada", "Ben"}
		if req.Schema != nil && strings.Contains(string(req.Schema.JSON), "Cem") {
			names = append(names, "Cem")
		}
		return stage.Script(names)(req)
	}
	record := stage.Run(t, engine, stage.InFlow(engine, config))
	assert.Len(t, record.Active(), 2)
	var named []bool
	for _, req := range p.Requests() {
		if req.Schema != nil {
			named = append(named, strings.Contains(string(req.Schema.JSON), "Cem"))
		}
	}
	assert.Equal(t, []bool{true, false, false, true}, named, "three assessments, and the verdict on whoever has spoken")
	assert.Empty(t, record.Rejections)
}
