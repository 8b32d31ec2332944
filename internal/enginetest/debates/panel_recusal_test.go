package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

func TestRecusal(t *testing.T) {
	models := func(families ...string) (names []string) {
		for i, family := range families {
			names = append(names, fmt.Sprintf("test/%s-%d", family, i))
		}
		return names
	}
	for name, test := range map[string]struct {
		debaters, judges []string // families; "": not known
		own              bool
		recused          []string
	}{
		"the only judge":         {debaters: []string{"x", "y"}, judges: []string{"x"}},
		"one of two":             {debaters: []string{"x", "y"}, judges: []string{"x", "z"}, recused: []string{"judge"}},
		"the second of two":      {debaters: []string{"x", "y"}, judges: []string{"z", "y"}, recused: []string{"judge-2"}},
		"two of three":           {debaters: []string{"x", "y"}, judges: []string{"x", "z", "y"}, recused: []string{"judge", "judge-3"}},
		"nobody if all would be": {debaters: []string{"x", "y"}, judges: []string{"x", "y"}},
		"nobody if all participants are of the family": {debaters: []string{"x", "x"}, judges: []string{"x", "z"}},
		"nobody if the host wishes":                    {debaters: []string{"x", "y"}, judges: []string{"x", "z"}, own: true},
		"families that are not known":                  {debaters: []string{"", ""}, judges: []string{"", "z"}},
		"no conflict":                                  {debaters: []string{"x", "y"}, judges: []string{"z", "w"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds = 1
			config.Judging = &debate.Judging{AllowSameFamily: test.own}
			engine, source := stage.Engine(config)
			know := func(families []string) []string {
				names := models(families...)
				for i, name := range names {
					engine.Models[name] = debate.Model{Family: families[i]}
				}
				return names
			}
			for i, model := range know(test.debaters) {
				config.Participants[i].Model = model
			}
			for i, model := range know(test.judges) {
				model = strings.Replace(model, "test/", "test/j", 1)
				engine.Models[model] = debate.Model{Family: test.judges[i]}
				config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: model})
			}
			record := stage.Run(t, engine, config)
			assert.Equal(t, test.recused, stage.View(record).Recused())
			asked := map[string]bool{}
			for _, req := range source.Requests() {
				asked[req.Self] = true
			}
			for _, name := range test.recused {
				assert.False(t, asked[name], "%s is never asked", name)
			}
			want := len(test.judges) - len(test.recused)
			assert.Len(t, stage.View(record).Judges(), want)
			assert.Len(t, stage.View(record).Verdicts, want)
			outcome := stage.View(record).Outcome()
			assert.Equal(t, want, outcome.Judges)
			assert.Equal(t, "Ada", outcome.Winner, "the quorum is of those who judge")
			assert.Empty(t, outcome.Degraded, "to recuse a judge is what was configured")
		})
	}
}

// Judges who are no models are of no family.
func TestAFunctionIsOfNoFamily(t *testing.T) {
	c := stage.NewCourt(stage.ForAda(), stage.ForBen())
	c.Config.Participants[0].Model = "test/x"
	c.Engine.Models["test/x"], c.Engine.Models["test/judge-1"] = debate.Model{Family: "x"}, debate.Model{Family: "x"}
	c.Config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "function"}
	c.Engine.Judges = map[string]debate.Judge{"function": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
		return json.RawMessage(stage.ForBen().Verdict("x")), nil
	})}
	record := stage.Run(t, c.Engine, c.Config)
	assert.Equal(t, []string{"judge-1"}, stage.View(record).Recused())
	assert.Equal(t, "Ben", stage.View(record).Outcome().Winner)
}

// What a model says in a person's place is of that model's family, and so is its judgement.
func TestAStandInIsOfItsFamily(t *testing.T) {
	term := flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/of-x"}
	begun := func(t *testing.T, change func(*debate.Config)) *stage.Stepper {
		config := stage.TwoDebaters()
		config.Participants[0].Model, config.Participants[1].Model = "test/x", "test/y"
		config.Judging.Judges = []debate.JudgeConfig{{Name: "Pat", Person: true, Term: term}, {Name: "Zed", Model: "test/z"}}
		change(&config)
		engine, _ := stage.Engine(config)
		for model, family := range map[string]string{"test/x": "x", "test/of-x": "x", "test/y": "y", "test/z": "z"} {
			engine.Models[model] = debate.Model{Family: family}
		}
		return stage.BegunBy(t, engine, config)
	}
	t.Run("of a debater", func(t *testing.T) {
		s := begun(t, func(c *debate.Config) {
			c.Participants[0].Model, c.Participants[0].Person, c.Participants[0].Term = "", true, term
			c.Judging.Judges[0] = debate.JudgeConfig{Name: "Xan", Model: "test/x"}
		})
		assert.Equal(t, []string{"Xan"}, stage.View(s.Record()).Recused())
	})
	for name, test := range map[string]struct {
		change func(*debate.Config)
		late   flow.Option
	}{
		"of a judge, beside another": {func(*debate.Config) {}, ""},
		"of a judge that is stated":  {func(c *debate.Config) { c.Judging.Judges[0].Overdue = flow.OptionStandIn }, ""},
		"of the only judge":          {func(c *debate.Config) { c.Judging.Judges = c.Judging.Judges[:1] }, flow.OptionStandIn},
		"if the host wishes":         {func(c *debate.Config) { c.Judging.AllowSameFamily = true }, flow.OptionStandIn},
		"of no debater":              {func(c *debate.Config) { c.Judging.Judges[0].StandIn = "test/z" }, flow.OptionStandIn},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, test.change)
			s.Says(stage.AdasOpening, 1)
			s.Says(stage.BensOpening, 1)
			require.Len(t, s.Record().Inquiries, 1)
			assert.Equal(t, "Pat", s.Record().Inquiries[0].To)
			assert.Equal(t, test.late, s.Record().Inquiries[0].Overdue)
		})
	}
}
