package debates_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// Everybody is told once in which language to write: in that of the config or, without one, in that of the topic. The topic and the names
// are shown as they are, in any script and direction, and names come back so.
func TestLanguageInEveryPrompt(t *testing.T) {
	for topic, lines := range map[string][]string{
		"Sollen Städte Autos aus der Innenstadt verbannen?": {"Jürgen for", "Zoë against"},
		"都市は中心部から車を締め出すべきか。":                                {"太郎 for", "花子 against"},
		"هل ينبغي منع السيارات من مراكز المدن؟":             {"ليلى for", "דוד against"},
	} {
		for _, language := range []string{"", "Arabic"} {
			t.Run(topic+"/"+language, func(t *testing.T) {
				config := debate.Config{
					Topic: topic, Language: language, Format: format.Oxford, Participants: stage.Actors(lines...),
					Audience:        &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}},
					AssignPositions: &debate.AssignPositions{Model: "test/planner"},
				}
				stage.PanelOf(1)(withJudging(&config))
				engine, source := stage.Ready(config)
				stage.Planner(source, stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)))
				record := stage.View(stage.Run(t, engine, config))

				want := "Write in " + cmp.Or(language, "the language of the topic") + ", whatever these rules are written in."
				kinds := make(map[string]bool)
				for _, req := range source.Requests() {
					all := req.System + "\n" + req.Last.Text
					assert.Equal(t, 1, strings.Count(all, want), req.ID)
					assert.Contains(t, all, topic, req.ID)
					if req.Schema != nil {
						kinds[req.Schema.Name] = true
					}
				}
				for _, kind := range []string{"assign", "ballot", "assessment", "verdict"} {
					assert.True(t, kinds[kind], "nobody was asked for: %s", kind)
				}
				require.NotNil(t, record.Verdict)
				for i, line := range lines {
					name, _, _ := strings.Cut(line, " ")
					assert.Equal(t, name, record.Turns[i].Speaker)
					assert.Contains(t, record.Verdict.Scores, name)
					assert.Equal(t, name, record.Assignment.Positions[i].Participant)
				}
			})
		}
	}
}
