package debate_test

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
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

const (
	noonPosition    = "Close every street at noon, and open them again at night."
	quarterPosition = "Let each quarter vote for itself, once in a year."
	trainPosition   = "Build the trains first, and ask again in a decade."
)

// unplaced is a debate whose last speakers have no position.
func unplaced(given, open int) debate.Config {
	config := crew(given + open)
	for i := given; i < given+open; i++ {
		config.Participants[i].Position = ""
	}
	config.Rounds = 1
	config.Assign = &debate.Assign{}
	return config
}

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
		assign      debate.Assign
		model       string
		temperature float64
		says        string
	}{
		"by default":   {debate.Assign{}, "judge", 0.9, "different angles"},
		"as given":     {debate.Assign{Model: "test/planner", Diversity: debate.Binary, Temperature: &cool}, "planner", 0.1, "two camps"},
		"spectrum":     {debate.Assign{Diversity: debate.Spectrum}, "judge", 0.9, "range of opinion"},
		"perspectives": {debate.Assign{Diversity: debate.MultiPerspective}, "judge", 0.9, "different angles"},
		"cold":         {debate.Assign{Temperature: new(float64)}, "judge", 0, "different angles"},
	} {
		t.Run(name, func(t *testing.T) {
			config := unplaced(1, 1)
			config.Assign = &tc.assign
			engine, p := engineFor(config)
			asked := planner(p, toJSON(plan(noonPosition)))
			record := run(t, engine, config)
			require.Len(t, asked(), 1)
			req := asked()[0]
			assert.Equal(t, tc.model, req.Model)
			require.NotNil(t, req.Temperature)
			assert.InDelta(t, tc.temperature, *req.Temperature, 0)
			assert.Contains(t, req.Last.Text, tc.says)
			assert.Contains(t, req.Last.Text, config.Topic)
			assert.Contains(t, req.Last.Text, "exactly 1 entry")
			assert.Contains(t, req.Last.Text, config.Participants[0].Position, "what is taken is said")
			assert.Empty(t, req.Messages)
			assert.Equal(t, "test/"+tc.model, view(record).Assignment.Model)
			assert.Positive(t, int64(record.SpentByParticipant()[0].Usage.Output))
			assert.Equal(t, "assigner", record.SpentByParticipant()[0].Name)
			assert.Equal(t, 1, record.SpentInRound(0).Requests, "it is outside the rounds")
		})
	}
}

func TestExactlyOnePositionForEachParticipantWithoutOne(t *testing.T) {
	all := []string{noonPosition, quarterPosition, trainPosition}
	for _, tc := range []struct{ given, open int }{{0, 2}, {0, 3}, {1, 1}, {1, 2}, {2, 1}, {3, 3}} {
		t.Run(fmt.Sprintf("%d of %d", tc.open, tc.given+tc.open), func(t *testing.T) {
			config := unplaced(tc.given, tc.open)
			engine, p := engineFor(config)
			asked := planner(p, toJSON(plan(all[:tc.open]...)))
			record := run(t, engine, config)
			require.Len(t, asked(), 1)
			require.NotNil(t, view(record).Assignment)
			require.Len(t, view(record).Assignment.Positions, tc.open)
			assert.Equal(t, "They collide.", view(record).Assignment.Reasoning, "the reasoning is recorded")
			prompts := systems(p)
			for i, who := range config.Participants {
				want := who.Position
				if i >= tc.given {
					found := view(record).Assignment.Positions[i-tc.given]
					assert.Equal(t, who.Name, found.Participant)
					want = all[i-tc.given]
					assert.Equal(t, want, found.Position)
					assert.Contains(t, prompts[who.Name], "Your persona, in whose voice you speak: "+found.Persona)
					assert.Contains(t, prompts[who.Name], "Your key arguments:\n\n- "+found.KeyArguments[0]+"\n- air\n", "they reach the debater")
				} else {
					assert.NotContains(t, prompts[who.Name], "Your key arguments")
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
	config := unplaced(2, 0)
	engine, p := engineFor(config)
	asked := planner(p, "never")
	record := run(t, engine, config)
	assert.Empty(t, asked())
	assert.Nil(t, view(record).Assignment)
}

// Who leads the talk holds no position.
func TestTheChairGetsNoPosition(t *testing.T) {
	config := unplaced(0, 3)
	config.CustomFormat = &debate.Format{
		Name: "chaired", Chair: debate.Neutral, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{{Who: format.TheChair}, {Who: format.Everyone}}}},
	}
	config.Format = "chaired"
	config.Participants[1].Side = debate.Neutral
	engine, p := engineFor(config)
	asked := planner(p, toJSON(plan(noonPosition, trainPosition)))
	record := run(t, engine, config)
	assert.Contains(t, asked()[0].Last.Text, "exactly 2 entries")
	require.Len(t, view(record).Assignment.Positions, 2)
	assert.Equal(t, []string{"Ada", "Cyd"}, []string{view(record).Assignment.Positions[0].Participant, view(record).Assignment.Positions[1].Participant})
	assert.NotContains(t, systems(p)["Ben"], "Your position")
}

func TestAPersonaThatIsGivenIsKept(t *testing.T) {
	config := unplaced(1, 1)
	config.Participants[1].Persona = "A tired nurse"
	engine, p := engineFor(config)
	planner(p, toJSON(plan(noonPosition)))
	run(t, engine, config)
	assert.Contains(t, systems(p)["Ben"], "in whose voice you speak: A tired nurse\n")
	assert.Contains(t, systems(p)["Ben"], "Your position: "+noonPosition)
}

func TestFallbacksOfWhoFindsPositions(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"its own": func(c *debate.Config) {
			c.Assign = &debate.Assign{Model: "test/planner", Fallbacks: []string{"test/spare"}}
		},
		"the judge's": func(c *debate.Config) { c.Judging.Judges[0].Fallbacks = []string{"test/spare"} },
	} {
		t.Run(name, func(t *testing.T) {
			config := unplaced(0, 2)
			change(&config)
			engine, p := engineFor(config)
			planner(p, toJSON(plan(noonPosition, quarterPosition)))
			befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, "/assign/") && req.Model != "spare" })
			record := run(t, engine, config)
			assert.Equal(t, "test/spare", view(record).Assignment.Model)
		})
	}
}

func TestAssignsThatAreRefused(t *testing.T) {
	hot := 2.5
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		field  string
	}{
		"nobody to ask":         {func(c *debate.Config) { c.Judging = nil }, "assign.model"},
		"the judge is no model": {func(c *debate.Config) { c.Judging.Judges[0] = debate.JudgeConfig{Person: true} }, "assign.model"},
		"an unknown provider":   {func(c *debate.Config) { c.Assign.Model = "other/model" }, "assign.model"},
		"an unknown fallback":   {func(c *debate.Config) { c.Assign.Fallbacks = []string{"other/model"} }, "assign.fallbacks[0]"},
		"an unknown diversity":  {func(c *debate.Config) { c.Assign.Diversity = "wild" }, "assign.diversity"},
		"a temperature":         {func(c *debate.Config) { c.Assign.Temperature = &hot }, "assign.temperature"},
		"no price": {func(c *debate.Config) {
			c.Assign.Model = "test/free"
			c.Budget = &debate.Budget{Hard: debate.USD}
		}, "assign.model"},
	} {
		t.Run(name, func(t *testing.T) {
			config := unplaced(0, 2)
			tc.change(&config)
			engine, p := engineFor(config)
			assert.Equal(t, tc.field, requireKind(t, engine.Validate(t.Context(), config), provider.KindValidation).Field)
			assert.Zero(t, p.Calls())
		})
	}
}

// A judge from outside is told the positions too.
func TestAJudgeFromOutsideKnowsThePositions(t *testing.T) {
	config := unplaced(1, 1)
	config.Assign.Model = "test/planner"
	config.Judging.Judges[0] = debate.JudgeConfig{Judge: "friend"}
	engine, p := engineFor(config)
	planner(p, toJSON(plan(noonPosition)))
	var task debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"friend": debate.JudgeFunc(func(_ context.Context, given debate.JudgeTask) (json.RawMessage, error) {
		if task = given; given.Kind == debate.KindVerdict {
			return json.RawMessage(verdict([]string{"Ada", "Ben"})), nil
		}
		return json.RawMessage(judgement([]string{"Ada", "Ben"}, true)), nil
	})}
	run(t, engine, config)
	require.Len(t, task.Participants, 2)
	positions := make(map[string]string)
	for _, p := range task.Participants { // in an order drawn for the judge
		positions[p.Name] = p.Position
	}
	assert.Equal(t, map[string]string{"Ada": config.Participants[0].Position, "Ben": noonPosition}, positions)
}

// A position that a host gives is kept to the letter, whatever it looks like.
func TestAGivenPositionIsKept(t *testing.T) {
	const given = "Streets \uE002position 1\uE002 and {{.Topic}} [[problems]]."
	config := unplaced(1, 1)
	config.Participants[0].Position = given
	engine, p := engineFor(config)
	planner(p, toJSON(plan(noonPosition)))
	run(t, engine, config)
	assert.NotContains(t, systems(p)["Ada"], "Your position: Streets "+noonPosition)
	assert.Contains(t, systems(p)["Ada"], "and {{.Topic}} [[problems]].")
}

func TestARestartBetweenTheAssignmentAndTheFirstRound(t *testing.T) {
	config := unplaced(1, 2)
	engine, p := engineFor(config)
	store := &commits{Memory: &store.Memory{}}
	engine.Store = store
	asked := planner(p, toJSON(plan(noonPosition, quarterPosition)))
	record := run(t, engine, config)
	l := logOf(t, engine, record.ID)
	at := l.index(t, debate.EventAssigned, 0) + 1
	end := store.ends[slices.IndexFunc(store.ends, func(n int) bool { return n >= at })]
	before := systems(p)
	for _, n := range []int{at, end} {
		other := twin(engine)
		other.Store = nil
		session, err := other.Restore(t.Context(), snapshot(t, l.id, l.events[:n]))
		require.NoError(t, err)
		again, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, canonical(t, record), canonical(t, again))
		assert.Len(t, asked(), 1, "the positions are not looked for again")
		assert.Equal(t, view(record).Assignment, view(again).Assignment)
		assert.Equal(t, before, systems(p), "the prompts are the same, byte for byte")
		require.NoError(t, session.Close())
	}
}
