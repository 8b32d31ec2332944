package deliberation_test

import (
	"encoding/json"
	"testing"

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
