package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// A worker dies with a call in flight, and within its lease another process ends the debate. Nobody records what the call has cost: no worker
// looks for a debate that is over. It counts all the same.
func TestACancelCountsTheCallsOfADeadProcess(t *testing.T) {
	for name, signal := range map[string]flow.Signal{"cancel": flow.Cancel{}, "pause": flow.Pause{}, "drained pause": flow.Pause{Drain: true}} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Slow("Ada", time.Hour)
				worker, front := join(), join()
				session := worker.Begun()
				stage.Pass(time.Second)
				reserved := c.Record(session.ID()).Reserved()
				require.Positive(t, reserved)
				worker.Die()
				require.NoError(t, front.Control(t.Context(), session.ID(), signal))
				stage.Pass(time.Hour)

				record := c.Record(session.ID())
				want := flow.Unsettled{AtMost: reserved, BrokenOff: 1}
				assert.Equal(t, want, record.Spent().Unsettled)
				assert.Zero(t, record.Spent().Cost)
				assert.Equal(t, 1, record.Spent().Requests)
				assert.Zero(t, record.Reserved())
				assert.Equal(t, want, flow.SpentByLabel("tenant", record)[0].Unsettled)
				d, ok := debate.Of(record)
				require.True(t, ok)
				assert.Equal(t, want, d.Outcome().Unsettled)
				for info, err := range c.Store.List(t.Context(), store.Filter{}) {
					require.NoError(t, err)
					assert.Equal(t, want, info.Unsettled)
				}
			})
		})
	}
}
