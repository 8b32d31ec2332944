package debate_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestADebateRunsFromConfigToVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	record := stage.Run(t, engine, config)

	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r2 Ada", "r2 Ben", "r3 Ada", "r3 Ben"}, stage.Speakers(record))
	assert.Len(t, stage.View(record).Assessments, 3)
	require.NotNil(t, stage.View(record).Verdict)
	assert.Equal(t, "Ada", stage.View(record).Verdict.Winner.Participant)
	assert.Equal(t, "the format has 3 rounds", record.Evidence)
	assert.Equal(t, 10, record.Spent().Requests)
	assert.Equal(t, record.Spent().Cost, record.SpentInRound(1).Cost+record.SpentInRound(2).Cost+record.SpentInRound(3).Cost)
}

func TestFreeFormEndsWhenTheJudgeSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		format string
		rounds int
		change func(answer map[string]any, round int)
		want   int
		why    string
	}{
		"the judge ends":          {format.FreeForm, 5, func(a map[string]any, round int) { a["shouldContinue"], a["ending"] = round < 2, "It is settled." }, 2, "judge wishes to end after round 2: It is settled."},
		"the cap ends":            {format.FreeForm, 4, nil, 4, "all 4 rounds are spoken"},
		"the default cap":         {format.FreeForm, 0, nil, 5, "all 5 rounds are spoken"},
		"a fixed number":          {format.RoundLimited, 3, func(a map[string]any, _ int) { a["shouldContinue"] = false }, 3, "the format has 3 rounds"},
		"structured to the end":   {format.StructuredRounds, 3, func(a map[string]any, _ int) { a["shouldContinue"] = false }, 3, "the format has 3 rounds"},
		"convergence":             {format.ConvergenceSeeker, 6, raised("convergenceReached", 2), 2, "judge sees convergence in round 2: It is settled."},
		"diminishing returns":     {format.ConvergenceSeeker, 6, raised("diminishingReturns", 3), 3, "judge sees diminishing returns in round 3: It is settled."},
		"convergence never comes": {format.ConvergenceSeeker, 2, func(a map[string]any, _ int) { a["shouldContinue"] = false }, 2, "all 2 rounds are spoken"},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format, config.Rounds = tc.format, tc.rounds
			engine, p := stage.Engine(config)
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if m := stage.CallRound.FindStringSubmatch(req.ID); m != nil && req.Schema != nil && tc.change != nil {
					var answer map[string]any
					_ = json.Unmarshal([]byte(r.Text), &answer)
					round, _ := strconv.Atoi(m[1])
					tc.change(answer, round)
					r.Text = stage.JSON(answer)
				}
			})
			record := stage.Run(t, engine, config)
			assert.Equal(t, tc.want, record.Round)
			assert.Len(t, stage.View(record).Assessments, tc.want)
			assert.Equal(t, tc.why, record.Evidence)
			assert.NotNil(t, stage.View(record).Verdict)
		})
	}
}

func raised(name string, from int) func(map[string]any, int) {
	return func(a map[string]any, round int) {
		a["flags"].(map[string]any)[name] = round >= from
		a["ending"] = "It is settled."
	}
}

func TestWhoJudgesAndWhen(t *testing.T) {
	t.Run("nobody", func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Judging = nil
		engine, p := stage.Engine(config)
		record := stage.Run(t, engine, config)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Nil(t, stage.View(record).Verdict)
		assert.Equal(t, 6, p.Calls())
	})
	t.Run("at the end only", func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Judging.When = debate.AtEnd
		engine, p := stage.Engine(config)
		record := stage.Run(t, engine, config)
		assert.Empty(t, stage.View(record).Assessments)
		assert.NotNil(t, stage.View(record).Verdict)
		assert.Equal(t, 7, p.Calls())
	})
}

func TestRequests(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[1].Temperature = new(0.0)
	config.Labels = map[string]string{"tenant": "acme"}
	engine, p := stage.Engine(config)
	stage.Run(t, engine, config)
	byID := map[string]provider.Request{}
	for _, req := range p.Requests() {
		_, call, _ := strings.Cut(req.ID, "/")
		byID[call] = req
	}
	t.Run("the second round holds the opponents' words under their names", func(t *testing.T) {
		req := byID["r2.rebuttal.Ada/1"]
		var chat []string
		for role, text := range req.Chat() {
			chat = append(chat, string(role)+": "+text)
		}
		require.Len(t, chat, 4)
		assert.Equal(t, "assistant: "+stage.Speech("Ada", 1), chat[1])
		assert.Contains(t, chat[2], "user: <<<")
		assert.Contains(t, chat[2], " round 1, opening | Ben>>>\n"+stage.Speech("Ben", 1)+"\n<<<end ")
		assert.Contains(t, chat[3], "2 of 3")
	})
	t.Run("temperatures and limits", func(t *testing.T) {
		assert.InDelta(t, 0.8, *byID["r1.opening.Ada/1"].Temperature, 0)
		assert.InDelta(t, 0.0, *byID["r1.opening.Ben/1"].Temperature, 0)
		assert.InDelta(t, 0.2, *byID["verdict.judge/1"].Temperature, 0)
		assert.Equal(t, 4096, byID["r1.opening.Ada/1"].MaxTokens)
		assert.Equal(t, "acme", byID["verdict.judge/1"].Labels["tenant"])
	})
	t.Run("the schema names the participants", func(t *testing.T) {
		schema := string(byID["verdict.judge/1"].Schema.JSON)
		assert.ElementsMatch(t, []string{"Ada", "Ben"}, stage.LabelsIn([]byte(schema)))
		assert.NotContains(t, schema, "participant's name")
		assert.NotContains(t, schema, `"additionalProperties":{`)
	})
	t.Run("all but the last message is the beginning of the next request", func(t *testing.T) {
		for _, name := range []string{"Ada", "Ben"} {
			var former string
			for _, call := range []string{"r1.opening.", "r2.rebuttal.", "r3.closing."} {
				req := byID[call+name+"/1"]
				req.Last = provider.Message{}
				var all strings.Builder
				for role, text := range req.Chat() {
					all.WriteString(string(role) + text)
				}
				assert.True(t, strings.HasPrefix(all.String(), former), "%s%s", call, name)
				former = all.String()
			}
		}
	})
}
