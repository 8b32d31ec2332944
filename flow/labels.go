package flow

import (
	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/text"
)

// NeutralLabels returns neutral names for this many participants, by seat: "Speaker A", "Speaker B" and so on, in an
// order that is drawn from a seed. A flow that shows labels in letter of names returns them in [Views].
func NeutralLabels(seed string, participants int) []string {
	out := make([]string, participants)
	for i, letter := range secret.Shuffled(seed, "labels", participants) {
		out[i] = text.LabelPrefix + text.Letters(letter)
	}
	return out
}

// ReplaceNames replaces each of the names, where it is a whole word, by the one at the same index in others. Both have
// the same length. It is for prompts, which are rendered before there is a record; see [Record.Hide].
func ReplaceNames(content string, names, others []string) string {
	return text.ReplaceWords(content, names, others)
}

// Shuffled returns the numbers below n in an order drawn from a seed for one use, such as "judge 2". The order is
// the same in every process.
func Shuffled(seed, use string, n int) []int { return secret.Shuffled(seed, use, n) }
