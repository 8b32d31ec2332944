package progress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// TestActivity: what somebody does reads behind "is", with a target and without.
func TestActivity(t *testing.T) {
	assert.Equal(t, "asking Ada", progress.Activity("question", "Ada"))
	assert.Equal(t, "answering Ada", progress.Activity("answer", "Ada"))
	assert.Equal(t, "opening", progress.Activity("opening", ""))
	assert.Equal(t, "arguing", progress.Activity("argument", ""))
	assert.Equal(t, "speaking (rebuttal)", progress.Activity("rebuttal", ""))
}
