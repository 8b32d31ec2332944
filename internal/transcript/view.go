package transcript

import (
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Add appends a turn.
func (v *View) Add(round int, speaker, content, fence string) {
	m := provider.Message{Speaker: speaker, Text: text.Escape(content, fence), Fence: fence}
	if v.Labels != nil {
		m.Speaker, m.Text = v.Labels.Hide(m.Speaker), text.Escape(v.Labels.Hide(m.Text), fence)
	}
	size := 0
	if n := len(v.Sizes); n > 0 {
		size = v.Sizes[n-1]
	}
	v.Messages = append(v.Messages, m)
	v.Rounds = append(v.Rounds, round)
	v.Sizes = append(v.Sizes, size+Bound(&m))
	v.Batches = append(v.Batches, v.Batch)
}

// Size bounds the tokens of messages[from:upto] by their bytes.
func (v *View) Size(from, upto int) int {
	if upto <= from {
		return 0
	}
	size := v.Sizes[upto-1]
	if from > 0 {
		size -= v.Sizes[from-1]
	}
	return size
}

// Swapped returns the messages with those of each batch in the opposite order. first is the index of the first of
// them.
func (v *View) Swapped(messages []provider.Message, first int) []provider.Message {
	return reversedRuns(messages, func(i, j int) bool { return v.Batches[first+i] == v.Batches[first+j] })
}
