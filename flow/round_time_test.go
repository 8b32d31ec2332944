package flow_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A log that was altered may hold calls that were left out and that the round was not planned with. After a retry they are still to
// come, and the time of the round is shared all the same.
func TestTheTimeOfARoundThatWasNotPlanned(t *testing.T) {
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		for _, name := range r.Active() {
			id := fmt.Sprintf("r%d.%s", r.Round, name)
			if !r.Done(id) {
				return []*flow.Call{{ID: id, Kind: "word", By: name, Model: stage.ModelOf(r, name), Round: r.Round}} // one after the other
			}
		}
		return nil
	})
	f.Timed = []debate.State{stage.Asks}
	f.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 2}}, true
	}}
	engine, _, config := stage.WithFlow(f)
	config.RoundTimeout, config.TurnTimeout = 1000*time.Hour, 1000*time.Hour
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	log, last := stage.StoredLog{Events: h.Log}.Copied(t), h.Log[len(h.Log)-1]
	for _, body := range []flow.Body{
		&flow.Skipped{Call: "r2.x", Kind: "word", By: "Ada", Round: 2, Reason: "the time was over"},
		&flow.Skipped{Call: "r2.y", Kind: "word", By: "Ben", Round: 2, Reason: "the time was over"},
		&flow.Round{N: 2, Of: 2},
		&flow.Transition{
			From: stage.Asks, To: flow.StateError, On: flow.TriggerFail, Reason: flow.EndFailed, Evidence: "no",
			Failure: &flow.Error{Kind: provider.KindRefusal},
		},
	} {
		log = append(log, flow.Event{Seq: int64(len(log)) + 1, At: last.At, Body: body})
	}
	core := stage.CoreOf(t, engine, "test", log)
	_, err := core.Step(flow.Input{At: last.At, Signal: flow.Retry{}})
	require.NoError(t, err)
	assert.True(t, core.Record().Asking("r2.Ada"))
}
