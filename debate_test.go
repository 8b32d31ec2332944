package debate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

func TestADebateRunsFromConfigToVerdict(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	record := run(t, engine, config)

	assert.Equal(t, debate.StateCompleted, record.State)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r2 Ada", "r2 Ben", "r3 Ada", "r3 Ben"}, speakers(record))
	assert.Len(t, record.Assessments, 3)
	require.NotNil(t, record.Verdict)
	assert.Equal(t, "Ada", record.Verdict.Winner.Participant)
	for event, err := range engine.Events(t.Context(), record.ID, 0) {
		require.NoError(t, err)
		fmt.Println(event.Seq, event.Kind, toJSON(event)[:min(150, len(toJSON(event)))])
	}
}
