package progress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// TestThing: what somebody makes, and for whom or of whom.
func TestThing(t *testing.T) {
	assert.Equal(t, "question to Ada", progress.Thing("question", "Ada"))
	assert.Equal(t, "answer to Ada", progress.Thing("answer", "Ada"))
	assert.Equal(t, "critique of Ada", progress.Thing("critique", "Ada"))
	assert.Equal(t, "vote", progress.Thing("ballot", ""))
	assert.Equal(t, "rebuttal", progress.Thing("rebuttal", ""))
}
