package flow

import (
	"github.com/agonist-dev/debate/internal/secret"
	textpkg "github.com/agonist-dev/debate/internal/text"
)

// NeutralLabels returns neutral names for this many participants, by seat, drawn from a seed.
func NeutralLabels(seed string, participants int) []string {
	out := make([]string, participants)
	for i, place := range secret.Shuffled(seed, "labels", participants) {
		out[i] = textpkg.LabelPrefix + textpkg.Letters(place)
	}
	return out
}

// ReplaceNames replaces names by others, where they are whole words; see [Record.Hide].
func ReplaceNames(text string, names, others []string) string {
	return textpkg.ReplaceWords(text, names, others)
}

// Shuffled returns the numbers below n in an order drawn from a seed for one use, such as "judge 2". The order is
// the same in every process.
func Shuffled(seed, use string, n int) []int { return secret.Shuffled(seed, use, n) }
