package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// In every format a person may have each seat, where the speakers of a round speak in turn and where they speak at once. Whether the person
// is there, late or gone, the debate comes to its end, and to a verdict.
func TestAPersonInEverySeatOfEveryFormat(t *testing.T) {
	for _, f := range format.Builtin() {
		for seat := range stage.CastFor(f).Participants {
			for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
				for _, presence := range []string{"there", "late", "gone"} {
					t.Run(fmt.Sprintf("%s/%d/%s/%s", f.Name, seat, mode, presence), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { debates(t, f, seat, mode, presence) })
					})
				}
			}
		}
	}
}

// debates plays a debate in which a person has a seat.
func debates(t *testing.T, f debate.Format, seat int, mode debate.Mode, presence string) {
	t.Helper()
	config := stage.CastFor(f)
	config.Mode, config.Judging = mode, &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}}
	engine, _ := stage.Ready(config)
	p := &config.Participants[seat]
	p.Model, p.Person, p.Term = "", true, flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"}
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	for range 200 {
		if err == nil {
			break
		}
		require.ErrorIs(t, err, flow.ErrAwaitingInput)
		if presence != "there" {
			stage.Pass(2 * time.Minute)
		}
		for _, q := range record.Inquiries {
			require.Contains(t, q.Question, "It is your turn, "+p.Name)
			answer := flow.Answer{Inquiry: q.ID, Text: pointOf(q.ID)}
			switch presence {
			case "there":
				require.NoError(t, session.Answer(t.Context(), answer))
			case "late":
				var first *flow.AnsweredError
				require.ErrorAs(t, session.Answer(t.Context(), answer), &first)
				assert.Equal(t, flow.OptionStandIn, first.Answer.Option)
			default:
			}
		}
		record, err = session.Wait(t.Context())
	}
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, config.Rounds, record.Round)
	assert.NotEmpty(t, stage.View(record).Verdicts)
	own, model := 0, map[bool]string{false: "test/debater"}[presence == "there"]
	for _, turn := range record.Turns {
		if turn.Speaker == p.Name {
			own++
			assert.Equal(t, model, turn.Model, turn.Call)
		}
	}
	assert.Positive(t, own)
}

// pointOf makes words that no other speech has, so that no detector ends the debate.
func pointOf(call string) string {
	var words []string
	for part := range slices.Chunk([]byte(flow.HashOf([]byte(call))), 4) {
		words = append(words, string(part))
	}
	return strings.Join(words, " ")
}
