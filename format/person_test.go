package format_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// In every format a person may have each seat. Whether the person is there or gone, the debate comes to its end.
func TestAPersonInEverySeatOfEveryFormat(t *testing.T) {
	for _, f := range format.Builtin() {
		for seat := range stage.CastFor(f).Participants {
			for _, there := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/there %t", f.Name, seat, there), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { debates(t, f, seat, there) })
				})
			}
		}
	}
}

// debates plays a debate in which a person has a seat.
func debates(t *testing.T, f debate.Format, seat int, there bool) {
	t.Helper()
	config := stage.CastFor(f)
	engine, source := stage.Engine(config)
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil {
			return scripted.Reply{Text: `{"vote":"for","reasoning":"so it seems"}`}
		}
		return answer(req)
	}
	p := &config.Participants[seat]
	p.Model, p.Person, p.Term = "", true, flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"}
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	for range 200 {
		if err == nil {
			break
		}
		require.ErrorIs(t, err, flow.ErrAwaitingInput)
		if !there {
			time.Sleep(time.Minute)
		} else {
			for _, q := range record.Inquiries {
				require.Contains(t, q.Question, "It is your turn, "+p.Name)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "A word of mine."}))
			}
		}
		record, err = session.Wait(t.Context())
	}
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, config.Rounds, record.Round)
	own, model := 0, map[bool]string{false: "test/debater"}[there]
	for _, turn := range record.Turns {
		if turn.Speaker == p.Name {
			own++
			assert.Equal(t, model, turn.Model, turn.Call)
		}
	}
	assert.Positive(t, own)
}
