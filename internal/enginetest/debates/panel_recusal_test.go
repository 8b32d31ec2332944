package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
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
