package flow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func TestNamed(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Labels = "named", map[string]string{"tenant": "blue"}
	renamed := flow.Named("notes", config)
	assert.Equal(t, "notes", renamed.Flow())
	assert.Equal(t, debate.FlowName, config.Flow())
	assert.Equal(t, config.Settings(), renamed.Settings())
	assert.JSONEq(t, stage.JSON(config), stage.JSON(renamed), "its JSON is the config's")
	var left, right []string
	for field, name := range flow.Models(config) {
		left = append(left, field, name)
	}
	for field, name := range flow.Models(renamed) {
		right = append(right, field, name)
	}
	assert.Equal(t, left, right)
	assert.Equal(t, "later", flow.Named("later", renamed).Flow(), "the last name counts")

	engine, p := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"notes": stage.Notes()}
	record := stage.Run(t, engine, flow.Named("notes", flow.Named("later", config)))
	assert.Equal(t, "notes", record.Flow())
	assert.Equal(t, "blue", stage.View(record).Config().Labels["tenant"], "its config is that of a debate")
	again, err := engine.Start(t.Context(), flow.Named("notes", &config))
	require.NoError(t, err, "a pointer to the config is the config")
	require.NoError(t, again.Close())
	calls := p.Calls()
	for _, other := range []flow.Config{config, flow.Named(debate.FlowName, config)} {
		_, err = engine.Start(t.Context(), other)
		failure := stage.RequireKind(t, err, provider.KindConflict)
		assert.Equal(t, "flow", failure.Field)
		assert.Contains(t, err.Error(), `it has "notes", and "debate" is given`)
	}
	assert.Equal(t, calls, p.Calls())

	fork, err := engine.Fork(t.Context(), "named", record.Seq, debate.Editing(func(c *debate.Config) { c.ID = "branch" }))
	require.NoError(t, err)
	defer fork.Close()
	record = stage.SessionRecord(t, fork)
	assert.Equal(t, "notes", record.Flow(), "a fork stays in its flow")
}

// A config that is not there, or is another flow's, is refused and nothing else.
func TestConfigsThatAreNone(t *testing.T) {
	own, engine, p := newSurvey(t)
	for name, config := range map[string]flow.Config{
		"nil":                        nil,
		"a nil pointer":              (*debate.Config)(nil),
		"a nil pointer under a name": flow.Named(debate.FlowName, (*debate.Config)(nil)),
		"nil under a name":           flow.Named(debate.FlowName, nil),
		"nil under another name":     flow.Named("survey", nil),
		"a survey under a debate":    flow.Named(debate.FlowName, own),
		"a debate's under a survey":  flow.Named("survey", stage.TwoDebaters()),
		"a debate's under no flow":   flow.Named("", stage.TwoDebaters()),
		"a survey under no such one": flow.Named("surveys", own),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Len(t, stage.FieldsOf(t, engine.Validate(t.Context(), config)), 1)
			_, err := engine.Start(t.Context(), config)
			assert.Len(t, stage.FieldsOf(t, err), 1)
			_, err = engine.New(config)
			assert.Len(t, stage.FieldsOf(t, err), 1)
			_, err = engine.Estimate(t.Context(), config)
			assert.Len(t, stage.FieldsOf(t, err), 1)
			session, err := engine.New(own)
			require.NoError(t, err)
			assert.Len(t, stage.FieldsOf(t, session.Edit(config)), 1)
			assert.Equal(t, flow.StateConfiguring, session.State())
		})
	}
	core, err := kernel.Of(t, engine).NewCore("new", nil)
	require.NoError(t, err)
	for _, edit := range []flow.Edit{{}, {Flow: "survey"}, {Config: flow.Named("survey", nil)}} {
		_, err = core.Step(flow.Input{At: time.Now(), Signal: edit})
		assert.Equal(t, "config", stage.RequireKind(t, err, provider.KindValidation).Field)
		assert.Equal(t, flow.StateConfiguring, core.Record().State)
	}
	assert.Zero(t, p.Calls())
}

// A config names its flow: where that is not registered nothing is checked, asked or stored.
func TestAConfigOfAFlowThatIsNotRegistered(t *testing.T) {
	stranger, _, _ := newSurvey(t)
	plain := stage.TwoDebaters()
	broken := debate.Config{Format: "opera", Rounds: -3}
	for name, config := range map[string]flow.Config{
		"of a stranger": stranger, "a debate's": flow.Named("opera", plain), "one that is wrong besides": flow.Named("opera", broken),
	} {
		t.Run(name, func(t *testing.T) {
			engine, source := stage.Engine(plain)
			s := &store.Memory{}
			engine.Store = s
			refused := func(session *debate.Session, err error) {
				t.Helper()
				assert.Nil(t, session)
				assert.Equal(t, []string{"flow"}, stage.FieldsOf(t, err))
				assert.ErrorContains(t, err, fmt.Sprintf("no flow %q is registered", config.Flow()))
			}
			refused(nil, engine.Validate(t.Context(), config))
			refused(engine.Start(t.Context(), config))
			refused(engine.New(config))
			for _, err := range engine.Run(t.Context(), config) {
				refused(nil, err)
			}
			_, err := engine.Estimate(t.Context(), config)
			refused(nil, err)
			session, err := engine.New(plain)
			require.NoError(t, err)
			refused(nil, session.Edit(config))
			require.NoError(t, session.Validate(t.Context()), "the config is the one from before")
			assert.Zero(t, source.Calls(), "nothing was asked")
			for info, err := range s.List(t.Context(), debate.Filter{}) {
				assert.Fail(t, "something was stored", "%+v (%v)", info, err)
			}
		})
	}
}

// What a stranger's config holds is read again by its flow, or is refused at once.
func TestAStrangersConfigIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, tone := range map[string]string{
		"fine":               `{"a":[1,2.5,"x",null]}`,
		"a key twice":        `{"a":1,"a":2}`,
		"a number too large": `[1e999]`,
		"half a surrogate":   `"\ud800"`,
		"no UTF-8":           "\"\xff\"",
		"no JSON":            `{`,
		"too deep":           strings.Repeat("[", 120) + strings.Repeat("]", 120),
		"too long":           `"` + strings.Repeat("a", 16<<20) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "too long" {
				longform.Lone(t)
			}
			config, engine, p := newSurvey(t)
			config.Tone = json.RawMessage(tone)
			if err := engine.Validate(t.Context(), config); name != "fine" {
				stage.RequireKind(t, err, provider.KindValidation)
				_, err = engine.Start(t.Context(), config)
				stage.RequireKind(t, err, provider.KindValidation)
				assert.Zero(t, p.Calls())
				return
			}
			stage.Run(t, engine, config)
			_, other, _ := newSurvey(t)
			_, err := other.Import(t.Context(), bytes.NewReader(stage.Exported(t, engine, config.ID)))
			assert.NoError(t, err)
		})
	}
}

// A survey is opened by its own config alone; whatever differs is named.
func TestEveryDifferenceOfAStrangersConfigIsNamed(t *testing.T) {
	config, engine, p := newSurvey(t)
	config.Tone, config.Labels = json.RawMessage(`{"a":{"b":[1,2]}}`), map[string]string{"tenant": "blue"}
	stage.Run(t, engine, config)
	data := stage.JSON(config)
	leaves := func(into *survey) []stage.Leaf {
		require.NoError(t, json.Unmarshal([]byte(data), into))
		return stage.Leaves(into, nil)
	}
	count := len(leaves(new(survey)))
	require.Greater(t, count, 6)
	calls, named := p.Calls(), map[string]bool{}
	for i := range count {
		other := new(survey)
		l := leaves(other)[i]
		l.Change()
		if l.Path == "id" {
			continue
		}
		other.ID = config.ID
		_, err := engine.Start(t.Context(), other)
		var failure *debate.Error
		require.ErrorAs(t, err, &failure, l.Path)
		if failure.Kind != provider.KindValidation { // the config is right, and another
			assert.Equal(t, provider.KindConflict, failure.Kind)
			assert.Equal(t, l.Path, failure.Field, "%v", err)
			named[l.Path] = true
		}
	}
	for _, path := range []string{"topic", "people[0]", "people", "tone.a.b[1]", "labels.tenant"} {
		assert.True(t, named[path], path)
	}
	assert.Equal(t, calls, p.Calls())

	record := stage.StoredRecord(t, engine, config.ID)
	for field, edit := range map[string]func(*survey){
		"model":       func(s *survey) { s.Model = "test/other" },
		"people[1]":   func(s *survey) { s.People[1] = "Bea" },
		"tone.a.b[1]": func(s *survey) { s.Tone = json.RawMessage(`{"a":{"b":[1,3]}}`) },
	} {
		_, err := engine.Fork(t.Context(), config.ID, record.Seq, debate.Editing(edit))
		assert.Equal(t, field, stage.RequireKind(t, err, provider.KindValidation).Field, "all of a config is fixed where its flow does not say otherwise")
	}
}
