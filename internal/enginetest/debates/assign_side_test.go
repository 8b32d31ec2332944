package debates_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Whoever finds positions is told for whom, by name and side, and the positions land there.
func TestPositionsAreFoundForNamesAndSides(t *testing.T) {
	for _, name := range []string{format.Oxford, format.LincolnDouglas, format.KarlPopper, format.DevilsAdvocate, format.DialecticalInquiry} {
		t.Run(name, func(t *testing.T) {
			f := stage.Builtin(t, name)
			config := stage.CastFor(f)
			config.AssignPositions = &debate.AssignPositions{Model: "test/planner", Diversity: debate.Binary}
			var answer debate.PositionPlan
			var open strings.Builder
			want := map[string]string{}
			for i, p := range config.Participants {
				if !f.Judged(p.Side) {
					continue
				}
				fmt.Fprintf(&open, "- %s (%s)\n", p.Name, p.Side)
				want[p.Name] = fmt.Sprintf("Thesis%d reason%d ground%d is %s.", i, i, i, p.Side)
				answer.Positions = append(answer.Positions, debate.PlannedPosition{
					Participant: p.Name, Side: string(p.Side), Position: want[p.Name], Persona: "A planner", KeyArguments: []string{"air"},
				})
			}
			answer.Reasoning = "They collide."
			engine, source := stage.Ready(config)
			reply := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema != nil && req.Schema.Name == "assign" {
					return scripted.Reply{Text: stage.JSON(answer)}
				}
				return reply(req)
			}
			stage.Run(t, engine, config)
			asked := source.Requests()[0].Last.Text
			assert.Contains(t, asked, "Still without a position:\n\n"+open.String())
			assert.Contains(t, asked, "It suits its speaker: the side and the persona, where they are given.")
			assert.Contains(t, asked, "How it works: "+f.Guidance+"\n")
			prompts := systems(source)
			for _, p := range config.Participants {
				if position, ok := want[p.Name]; ok {
					require.Regexp(t, fmt.Sprintf(`\nYour side: %s( \(speaker \d\))?\n\nYour position: %s\n`, p.Side, regexp.QuoteMeta(position)), prompts[p.Name])
				}
			}
		})
	}
}

// Without sides nothing is said of them.
func TestPositionsAreFoundWithoutSides(t *testing.T) {
	config := stage.Unplaced(1, 2)
	config.AssignPositions.Diversity = debate.Binary
	engine, p := stage.Engine(config)
	asked := stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)))
	stage.Run(t, engine, config)
	assert.Contains(t, asked()[0].Last.Text, "Still without a position:\n\n- Ben\n- Cyd\n")
}

// A position against the side of its speaker is asked for again, and the schema that is sent has the speakers' names.
func TestAPositionAgainstItsSpeakersSideIsNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Rounds, config.AssignPositions = 1, &debate.AssignPositions{}
		for i := range config.Participants {
			config.Participants[i].Position = ""
		}
		wrong, right := stage.PlanOf(stage.NoonPosition, stage.QuarterPosition), stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)
		wrong.Positions[0].Participant, wrong.Positions[0].Side = "Ada", "against"
		right.Positions[0].Participant, right.Positions[0].Side = "Ben", "against" // the order is free
		right.Positions[1].Participant, right.Positions[1].Side = "Ada", "for"
		engine, p := stage.Engine(config)
		asked := stage.Planner(p, stage.JSON(wrong), stage.JSON(right))
		record := stage.Run(t, engine, config)
		require.Len(t, record.Rejections, 1)
		assert.Equal(t, []string{`positions[0].side: the side of Ada is "for", and the position takes "against"`}, record.Rejections[0].Problems)
		require.Len(t, asked(), 2)
		assert.Contains(t, string(asked()[0].Schema.JSON), `"enum":["Ada","Ben"]`)
		found := stage.View(record).Assignment.Positions
		require.Len(t, found, 2)
		assert.Equal(t, []string{"Ada", stage.QuarterPosition, "Ben", stage.NoonPosition},
			[]string{found[0].Participant, found[0].Position, found[1].Participant, found[1].Position})
	})
}
