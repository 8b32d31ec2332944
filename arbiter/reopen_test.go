package arbiter_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Work that was found complete goes on: the arbiter reads how it has ended, and what is to be done further.
func TestWorkGoesOnAfterItsEnd(t *testing.T) {
	read := ""
	engine, _ := engineFor(answers{"d7": func(req *provider.Request) scripted.Reply {
		read = toJSON(req)
		return scripted.Reply{Text: toJSON(picks("Ben"))}
	}})
	original := stage.Run(t, engine, config())
	before := toJSON(original)
	session, err := engine.Reopen(t.Context(), original.ID, flow.Reopening{Rounds: 2, Ask: "Add a test."})
	require.NoError(t, err)
	record := stage.Ended(t, session)
	w, ok := arbiter.Of(record)
	require.True(t, ok)
	assert.Equal(t, "d1 select[Ada]\nd2 select[Ben]\nd4 select[Ada]\nd6 complete[]\nd7 select[Ben]\nd8 complete[]\n"+
		"r1.Ada success\nr2.Ben success\nr3.Ada success\nr4.Ben success\n0/0 failures\ncompleted complete", said(w))
	assert.Contains(t, read, "All is done.")
	assert.Contains(t, read, "Add a test.")
	after, err := engine.Record(t.Context(), original.ID)
	require.NoError(t, err)
	assert.Equal(t, before, toJSON(after), "the original stays as it is")

	rounds, refused := 0, errors.New("too many")
	asked := flow.Expecting(t.Context(), "", flow.Expected{Holds: func(r *flow.Record) error {
		rounds = r.Settings().Rounds
		return refused
	}})
	_, err = engine.SubmitReopening(asked, original.ID, flow.Reopening{Rounds: 2})
	require.ErrorIs(t, err, refused)
	assert.Equal(t, len(workOf(t, original).Executions())+2, rounds, "whoever is asked sees what the flow has made of the request")

	for field, o := range map[string]flow.Reopening{"rounds": {}, "to": {Rounds: 1, To: "Ada"}} {
		_, err := engine.Reopen(t.Context(), original.ID, o)
		assert.Equal(t, field, stage.RequireKind(t, err, provider.KindValidation).Field)
	}
}

// Work that was stopped in the middle of an execution goes on a day later, although an amendment has lowered its number of executions, and
// although its time is bounded.
func TestStoppedWorkGoesOnADayLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.MaxIterations, c.Budget = 4, &flow.Budget{HardTime: time.Hour}
		engine, p := engineFor(nil)
		stage.Slowly(p)
		session := stage.Started(t, engine, c)
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(2)}))
		stage.Pass(3 * time.Second) // in the second execution
		require.NoError(t, session.Stop(t.Context()))
		first := stage.Ended(t, session)
		require.Len(t, workOf(t, first).Executions(), 2)
		stage.Pass(24 * time.Hour)
		again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 2})
		require.NoError(t, err)
		w := workOf(t, stage.Ended(t, again))
		require.NoError(t, again.Close())
		assert.Equal(t, flow.StateCompleted, w.State)
		assert.Len(t, w.Executions(), 3, "after a further one the arbiter finds the task complete")
	})
}
