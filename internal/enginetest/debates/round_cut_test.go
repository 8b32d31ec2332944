package debates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
)

// A log that was cut between a transition and the round that it begins lacks that round, whatever comes first: the core begins it
// where the conversation goes on.
func TestALogThatWasCutBeforeARound(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	log := stage.LogOf(t, engine, stage.Run(t, engine, stage.TwoDebaters()).ID)
	for name, inputs := range map[string][]flow.Signal{
		"nothing":                  {flow.Tick{}},
		"a pause":                  {flow.Pause{}, flow.Resume{}},
		"an amendment and a pause": {flow.Amendment{TurnTimeout: new(flow.Duration(time.Minute))}, flow.Pause{}, flow.Resume{}},
	} {
		t.Run(name, func(t *testing.T) {
			cuts, own := 0, kernel.Of(t, engine)
			for i, e := range log.Events {
				round := body.As[flow.Round](e)
				if round == nil {
					continue
				}
				cuts++
				core, err := own.NewCore(log.ID, log.Copied(t)[:i])
				require.NoError(t, err)
				var events []debate.Event
				for _, signal := range inputs {
					out, err := core.Step(flow.Input{At: e.At, Signal: signal})
					require.NoError(t, err)
					events = append(events, out.Events...)
					again, err := own.NewCore(log.ID, append(log.Copied(t)[:i], events...)) // the core is made of the log alone
					require.NoError(t, err)
					core = again
				}
				assert.Equal(t, round.N, core.Record().Round)
				assert.Equal(t, 1, core.Record().InFlight())
				begun := 0
				for _, e := range events {
					if body.As[flow.Round](e) != nil {
						begun++
					}
				}
				assert.Equal(t, 1, begun)
			}
			assert.Equal(t, 3, cuts)
		})
	}
}
