package quote

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const (
	// MaxDocument bounds a document, in bytes.
	MaxDocument = 16 << 20

	mostWords = 4 << 20 // words that a document has at most
)

// shingle is how many words in a row must be as in the document, so that a passage which was changed is found. One changed word leaves so
// many in any passage of closest runes.
const shingle = 3

// Source is a document that quotations are compared with. It is safe for concurrent use.
type Source struct {
	folded
	words []word
	index []uint64 // the hash of each shingle, and in the lower half its first word; sorted
}

// Read prepares a document. It returns nil if the bytes are no text in UTF-8, if they or their words are too many, or if the folded text is
// more than twice as long. A source holds its folded text and 24 bytes for each word: 128 MiB at most. While Read works, it holds four
// bytes more for each byte of folded text. Its time is n log n in the number of words.
func Read(data []byte) *Source {
	if len(data) > MaxDocument || !utf8.Valid(data) {
		return nil
	}
	f, ok := fold(string(data))
	if !ok {
		return nil
	}
	words, ok := wordsOf(f, len(data))
	if !ok {
		return nil
	}
	s := &Source{folded: f, words: words, index: make([]uint64, 0, len(words))}
	s.places = nil // the words have theirs
	for i := range len(words) - shingle + 1 {
		s.index = append(s.index, uint64(hashOfShingle(s.text, words[i:]))<<32|uint64(i))
	}
	slices.Sort(s.index)
	return s
}

// hashOfShingle returns the hash of the first words, which are those of a folded text.
func hashOfShingle(text []byte, words []word) uint32 {
	var h uint32
	for _, w := range words[:shingle] {
		h = (h ^ hashOf(text[w.at:w.end])) * 16777619
		h ^= h >> 15
	}
	return h
}

// mostHits bounds how many places of one shingle are looked at.
const mostHits = 256

// of returns the first places of a shingle with this hash, as they stand in the index.
func (s *Source) of(hash uint32) []uint64 {
	from, _ := slices.BinarySearch(s.index, uint64(hash)<<32)
	to := from
	for to < min(len(s.index), from+mostHits) && uint32(s.index[to]>>32) == hash {
		to++
	}
	return s.index[from:to]
}

// place is where words stand in the folded text.
type place struct{ at, end int }

// mostWork bounds how many bytes of the document are compared in vain, where it has the same words with more at their end.
const mostWork = 4 << 20

// next returns the first place of some words from an offset on at which no word of the document is cut in two, up to the offset to.
func (s *Source) next(words []byte, from, to int) (place, bool) {
	to = min(to, len(s.text))
	for work := 0; from < to && work < mostWork; work += len(words) + 64 {
		i := bytes.Index(s.text[from:to], words)
		if i < 0 {
			break
		}
		at := from + i
		end := at + len(words)
		switch whole := s.whole(at); {
		case whole > at:
			from = whole
		case s.whole(end) == end:
			return place{at, end}, true
		default:
			_, n := utf8.DecodeRune(s.text[at:])
			from = at + n
		}
	}
	return place{}, false
}

// whole returns an offset, or the end of the word that it cuts in two.
func (s *Source) whole(offset int) int {
	if i := s.wordFrom(offset); i > 0 {
		return max(offset, int(s.words[i-1].end))
	}
	return offset
}

// wordFrom returns the index of the first word that begins at an offset or after it.
func (s *Source) wordFrom(offset int) int {
	i, _ := slices.BinarySearchFunc(s.words, offset, func(w word, at int) int { return int(w.at) - at })
	return i
}

// original returns where the words between two offsets stand in the document, in bytes.
func (s *Source) original(at, end int) (from, to int) {
	first, last := s.wordFrom(at), s.wordFrom(end)-1
	if first > last {
		return 0, 0
	}
	return int(s.words[first].from), int(s.words[last].to)
}
