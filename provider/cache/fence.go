package cache

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// In a canonical text, mark, a number and stop stand for the fence word with that number. A mark without
// a number stands for a mark in the text itself. So every text has exactly one canonical form, and every
// canonical form exactly one text.
const (
	mark = "\x1a" // ASCII's substitute character
	stop = ";"
)

var (
	errPlaceholder = errors.New("a placeholder of no fence")
	errTooLong     = errors.New("the reply is too long")
)

// fences are the distinct fence words of a request, in the order in which they appear.
type fences struct {
	words    []string
	replacer *strings.Replacer
}

func fencesOf(req *provider.Request) *fences {
	f := &fences{}
	for i := range req.Messages {
		f.add(req.Messages[i].Fence)
	}
	f.add(req.Last.Fence)
	for line := range strings.Lines(req.System) {
		f.add(explained(strings.TrimSpace(line)))
	}
	pairs := make([]string, 0, 2*len(f.words)+2)
	for n, word := range f.words {
		pairs = append(pairs, word, mark+strconv.Itoa(n)+stop)
	}
	f.replacer = strings.NewReplacer(append(pairs, mark, mark+stop)...)
	return f
}

func (f *fences) add(word string) {
	if word != "" && !slices.Contains(f.words, word) {
		f.words = append(f.words, word)
	}
}

// explained returns the fence word if line is a closing marker in a system prompt, otherwise "". A word
// that could be an ordinary word is not taken for a fence.
func explained(line string) string {
	word, opened := strings.CutPrefix(line, "<<<end ")
	word, closed := strings.CutSuffix(word, ">>>")
	if !opened || !closed || len(word) < 10 || strings.Trim(word, "0123456789") != "" {
		return ""
	}
	return word
}

// hide returns the canonical form of a text.
func (f *fences) hide(text string) string { return f.replacer.Replace(text) }

// show returns the text of a canonical form, with the fence words of this request. A text of more than
// limit bytes is an error.
func (f *fences) show(form string, limit int) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, mark)
		if b.Len()+len(before) > limit {
			return "", errTooLong
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		number, after, found := strings.Cut(rest, stop)
		if !found {
			return "", errPlaceholder
		}
		word := mark
		if number != "" {
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 || n >= len(f.words) {
				return "", errPlaceholder
			}
			word = f.words[n]
		}
		b.WriteString(word)
		form = after
	}
}
