package quote

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/text"
)

const (
	mostStarts = 4 // places of a passage that are compared word by word
	mostShown  = 3 // changes that are named
)

// nearest looks for a passage of which few words were changed.
func (s *Source) nearest(passage []byte) Finding {
	words, _ := wordsOf(folded{text: passage, places: make([]int32, len(passage))}, len(passage))
	if utf8.RuneCount(passage) < closest || len(words) < shingle {
		return Finding{Status: Absent}
	}
	near := max(2, len(words)/8)
	best, cost := alignment{}, near+1
	for _, start := range s.starts(passage, words) {
		from, to := max(0, start-near), min(len(s.words), start+len(words)+near)
		if a := s.align(passage, words, from, to); a.cost < cost {
			best, cost = a, a.cost
		}
	}
	if cost > near {
		return Finding{Status: Absent}
	}
	out := Finding{Status: Altered, Changed: best.changed()}
	out.From, out.To = int(s.words[best.first].from), int(s.words[best.last].to)
	return out
}

// starts returns the words of the document at which a passage may begin, those first at which most of its shingles agree.
func (s *Source) starts(passage []byte, words []word) []int {
	votes := make(map[int]int)
	for i := range len(words) - shingle + 1 {
		for _, hit := range s.of(hashOfShingle(passage, words[i:])) {
			votes[int(uint32(hit))-i]++ //nolint:gosec // the lower half
		}
	}
	all := slices.SortedFunc(maps.Keys(votes), func(a, b int) int { return cmp.Or(votes[b]-votes[a], a-b) })
	return all[:min(len(all), mostStarts)]
}

// alignment is a passage beside the words of the document that are the least different.
type alignment struct {
	cost        int
	first, last int // the words of the document
	changes     []string
}

// align compares the words of a passage with those of the document from one word up to another. The passage may begin and end anywhere
// between these.
func (s *Source) align(passage []byte, words []word, from, to int) alignment {
	n, m := len(words), to-from
	own := func(i int) []byte { return passage[words[i].at:words[i].end] }
	its := func(k int) []byte { w := s.words[from+k]; return s.text[w.at:w.end] }
	width := m + 1
	costs := make([]int32, (n+1)*width)
	for i := 1; i <= n; i++ {
		costs[i*width] = int32(i)
		for k := 1; k <= m; k++ {
			same := int32(1)
			if bytes.Equal(own(i-1), its(k-1)) {
				same = 0
			}
			costs[i*width+k] = min(costs[(i-1)*width+k-1]+same, costs[(i-1)*width+k]+1, costs[i*width+k-1]+1)
		}
	}
	k := 0
	for end := range width {
		if costs[n*width+end] < costs[n*width+k] {
			k = end
		}
	}
	out := alignment{cost: int(costs[n*width+k]), last: from + max(0, k-1)}
	for i := n; i > 0; {
		at := costs[i*width+k]
		switch {
		case k > 0 && at == costs[(i-1)*width+k-1] && bytes.Equal(own(i-1), its(k-1)):
			i, k = i-1, k-1
		case k > 0 && at == costs[(i-1)*width+k-1]+1:
			out.changes = append(out.changes, shown(own(i-1))+" for "+shown(its(k-1)))
			i, k = i-1, k-1
		case k > 0 && at == costs[i*width+k-1]+1:
			out.changes = append(out.changes, shown(its(k-1))+" is missing")
			k--
		default:
			out.changes = append(out.changes, shown(own(i-1))+" is added")
			i--
		}
	}
	out.first = min(from+k, out.last)
	slices.Reverse(out.changes)
	return out
}

// changed says how a passage differs from the document.
func (a alignment) changed() string {
	if len(a.changes) == 0 {
		return "punctuation or marks differ"
	}
	return listed(a.changes)
}

// listed returns the first changes as a sentence lists them.
func listed(changes []string) string {
	if more := len(changes) - mostShown; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(changes[:mostShown], ", "), more)
	}
	return strings.Join(changes, ", ")
}

// shown returns words as a sentence quotes them.
func shown(words []byte) string {
	return `"` + strings.ReplaceAll(text.OneLine(string(words), 40), `"`, "'") + `"`
}
