package log_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
)

// TestAForkHasTheVersionOfItsTexts: a fork of an older log gets the texts of this version of the flow, and with them its rules. The original
// keeps its own.
func TestAForkHasTheVersionOfItsTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		id, err := engine.Import(t.Context(), bytes.NewReader(storedLogs(t)["sequential"]))
		require.NoError(t, err)
		former := stage.StoredRecord(t, engine, id)
		require.Equal(t, 1, former.Start().FlowVersion)
		require.NotEmpty(t, stage.View(former).Text("verdict.judge"))

		session, err := engine.Fork(t.Context(), id, 3, nil)
		require.NoError(t, err)
		defer session.Close()
		record := stage.Ended(t, session)
		assert.Equal(t, debate.DebateFlow().Version, record.Start().FlowVersion)
		assert.NotEmpty(t, stage.View(record).Text("ask.verdict"))
		assert.Empty(t, stage.View(record).Text("verdict.judge"))
		for _, req := range p.Requests() {
			if req.Schema != nil && stage.KindOf(&req) == debate.KindAssessment {
				assert.NotContains(t, string(req.Schema.JSON), `"recommendations"`)
			}
		}
	})
}
