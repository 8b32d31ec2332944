package debate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

// The schedules of the formats: which phase each round is, in debates of one to six rounds.
func TestSchedules(t *testing.T) {
	var b strings.Builder
	for _, format := range debate.BuiltinFormats() {
		fmt.Fprintf(&b, "%s, ends by %s\n", format.Name, format.End)
		for rounds := 1; rounds <= 6; rounds++ {
			var phases []string
			for round := 1; round <= rounds; round++ {
				phases = append(phases, format.Phase(round, rounds).Name)
			}
			fmt.Fprintf(&b, "  %d: %s\n", rounds, strings.Join(phases, ", "))
		}
	}
	golden(t, "format_schedules.golden", b.String())
}

// A debate that nothing ends earlier is spoken as its format's schedule says.
func TestADebateFollowsItsSchedule(t *testing.T) {
	for _, format := range debate.BuiltinFormats() {
		for rounds := 1; rounds <= 6; rounds++ {
			config := twoDebaters()
			config.Format, config.Rounds = format.Name, rounds
			engine, source := engineFor(config)
			record := run(t, engine, config)
			require.Equal(t, rounds, record.Round, "%s of %d", format.Name, rounds)
			require.Len(t, record.Turns, 2*rounds)
			for _, turn := range record.Turns {
				assert.EqualValues(t, format.Phase(turn.Round, rounds).Name, turn.Kind)
			}
			for _, request := range source.Requests() {
				if request.Schema == nil {
					round := len(request.Messages)/2 + 1
					assert.Contains(t, request.Last.Text, format.Phase(round, rounds).Instruction)
				}
			}
		}
	}
}

func TestFormatsAreFreshValues(t *testing.T) {
	first := debate.BuiltinFormats()
	first[0].Phases[0].Name, first[1].Name = "changed", "changed"
	assert.NotEqual(t, first, debate.BuiltinFormats())
	config := twoDebaters()
	engine, _ := engineFor(config)
	assert.EqualValues(t, "opening", run(t, engine, config).Turns[0].Kind)
}

func TestPhasesOfOnesOwn(t *testing.T) {
	format := debate.Format{Name: "own", End: debate.EndByRounds, Phases: []debate.Phase{
		{Name: "toast", First: -1, Last: -1}, {Name: "soup", First: 1, Last: 2}, {Name: "roast", First: 2, Last: -3},
	}}
	phases := func(rounds int) (out []string) {
		for round := 1; round <= rounds; round++ {
			out = append(out, format.Phase(round, rounds).Name)
		}
		return out
	}
	assert.Equal(t, []string{"toast"}, phases(1))
	assert.Equal(t, []string{"soup", "soup", "roast", "argument", "toast"}, phases(5), "a round that no phase covers is an argument")

	config := twoDebaters()
	config.Format, config.CustomFormat, config.Rounds = "", &format, 5
	engine, _ := engineFor(config)
	var spoken []string
	for _, turn := range run(t, engine, config).Turns {
		if turn.Slot == 0 {
			spoken = append(spoken, string(turn.Kind))
		}
	}
	assert.Equal(t, phases(5), spoken)
}

// A format of the engine's is known by its name there, and its own end rule holds.
func TestAFormatOfTheEngine(t *testing.T) {
	config := twoDebaters()
	config.Format, config.Rounds = "duel", 4
	engine, _ := engineFor(config)
	engine.Formats = map[string]debate.Format{"duel": {
		Name: "ignored", MinParticipants: 2, MaxParticipants: 2, Phases: []debate.Phase{{Name: "shot", First: 1, Last: -1}}, End: debate.EndByRounds,
	}}
	record := run(t, engine, config)
	assert.Equal(t, "duel", record.Format().Name)
	assert.Equal(t, 4, record.Round)
	assert.EqualValues(t, "shot", record.Turns[0].Kind)
}
