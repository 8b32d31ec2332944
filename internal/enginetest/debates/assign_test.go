package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

const (
	trainPosition = "Build the trains first, and ask again in a decade."
)

// systems yields the system prompts by who was asked.
func systems(p *scripted.Provider) map[string]string {
	out := map[string]string{}
	for _, req := range p.Requests() {
		out[req.Self] = req.System
	}
	return out
}

func TestPositionsAreFoundByTheJudgesModelUnlessAnotherIsSet(t *testing.T) {
	cool := 0.1
	for name, tc := range map[string]struct {
		assign      debate.AssignPositions
		model       string
		temperature float64
		says        string
	}{
		"by default":   {debate.AssignPositions{}, "judge", 0.9, "Different angles"},
		"as given":     {debate.AssignPositions{Model: "test/planner", Diversity: debate.Binary, Temperature: &cool}, "planner", 0.1, "Two camps"},
		"spectrum":     {debate.AssignPositions{Diversity: debate.Spectrum}, "judge", 0.9, "From one end of opinion"},
		"perspectives": {debate.AssignPositions{Diversity: debate.MultiPerspective}, "judge", 0.9, "Different angles"},
		"cold":         {debate.AssignPositions{Temperature: new(float64)}, "judge", 0, "Different angles"},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Unplaced(1, 1)
			config.AssignPositions = &tc.assign
			engine, p := stage.Engine(config)
			asked := stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
			record := stage.Run(t, engine, config)
			require.Len(t, asked(), 1)
			req := asked()[0]
			assert.Equal(t, tc.model, req.Model)
			require.NotNil(t, req.Temperature)
			assert.InDelta(t, tc.temperature, *req.Temperature, 0)
			assert.Contains(t, req.Last.Text, tc.says)
			assert.Contains(t, req.Last.Text, config.Topic)
			assert.Contains(t, req.Last.Text, `- "positions": for each of "Ben":`)
			assert.Contains(t, req.Last.Text, config.Participants[0].Position, "what is taken is said")
			assert.Empty(t, req.Messages)
			assert.Equal(t, "test/"+tc.model, stage.View(record).Assignment.Model)
			assert.Positive(t, int64(record.SpentByParticipant()[0].Usage.Output))
			assert.Equal(t, "assigner", record.SpentByParticipant()[0].Name)
			assert.Equal(t, 1, record.SpentInRound(0).Requests, "it is outside the rounds")
		})
	}
}

func TestExactlyOnePositionForEachParticipantWithoutOne(t *testing.T) {
	all := []string{stage.NoonPosition, stage.QuarterPosition, trainPosition}
	for _, tc := range []struct{ given, open int }{{0, 2}, {0, 3}, {1, 1}, {1, 2}, {2, 1}, {3, 3}} {
		t.Run(fmt.Sprintf("%d of %d", tc.open, tc.given+tc.open), func(t *testing.T) {
			config := stage.Unplaced(tc.given, tc.open)
			engine, p := stage.Engine(config)
			asked := stage.Planner(p, stage.JSON(stage.PlanOf(all[:tc.open]...)))
			record := stage.Run(t, engine, config)
			require.Len(t, asked(), 1)
			require.NotNil(t, stage.View(record).Assignment)
			require.Len(t, stage.View(record).Assignment.Positions, tc.open)
			assert.Equal(t, "They collide.", stage.View(record).Assignment.Reasoning, "the reasoning is recorded")
			prompts := systems(p)
			for i, who := range config.Participants {
				want := who.Position
				if i >= tc.given {
					found := stage.View(record).Assignment.Positions[i-tc.given]
					assert.Equal(t, who.Name, found.Participant)
					want = all[i-tc.given]
					assert.Equal(t, want, found.Position)
					assert.Contains(t, prompts[who.Name], "Your persona, in whose voice you speak: "+found.Persona)
					assert.Contains(t, prompts[who.Name], "What you may build on:\n\n- "+found.KeyArguments[0]+"\n- air\n", "they reach the debater")
				} else {
					assert.NotContains(t, prompts[who.Name], "What you may build on")
					assert.NotContains(t, prompts[who.Name], "A planner of", "given ones are kept")
				}
				assert.Contains(t, prompts[who.Name], "Your position: "+want+"\n")
				for _, other := range config.Participants {
					if other.Name != who.Name {
						assert.Contains(t, prompts[other.Name], want, "the others know it")
					}
				}
				assert.Contains(t, prompts["judge"], want, "and so does the judge")
			}
			for who, text := range prompts {
				assert.NotRegexp(t, `[\x{E000}-\x{F8FF}]`, text, "%s: nothing is left open", who)
			}
		})
	}
}

func TestNobodyLooksForPositionsThatAreThere(t *testing.T) {
	config := stage.Unplaced(2, 0)
	engine, p := stage.Engine(config)
	asked := stage.Planner(p, "never")
	record := stage.Run(t, engine, config)
	assert.Empty(t, asked())
	assert.Nil(t, stage.View(record).Assignment)
}

// Who leads the talk holds no position.
func TestTheChairGetsNoPosition(t *testing.T) {
	config := stage.Unplaced(0, 3)
	config.CustomFormat = &debate.Format{
		Name: "chaired", Chair: debate.Neutral, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{{Who: format.TheChair}, {Who: format.Everyone}}}},
	}
	config.Format = "chaired"
	config.Participants[1].Side = debate.Neutral
	engine, p := stage.Engine(config)
	asked := stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition, trainPosition)))
	record := stage.Run(t, engine, config)
	assert.Contains(t, asked()[0].Last.Text, `for each of "Ada", "Cyd":`)
	require.Len(t, stage.View(record).Assignment.Positions, 2)
	assert.Equal(t, []string{"Ada", "Cyd"}, []string{stage.View(record).Assignment.Positions[0].Participant, stage.View(record).Assignment.Positions[1].Participant})
	assert.NotContains(t, systems(p)["Ben"], "Your position")
}

// Whoever looks for positions is told the format, who the speakers are, and what the host program adds. A persona that is given stays,
// whatever comes back for it.
func TestAssignKnowsFormatAndPersona(t *testing.T) {
	config := stage.Unplaced(1, 1)
	config.Format, config.CustomFormat, config.Language = format.RoundLimited, nil, "German"
	config.Participants[0].Persona = "A mayor"
	config.Participants[1].Persona = "A tired nurse\nof " + strings.Repeat("many ", 600) + "years" // longer than one that is found may be
	config.AssignPositions.Instructions = "Name no politician."
	engine, p := stage.Engine(config)
	plan := stage.PlanOf(stage.NoonPosition)
	plan.Positions[0].Persona = ""
	asked := stage.Planner(p, stage.JSON(plan))
	record := stage.Run(t, engine, config)
	require.Len(t, asked(), 1)
	text := asked()[0].Last.Text
	assert.Contains(t, text, "\nHow it works: "+stage.Builtin(t, format.RoundLimited).Guidance+"\n")
	assert.Contains(t, text, "\n- Ada: "+config.Participants[0].Position+" – persona: A mayor\n")
	assert.Contains(t, text, "\n- Ben – persona: A tired nurse of many")
	assert.Contains(t, text, "the rules above:\n\nName no politician.\n")
	assert.Contains(t, text, "Write in German, whatever")
	require.NotNil(t, stage.View(record).Assignment)
	assert.Equal(t, config.Participants[1].Persona, stage.View(record).Assignment.Positions[0].Persona)
	assert.Contains(t, systems(p)["Ben"], "in whose voice you speak: A tired nurse\n> of many ")
}

func TestAPersonaThatIsGivenIsKept(t *testing.T) {
	config := stage.Unplaced(1, 1)
	config.Participants[1].Persona = "A tired nurse"
	engine, p := stage.Engine(config)
	stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
	stage.Run(t, engine, config)
	assert.Contains(t, systems(p)["Ben"], "in whose voice you speak: A tired nurse\n")
	assert.Contains(t, systems(p)["Ben"], "Your position: "+stage.NoonPosition)
}

func TestFallbacksOfWhoFindsPositions(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"its own": func(c *debate.Config) {
			c.AssignPositions = &debate.AssignPositions{Model: "test/planner", Fallbacks: []string{"test/spare"}}
		},
		"the judge's": func(c *debate.Config) { c.Judging.Judges[0].Fallbacks = []string{"test/spare"} },
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Unplaced(0, 2)
			change(&config)
			engine, p := stage.Engine(config)
			stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)))
			stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "/assign/") && req.Model != "spare" })
			record := stage.Run(t, engine, config)
			assert.Equal(t, "test/spare", stage.View(record).Assignment.Model)
		})
	}
}

func TestAssignsThatAreRefused(t *testing.T) {
	hot := 2.5
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		field  string
	}{
		"nobody to ask":         {func(c *debate.Config) { c.Judging = nil }, "assignPositions.model"},
		"the judge is no model": {func(c *debate.Config) { c.Judging.Judges[0] = debate.JudgeConfig{Person: true} }, "assignPositions.model"},
		"an unknown provider":   {func(c *debate.Config) { c.AssignPositions.Model = "other/model" }, "assignPositions.model"},
		"an unknown fallback":   {func(c *debate.Config) { c.AssignPositions.Fallbacks = []string{"other/model"} }, "assignPositions.fallbacks[0]"},
		"an unknown diversity":  {func(c *debate.Config) { c.AssignPositions.Diversity = "wild" }, "assignPositions.diversity"},
		"a temperature":         {func(c *debate.Config) { c.AssignPositions.Temperature = &hot }, "assignPositions.temperature"},
		"no price": {func(c *debate.Config) {
			c.AssignPositions.Model = "test/free"
			c.Budget = &debate.Budget{Hard: debate.USD}
		}, "assignPositions.model"},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Unplaced(0, 2)
			tc.change(&config)
			engine, p := stage.Engine(config)
			assert.Equal(t, tc.field, stage.RequireKind(t, engine.Validate(t.Context(), config), provider.KindValidation).Field)
			assert.Zero(t, p.Calls())
		})
	}
}

// A judge from outside is told the positions too.
func TestAJudgeFromOutsideKnowsThePositions(t *testing.T) {
	config := stage.Unplaced(1, 1)
	config.AssignPositions.Model = "test/planner"
	config.Judging.Judges[0] = debate.JudgeConfig{Judge: "friend"}
	engine, p := stage.Engine(config)
	stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
	var task debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"friend": debate.JudgeFunc(func(_ context.Context, given debate.JudgeTask) (json.RawMessage, error) {
		if task = given; given.Kind == debate.KindVerdict {
			return json.RawMessage(stage.Verdict([]string{"Ada", "Ben"})), nil
		}
		return json.RawMessage(stage.Judgement([]string{"Ada", "Ben"}, true)), nil
	})}
	stage.Run(t, engine, config)
	require.Len(t, task.Participants, 2)
	positions := make(map[string]string)
	for _, p := range task.Participants { // in an order drawn for the judge
		positions[p.Name] = p.Position
	}
	assert.Equal(t, map[string]string{"Ada": config.Participants[0].Position, "Ben": stage.NoonPosition}, positions)
}

// A position that a host gives is kept to the letter, whatever it looks like.
func TestAGivenPositionIsKept(t *testing.T) {
	const given = "Streets \uE002position 1\uE002 and {{.Topic}} [[problems]]."
	config := stage.Unplaced(1, 1)
	config.Participants[0].Position = given
	engine, p := stage.Engine(config)
	stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
	stage.Run(t, engine, config)
	assert.NotContains(t, systems(p)["Ada"], "Your position: Streets "+stage.NoonPosition)
	assert.Contains(t, systems(p)["Ada"], "and {{.Topic}} [[problems]].")
}

func TestARestartBetweenTheAssignmentAndTheFirstRound(t *testing.T) {
	config := stage.Unplaced(1, 2)
	engine, p := stage.Engine(config)
	store := &stage.Commits{Memory: &store.Memory{}}
	engine.Store = store
	asked := stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)))
	record := stage.Run(t, engine, config)
	l := stage.LogOf(t, engine, record.ID)
	at := l.Index(t, debate.EventAssigned, 0) + 1
	end := store.Ends[slices.IndexFunc(store.Ends, func(n int) bool { return n >= at })]
	before := systems(p)
	for _, n := range []int{at, end} {
		other := stage.Twin(engine)
		other.Store = nil
		session, err := stage.Restore(t.Context(), other, stage.Snapshot(t, l.ID, l.Events[:n]))
		require.NoError(t, err)
		again := stage.Ended(t, session)
		assert.Equal(t, stage.Canonical(t, record), stage.Canonical(t, again))
		assert.Len(t, asked(), 1, "the positions are not looked for again")
		assert.Equal(t, stage.View(record).Assignment, stage.View(again).Assignment)
		assert.Equal(t, before, systems(p), "the prompts are the same, byte for byte")
		require.NoError(t, session.Close())
	}
}
