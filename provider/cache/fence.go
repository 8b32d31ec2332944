package cache

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// In a canonical text, mark, a number and stop stand for the fence word of that number; mark and stop
// stand for a mark of the text's own. So every text has one canonical form, and every form one text.
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

// explained yields the word of a closing marker that a system prompt shows; "": the line is none. A word
// that could be one of the language is not taken for a fence.
func explained(line string) string {
	word, opened := strings.CutPrefix(line, "<<<end ")
	word, closed := strings.CutSuffix(word, ">>>")
	if !opened || !closed || len(word) < 10 || strings.Trim(word, "0123456789") != "" {
		return ""
	}
	return word
}

// hide yields the canonical form of a text.
func (f *fences) hide(text string) string { return f.replacer.Replace(text) }

// show yields the text of a canonical form, with the words of this request. It is at most so many bytes.
func (f *fences) show(form string, most int) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, mark)
		if b.Len()+len(before) > most {
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
