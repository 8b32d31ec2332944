package quote

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// MaxDocument bounds a document, in bytes.
const MaxDocument = 64 << 20

// shingle is how many words in a row must be as in the document, so that a passage which was changed is found. One changed word leaves so
// many in any passage of closest runes.
const shingle = 3

// Source is a document that quotations are compared with. It is safe for concurrent use.
type Source struct {
	folded
	words []word
	index []uint64 // the hash of each shingle, and in the lower half its first word; sorted
}

// Read prepares a document. It returns nil if the bytes are no text in UTF-8, or too many.
func Read(data []byte) *Source {
	if len(data) > MaxDocument || !utf8.Valid(data) {
		return nil
	}
	f := fold(string(data))
	s := &Source{folded: f, words: wordsOf(f, len(data))}
	s.places = nil // the words have theirs
	s.index = make([]uint64, 0, len(s.words))
	for i := range len(s.words) - shingle + 1 {
		s.index = append(s.index, uint64(hashOfShingle(s.words[i:]))<<32|uint64(i))
	}
	slices.Sort(s.index)
	return s
}

func hashOfShingle(words []word) uint32 {
	var h uint32
	for _, w := range words[:shingle] {
		h = (h ^ w.hash) * 16777619
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

// mostPlaces bounds how many places of the same words are looked at. A word that the place does not begin or end with does not count.
const mostPlaces = 4096

// next returns the first place of some words from an offset on at which no word of the document is cut in two, up to the offset to.
func (s *Source) next(words []byte, from, to int) (place, bool) {
	to = min(to, len(s.text))
	for range mostPlaces {
		if from >= to {
			break
		}
		i := bytes.Index(s.text[from:to], words)
		if i < 0 {
			break
		}
		at := from + i
		if end := at + len(words); !s.splits(at) && !s.splits(end) {
			return place{at, end}, true
		}
		_, n := utf8.DecodeRune(s.text[at:])
		from = at + n
	}
	return place{}, false
}

// splits reports whether an offset lies within a word.
func (s *Source) splits(offset int) bool {
	i := s.wordFrom(offset)
	return i > 0 && int(s.words[i-1].end) > offset
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
