package deliberation_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A deliberation goes on after its solution, twice, however that is made: the agents read it, and each solution stands in the record.
func TestADeliberationGoesOnAfterItsSolution(t *testing.T) {
	for _, synthesis := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge} {
		config := three()
		config.Synthesis = synthesis
		engine, p := engineFor(nil)
		original := play(t, engine, config)
		before := toJSON(original)
		id := original.ID
		for i := 1; i <= 2; i++ {
			session, err := engine.Reopen(t.Context(), id, flow.Reopening{Rounds: 1, Ask: "What of Mars?"})
			require.NoError(t, err, synthesis)
			record := stage.Ended(t, session)
			require.NoError(t, session.Close())
			id = record.ID
			d := view(record)
			assert.Equal(t, flow.StateCompleted, d.State, synthesis)
			assert.Equal(t, 2+i, d.Round, synthesis)
			solution, by, ok := d.Solution()
			require.True(t, ok, synthesis)
			require.Len(t, d.Earlier, i, synthesis)
			last := d.Earlier[i-1]
			assert.Equal(t, 1+i, last.Round, synthesis)
			assert.Equal(t, by, last.By, synthesis)
			require.NotNil(t, last.Solution, synthesis)
			assert.NotEqual(t, solution.Description, last.Solution.Description, "each names its own call")
			require.Len(t, d.Notes, i, synthesis)
			assert.Contains(t, d.Notes[i-1].Text, last.Solution.Description, synthesis)
			var shown struct {
				Earlier []deliberation.Concluded `json:"earlier"`
			}
			require.NoError(t, json.Unmarshal([]byte(toJSON(d)), &shown))
			assert.Len(t, shown.Earlier, i, synthesis)
		}
		read := 0
		for _, req := range p.Requests() {
			if callOf(&req) == "r3.refine.ada" {
				read++
				assert.Contains(t, toJSON(req), "What of Mars?", synthesis)
			}
		}
		assert.Equal(t, 1, read, synthesis)
		after, err := engine.Record(t.Context(), original.ID)
		require.NoError(t, err)
		assert.Equal(t, before, toJSON(after), "the original stays as it is")
		for field, o := range map[string]flow.Reopening{"rounds": {}, "to": {Rounds: 1, To: "ada"}} {
			_, err := engine.Reopen(t.Context(), original.ID, o)
			assert.Equal(t, field, stage.RequireKind(t, err, provider.KindValidation).Field)
		}
	}
}

// A deliberation that was stopped in the middle of a round goes on a day later, although an amendment has lowered its number of rounds, and
// although its time is bounded.
func TestAStoppedDeliberationGoesOnADayLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Rounds, config.Budget = 3, &flow.Budget{HardTime: time.Hour}
		engine, p := engineFor(nil)
		stage.Slowly(p)
		session := stage.Started(t, engine, config)
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(2)}))
		stage.Pass(time.Second) // in the critiques
		require.NoError(t, session.Stop(t.Context()))
		first := stage.Ended(t, session)
		require.Equal(t, 1, first.Round)
		stage.Pass(24 * time.Hour)
		again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 2})
		require.NoError(t, err)
		d := view(stage.Ended(t, again))
		require.NoError(t, again.Close())
		assert.Equal(t, []any{flow.StateCompleted, 3, ""}, []any{d.State, d.Round, d.EndedEarlyBy})
		_, _, ok := d.Solution()
		assert.True(t, ok)
		require.Len(t, d.Earlier, 1)
		assert.NotNil(t, d.Earlier[0].Solution)
	})
}
