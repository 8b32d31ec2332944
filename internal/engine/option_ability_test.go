package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// lacking lets the host program say that some models lack an ability.
func lacking(e *debate.Engine, ability provider.Ability, models ...string) {
	for _, name := range models {
		row := e.Models["test/"+name]
		row.Unsupported = []provider.Ability{ability}
		e.Models["test/"+name] = row
	}
}

// A temperature that the config gives a seat is refused if the seat's model takes none. That of the whole debate, and the
// defaults of judges and planners, are left out instead.
func TestATemperatureThatAModelDoesNotTakeIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		field  string
	}{
		"a participant's":     {func(c *debate.Config) { c.Participants[1].Temperature = new(0.8) }, "participants[1].temperature"},
		"a judge's":           {func(c *debate.Config) { c.Judging.Judges[0].Temperature = new(0.5) }, "judging.judges[0].temperature"},
		"the planner's":       {func(c *debate.Config) { c.AssignPositions.Temperature = new(0.5) }, "assignPositions.temperature"},
		"the debate's":        {func(c *debate.Config) { c.Temperature = new(0.5) }, ""},
		"the default of each": {func(*debate.Config) {}, ""},
		"a default by hand":   {func(c *debate.Config) { c.Judging.Judges[0].Temperature = new(0.2) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.AssignPositions = &debate.AssignPositions{Model: "test/planner"}
			tc.change(&config)
			for how, change := range map[string]func(*debate.Engine){
				"the host program": func(e *debate.Engine) {
					lacking(e, provider.AbilityTemperature, "debater", "judge", "planner")
				},
				"the table": func(e *debate.Engine) {
					for _, name := range []string{"test/debater", "test/judge", "test/planner"} {
						row := e.Models[name]
						row.OwnTemperature = true
						e.Models[name] = row
					}
				},
			} {
				engine, _ := stage.Engine(config)
				change(engine)
				err := engine.Validate(t.Context(), config)
				if tc.field == "" {
					require.NoError(t, err, how)
					continue
				}
				assert.Equal(t, []string{tc.field}, stage.FieldsOf(t, err), how)
			}
		})
	}
}

// A fallback that takes no temperature is sent none. The outcome says so if the config gave the seat one.
func TestAFallbackIsSentNoTemperatureThatItDoesNotTake(t *testing.T) {
	for _, own := range []*float64{nil, new(0.3)} {
		config := stage.TwoDebaters()
		config.Judging, config.Rounds = nil, 1
		ada := &config.Participants[0]
		ada.Fallbacks, ada.Temperature = []string{"test/plain"}, own
		var sent []*float64
		events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
			e.Models["test/plain"] = e.Models[ada.Model]
			lacking(e, provider.AbilityTemperature, "plain")
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Self == ada.Name {
					if sent = append(sent, req.Temperature); req.Model != "plain" {
						r.Err = &provider.Error{Kind: provider.KindValidation, Status: 404}
					}
				}
			})
		})
		require.NoError(t, err)
		require.Len(t, sent, 2)
		assert.NotNil(t, sent[0])
		assert.Nil(t, sent[1])
		core := stage.CoreOf(t, &debate.Engine{}, "left", events)
		if own == nil {
			assert.Empty(t, core.Record().LeftOut(), "nobody has asked for the default")
			continue
		}
		assert.Equal(t, []flow.LeftOut{{Model: "test/plain", What: []string{"temperature"}}}, core.Record().LeftOut())
		assert.Contains(t, stage.View(core.Record()).Outcome().Degraded, "the model test/plain was asked without temperature")
	}
}

// A judge whose model cannot be held to a schema reads the schema in its instruction. Its answers are checked all the same.
func TestAJudgeWithoutSchemasReadsTheSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, source := stage.Engine(config)
		lacking(engine, provider.AbilitySchema, "judge")
		reply, broken := source.Reply, 0
		source.Reply = func(req *provider.Request) scripted.Reply {
			if req.Self != "judge" {
				return reply(req)
			}
			assert.Nil(t, req.Schema, req.ID)
			_, words, found := strings.Cut(req.Last.Text, "It must match this JSON schema:\n")
			assert.True(t, found, req.ID)
			if strings.HasSuffix(req.ID, "r1.assessment.judge/1") {
				broken++
				return scripted.Reply{Text: "Well."}
			}
			held := *req
			held.Schema = &provider.Schema{Name: "assessment", JSON: []byte(words)}
			if strings.Contains(req.ID, "verdict") {
				held.Schema.Name = "verdict"
			}
			return reply(&held)
		}
		record := stage.Run(t, engine, config)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, 1, broken)
		assert.NotNil(t, stage.View(record).Outcome().Winner)
		assert.Equal(t, []flow.LeftOut{{Model: "test/judge", What: []string{"schema"}}}, record.LeftOut())
		for _, e := range stage.Logged(t, engine, record.ID) {
			if in := body.As[flow.Intent](e); in != nil && in.By == "judge" {
				assert.NotEmpty(t, in.Schema, in.Call)
				assert.Equal(t, []provider.Ability{provider.AbilitySchema}, in.Left, in.Call)
			}
		}
	})
}
