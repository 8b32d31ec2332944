package debate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// overdue lets the time pass until the part of the call in flight is over.
func overdue(s *stage.Stepper) {
	s.At = s.Feed(flow.Tick{}).Wait
	s.Feed(flow.Tick{})
}

// Each decision who speaks is a part of the round's time: whoever takes long leaves the others theirs.
func TestADecisionIsAPartOfTheRound(t *testing.T) {
	config := chaired(debate.Floor{Model: "test/debater"})
	config.Participants = append(config.Participants, debate.Participant{Name: "Dan", Model: "test/debater", Position: "Ask the shops."})
	config.RoundTimeout = 8 * time.Minute
	s := stage.Begun(t, config)
	gives(s, 1, "Ada")
	s.Says(stage.AdasOpening, 1)
	gives(s, 1, "Ben")
	overdue(s)
	require.True(t, s.Record().Skipped(stage.BensOpening))
	gives(s, 1, "Cid")
	s.Says("r1.opening.Cid", 1)
	s.Says("r1.opening.Dan", 1)
	assert.Equal(t, []string{"r1 Ada", "r1 Cid", "r1 Dan"}, stage.Speakers(s.Record()))
	assert.Equal(t, 2, s.Record().Round)
}

// So is each answer out of turn.
func TestAnAnswerOutOfTurnIsAPartOfTheRound(t *testing.T) {
	config := freely()
	config.Participants = append(config.Participants, debate.Participant{Name: "Cid", Model: "test/debater", Position: "Let them decide."})
	config.RoundTimeout = 6 * time.Minute
	s := stage.Begun(t, config)
	s.Feed(question(1))
	s.Feed(question(2))
	s.Says(stage.AdasOpening, 1)
	s.Says("r1.aside.1.Ben", 1)
	s.Says("r1.aside.2.Ben", 1)
	overdue(s)
	require.True(t, s.Record().Skipped(stage.BensOpening))
	s.Says("r1.opening.Cid", 1)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r1 Ben", "r1 Cid"}, stage.Speakers(s.Record()))
	assert.Equal(t, 2, s.Record().Round)
}

// A chair that never decides in time costs its decisions alone, round after round.
func TestAChairThatHangs(t *testing.T) {
	config := chaired(debate.Floor{Model: "test/debater"})
	config.RoundTimeout = 9 * time.Minute
	s := stage.Begun(t, config)
	for len(s.InFlight()) > 0 {
		if call := s.InFlight()[0]; strings.Contains(call.Call, ".floor.") {
			overdue(s)
			require.True(t, s.Record().Skipped(call.Call))
		} else {
			s.Says(call.Call, call.Attempt)
		}
	}
	require.Equal(t, flow.StateCompleted, s.Record().State)
	assert.Len(t, s.Record().Turns, 9)
	assert.Len(t, s.Record().SkippedCalls, 6)
	assert.Contains(t, stage.View(s.Record()).Outcome().Degraded, "Chair has missed a decision who speaks next in round 2 (its time was over)")
}

// Who has no time left for an answer out of turn has missed no round with that.
func TestAnAnswerOutOfTurnThatTakesTooLong(t *testing.T) {
	config := freely()
	config.RoundTimeout = 4 * time.Minute
	s := stage.Begun(t, config)
	s.Says(stage.AdasOpening, 1)
	s.Feed(question(1))
	s.Says(stage.BensOpening, 1)
	overdue(s)
	require.True(t, s.Record().Skipped("r1.aside.1.Ben"))
	require.Equal(t, 2, s.Record().Round)
	s.Says(s.InFlight()[0].Call, 1)
	overdue(s)
	require.Len(t, s.Record().SkippedCalls, 2)
	assert.Equal(t, "Ben", s.Record().SkippedCalls[1].By)
	assert.Equal(t, 3, s.Record().Round)
}
