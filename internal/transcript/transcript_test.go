package transcript_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// TestTheBoundHoldsTheMarkers: a message is never longer than its bound, with a label and without one.
func TestTheBoundHoldsTheMarkers(t *testing.T) {
	for _, m := range []provider.Message{
		{Speaker: "Ada", Text: "Why?", Fence: "1234567890123456"},
		{Speaker: "Ada", Label: "round 2, question to Ben", Text: "Why?", Fence: "1234567890123456"},
		{Speaker: "||||||||||||||||||||||||||||||||", Label: "round 2, |||||||||||||||||||||||||||||||||||||||", Text: "Why?", Fence: "1234567890123456"},
		{Speaker: "<<<<<<<<<<<<<<<<>>>>>>>>>>>>>>>>", Text: "Why?", Fence: "1234567890123456"},
		{Speaker: "<|><|><|><|><|><|><|><|><|><|><|>", Label: "round 2, <<<<<<<<<<<<<<<<>>>>>>>>>>>>>>>>", Text: "Why?", Fence: "1234567890123456"},
	} {
		assert.LessOrEqual(t, len(m.Enclosed()), transcript.Bound(&m), "%+v", m)
	}
}

// TestLabelsHideNames: a view shows neutral names of speakers and in texts. What a turn is it shows as it is told.
func TestLabelsHideNames(t *testing.T) {
	v := &transcript.View{Labels: &text.Labels{Names: []string{"Ada", "Ben"}, Labels: []string{"Speaker B", "Speaker A"}}}
	v.Add(0, 2, "Ada", "round 2, question to Speaker A", "Why, Ben?", "1234567890123456", nil, 0)
	assert.Equal(t, "<<<1234567890123456 round 2, question to Speaker A | Speaker B>>>\nWhy, Speaker A?\n<<<end 1234567890123456>>>",
		v.Messages[0].Enclosed())
}
