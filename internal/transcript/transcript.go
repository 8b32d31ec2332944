// Package transcript holds append-only views of a conversation, their bounds and their counts of tokens.
package transcript

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Count returns a message's tokens: the text and the label are counted, and the rest is bounded as in Bound.
func Count(m *provider.Message, counter token.Counter) int {
	tokens := counter.Count(m.Text) + Bound(m) - len(m.Text)
	if m.Label != "" {
		tokens += counter.Count(m.Label) - len(m.Label)
	}
	return tokens
}

// View is the conversation as its readers see it. It only grows, so that all requests with the same view share it.
type View struct {
	Key      string // names it in the log; "": everybody's
	Reads    []bool // whose turns: by seat, and last those of the others; nil: everybody's
	Labels   *text.Labels
	Messages []provider.Message
	Sizes    []int // sizes[i] is an upper bound of the tokens of messages[:i+1]
	Rounds   []int
	Turns    []int   // which of the conversation's turns they are; below 0: they are none
	Batches  []int32 // messages that were revealed at the same time have the same number
	Batch    int32
	Opening  int                     // how many messages open the conversation; 0: not known
	loads    map[int]int             // bounds of the tokens of parts, by message
	sides    []string                // that have begun in the first round
	latest   map[string]*Summary     // by whose calls alone read it; "": everybody's
	sums     map[token.Counter][]int // not a fact: tokens of the messages, by vocabulary
}

// Summary replaces the messages of a view up to Upto, exclusive.
type Summary struct {
	Message provider.Message // as it is read
	Made    provider.Message // as it was made, without what the program has added: another summary continues it
	Upto    int
}

// Framing bounds the tokens that a vendor adds around one message: roles, separators, names.
const Framing = 24

// Bound returns an upper bound of a message's tokens. It relies on a token having at least one byte.
func Bound(m *provider.Message) int {
	bound := len(m.Text) + 2*len(m.Fence) + len(m.Speaker) + 2*angles(m.Speaker) + Framing
	if m.Label != "" { // each bar in it and in the name becomes longer by a byte, and each of < and > by two
		bound += len(m.Label) + len(" | ") + strings.Count(m.Label, "|") + strings.Count(m.Speaker, "|") + 2*angles(m.Label)
	}
	return bound
}

func angles(s string) int { return strings.Count(s, "<") + strings.Count(s, ">") }

// reversedRuns returns a copy in which each run of adjacent elements that belong together is reversed.
func reversedRuns[T any](all []T, together func(i, j int) bool) []T {
	out := slices.Clone(all)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && together(i, j) {
			j++
		}
		slices.Reverse(out[i:j])
		i = j
	}
	return out
}
