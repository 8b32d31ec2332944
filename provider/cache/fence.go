package cache

import (
	"errors"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/fence"
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
	f := &fences{words: fence.Words(req)}
	pairs := make([]string, 0, 2*len(f.words)+2)
	for n, word := range f.words {
		pairs = append(pairs, word, mark+strconv.Itoa(n)+stop)
	}
	f.replacer = strings.NewReplacer(append(pairs, mark, mark+stop)...)
	return f
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
