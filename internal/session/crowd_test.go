package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// TestACrowdOfDebates: so many debates at once that workers step their judges' answers. Each ends as it would alone, and
// nothing of the workers is left.
func TestACrowdOfDebates(t *testing.T) {
	t.Parallel()
	want := stage.Undisturbed(t, stage.TwoDebaters())
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		sessions := make([]*debate.Session, 200)
		for i := range sessions {
			config := stage.TwoDebaters()
			config.ID = fmt.Sprintf("crowd-%d", i)
			var err error
			sessions[i], err = engine.Start(t.Context(), config)
			require.NoError(t, err)
		}
		for _, session := range sessions {
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, want, stage.Canonical(t, record))
			require.NoError(t, session.Close())
		}
	})
}
