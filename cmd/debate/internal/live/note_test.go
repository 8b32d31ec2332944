package live_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
)

// TestPausingEnds: what was asked for is shown until it has happened.
func TestPausingEnds(t *testing.T) {
	s := critiquing(newScreen(true)).press("p")
	assert.Contains(t, s.frame(), "Pausing")
	s.happen(&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause})
	assert.NotContains(t, s.frame(), "Pausing")
}
