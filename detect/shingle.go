package detect

import "slices"

// width is the number of words in a shingle.
const width = 3

// Shingles are the distinct sequences of three words in a text, as hashes. A speech is cut up once and
// then compared with many others. Shingles take about 8 bytes per word and do not refer to the text.
// They never change and may be copied. The zero value has no sequences, like a text without words.
type Shingles struct {
	hashes []uint64 // in ascending order
}

// Shingle cuts a text into sequences of three words. Words consist of letters, digits, combining marks
// and the apostrophes inside them. Everything else separates words, bytes that are not UTF-8 included. In
// detail:
//
//   - Upper and lower case are the same, in every script (“ΟΔΟΣ” and “οδος”, but not “ß” and “SS”).
//   - The typewriter's apostrophe and the typographic one are the same. Around a word they are quotes.
//   - Invisible format characters, such as soft hyphens and joiners, are ignored.
//   - Text is not normalised: an é of one code point and one of two are different letters.
//   - Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words. There, every letter
//     with its marks is a word. The limits of [Repetition] are not measured for them: sequences of three
//     letters recur more easily than sequences of three words.
//
// A text of one or two words has one shingle: all its words together. So two such texts overlap wholly or
// not at all, and never with a longer text.
//
// The time is linear, apart from sorting the hashes. The hash is FNV-1a with 64 bits, over characters and
// then over words. It is the same in every process. It has no secret key, so an author can write texts
// that collide; the only effect is a higher overlap.
func Shingle(text string) Shingles {
	// English has about 6 bytes per word. The cap keeps a long text of few words from reserving memory for many.
	hashes := make([]uint64, 0, min(len(text)/5+1, 512))
	var before [width - 1]uint64 // the words before this one, the most recent last
	n := 0
	words(text, func(word uint64) {
		if n++; n >= width {
			hashes = append(hashes, join(before[0], before[1], word))
		}
		before[0], before[1] = before[1], word
	})
	switch {
	case n == 0:
		return Shingles{}
	case n < width:
		hashes = append(hashes, join(before[:]...)) // the first hash is 0 if the text has only one word
	}
	slices.Sort(hashes)
	return Shingles{slices.Compact(hashes)}
}

// Len returns the number of distinct sequences.
func (s Shingles) Len() int { return len(s.hashes) }

// Jaccard returns the number of sequences that both texts have, divided by the number that at least one
// of them has. It is 0 if they share none, and 1 if they have the same sequences. A text without words
// shares nothing with any text, not even with another text without words.
func (s Shingles) Jaccard(t Shingles) float64 {
	common := 0
	for i, j := 0, 0; i < len(s.hashes) && j < len(t.hashes); {
		switch a, b := s.hashes[i], t.hashes[j]; {
		case a < b:
			i++
		case a > b:
			j++
		default:
			common++
			i++
			j++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(s.hashes)+len(t.hashes)-common)
}

// Overlap returns the Jaccard overlap of two texts. To compare one text with several, cut it up once with
// [Shingle].
func Overlap(a, b string) float64 { return Shingle(a).Jaccard(Shingle(b)) }
