package transcript

import (
	"maps"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Add appends a turn: the nth of the conversation, from 0. What is no turn has a number below 0. label says what it is, as it is shown.
// load bounds the tokens of its parts.
func (v *View) Add(n, round int, speaker, label, content, fence string, parts []provider.Part, load int) {
	m := provider.Message{Speaker: speaker, Label: label, Text: text.Escape(content, fence), Fence: fence, Parts: parts}
	if v.Labels != nil {
		m.Speaker, m.Label, m.Text = v.Labels.Hide(speaker), label, text.Escape(v.Labels.Hide(content), fence)
	}
	size := 0
	if n := len(v.Sizes); n > 0 {
		size = v.Sizes[n-1]
	}
	v.Messages = append(v.Messages, m)
	v.Rounds = append(v.Rounds, round)
	v.Turns = append(v.Turns, n)
	v.Sizes = append(v.Sizes, size+Bound(&m)+load)
	if load > 0 {
		if v.loads == nil {
			v.loads = make(map[int]int)
		}
		v.loads[len(v.Messages)-1] = load
	}
	v.Batches = append(v.Batches, v.Batch)
}

// Split returns a copy under another key, for readers who do not read what comes next.
func (v *View) Split(key string) *View {
	own := *v
	own.Key, own.sums = key, nil
	own.Messages, own.Sizes, own.Rounds = slices.Clone(v.Messages), slices.Clone(v.Sizes), slices.Clone(v.Rounds)
	own.Turns, own.Batches = slices.Clone(v.Turns), slices.Clone(v.Batches)
	own.loads, own.sides, own.latest = maps.Clone(v.loads), slices.Clone(v.sides), maps.Clone(v.latest)
	return &own
}

// Opens tells for which side the newest message speaks. If it is the first one of the side in the round of the first turn, the
// opening reaches up to it.
func (v *View) Opens(side string) {
	first := slices.IndexFunc(v.Turns, func(n int) bool { return n >= 0 })
	if v.Rounds[first] == v.Rounds[len(v.Rounds)-1] && !slices.Contains(v.sides, side) {
		v.sides, v.Opening = append(v.sides, side), len(v.Messages)
	}
}

// Summary returns the latest summary for these calls, or nil if there is none.
func (v *View) Summary(only string) *Summary { return v.latest[only] }

// Summarize keeps a summary, unless it covers no more than the present one.
func (v *View) Summarize(only string, s *Summary) {
	if former := v.latest[only]; former != nil && former.Upto >= s.Upto {
		return
	}
	if v.latest == nil {
		v.latest = make(map[string]*Summary)
	}
	v.latest[only] = s
}

// Since returns the index of the first message of a round, or of those after it.
func (v *View) Since(round int) int {
	first, _ := slices.BinarySearch(v.Rounds, round)
	return first
}

// Load bounds the tokens of a message's parts.
func (v *View) Load(i int) int { return v.loads[i] }

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
