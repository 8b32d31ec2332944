// Package fence finds the fence words of a request: secrets that each debate draws anew.
package fence

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// Words returns the distinct fence words of a request, in the order in which they appear: those of its messages, and
// those that a line "<<<end WORD>>>" of the system prompt names. The first speaker reads no messages, so its fence word
// appears only there. Such a word must be a number of at least ten digits, as the engine draws it: a word that could be
// an ordinary one is not taken for a fence.
func Words(r *provider.Request) []string {
	var words []string
	add := func(word string) {
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for i := range r.Messages {
		add(r.Messages[i].Fence)
	}
	add(r.Last.Fence)
	for line := range strings.Lines(r.System) {
		word, opened := strings.CutPrefix(strings.TrimSpace(line), "<<<end ")
		word, closed := strings.CutSuffix(word, ">>>")
		if opened && closed && len(word) >= 10 && strings.Trim(word, "0123456789") == "" {
			add(word)
		}
	}
	return words
}
