package flow

import (
	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/text"
)

// NeutralLabels returns neutral names for this many participants, by seat, drawn from a seed.
func NeutralLabels(seed string, participants int) []string {
	out := make([]string, participants)
	for i, place := range secret.Shuffled(seed, "labels", participants) {
		out[i] = text.LabelPrefix + text.Letters(place)
	}
	return out
}

// ReplaceNames replaces names by others, where they are whole words; see [Record.Hide].
func ReplaceNames(content string, names, others []string) string {
	return text.ReplaceWords(content, names, others)
}

// Shuffled returns the numbers below n in an order drawn from a seed for one use, such as "judge 2". The order is
// the same in every process.
func Shuffled(seed, use string, n int) []int { return secret.Shuffled(seed, use, n) }
