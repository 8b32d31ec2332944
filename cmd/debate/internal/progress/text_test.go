package progress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// TestWrap: a line breaks between words, and a word that is too long stays whole.
func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"debate resume", "cafe12345678", "continues  it."}, progress.Wrap("debate resume cafe12345678 continues  it.", 14))
	assert.Equal(t, []string{"猫猫猫 猫", "猫"}, progress.Wrap("猫猫猫 猫 猫", 9))
	assert.Equal(t, []string{"as it is"}, progress.Wrap("as it is", 0))
	assert.Equal(t, []string{""}, progress.Wrap("", 80))
}
