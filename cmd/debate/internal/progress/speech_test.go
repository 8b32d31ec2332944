package progress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// TestQuestionsAreRead: what agents ask is a list, not JSON.
func TestQuestionsAreRead(t *testing.T) {
	for data, want := range map[string]string{
		`{"questions":["Why?","For **whom**?"]}`: "- Why?\n- For **whom**?",
		`{"questions":[]}`:                       "Nothing is unclear.",
	} {
		turn := &flow.Turn{Speaker: "ada", Kind: deliberation.KindQuestion, Text: data, Data: []byte(data)}
		got, ok := progress.SpeechOf(turn, func(id string) string { return id })
		assert.True(t, ok)
		assert.Equal(t, want, got.Text)
	}
}
