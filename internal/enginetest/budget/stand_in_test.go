package budget_test

import (
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

// Where a model can stand in for a person, a budget counts, and keeps back, what that model would be asked: as much as if it had the seat.
func TestWhatIsKeptBackForAStandIn(t *testing.T) {
	const model = "test/judge"
	term := flow.Term{Within: flow.Duration(time.Hour), StandIn: model}
	judged := func(judge debate.JudgeConfig) debate.Config {
		config := stage.TwoDebaters()
		judge.Name = "Pat"
		config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{judge}, Rubric: debate.DefaultRubric()}
		return config
	}
	voted := func(voter debate.Member) debate.Config {
		config := stage.TwoDebaters()
		voter.Name = "Mo"
		config.Audience = &debate.Audience{Members: []debate.Member{voter}}
		return config
	}
	chaired := func(floor debate.Floor) debate.Config {
		config := stage.Crew(3)
		config.Floor = &floor
		return config
	}
	estimated := func(config debate.Config) flow.Estimate {
		engine, _ := stage.Engine(config)
		return stage.Estimated(t, engine, config)
	}
	byModel, byPerson := judged(debate.JudgeConfig{Model: model}), judged(debate.JudgeConfig{Person: true, Term: term})
	for name, both := range map[string][]debate.Config{
		"a judge": {byModel, byPerson},
		"a voter": {voted(debate.Member{Model: model}), voted(debate.Member{Person: true, Term: term})},
		"a chair": {chaired(debate.Floor{Model: model}), chaired(debate.Floor{Person: true, Term: term})},
	} {
		assert.Equal(t, estimated(both[0]), estimated(both[1]), name)
	}

	tokens := 2 * estimated(byModel).WholeTokens
	refused := func(config debate.Config) string { // when a note is, and why
		config.Budget = &debate.Budget{HardTokens: tokens, SoftTokens: tokens}
		engine, _ := stage.Engine(config)
		engine.Seed = stage.PinnedSeed
		s := stage.BegunBy(t, engine, config)
		for i := range 50 {
			note := flow.Note{ID: fmt.Sprint("n", i), Text: strings.Repeat("word ", 4000)}
			if _, err := s.Step(flow.Input{At: s.At, Signal: note}); err != nil {
				require.ErrorContains(t, err, "leaves the conclusion no room")
				return fmt.Sprint(i, ": ", err)
			}
		}
		return ""
	}
	why := refused(byModel)
	assert.NotEmpty(t, why)
	assert.Equal(t, why, refused(byPerson))
}
