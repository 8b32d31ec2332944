package detect

import "slices"

// width is how many words make a shingle.
const width = 3

// Shingles are the distinct sequences of three words in a text, as hashes. A speech is cut up once and
// then compared with many. The zero value is that of a text without words. Shingles do not change, may
// be copied, and do not refer to the text: they take 8 bytes per word.
type Shingles struct {
	hashes []uint64 // in ascending order
}

// Shingle cuts a text up. Words are made of letters, digits, combining marks and the apostrophes
// inside them; all else, bytes that are not UTF-8 included, only separates them:
//
//   - Upper and lower case are the same, in every script (“ΟΔΟΣ” and “οδος”, but not “ß” and “SS”).
//   - The typewriter's apostrophe and the typographic one are the same; around a word they are quotes.
//   - Invisible format characters, such as soft hyphens and joiners, are as if they were not there.
//   - Text is not normalised: an é of one code point and one of two are different letters.
//   - Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words. There, every letter
//     with its marks is a word. The limits of [Repetition] are not measured for them: sequences of
//     three letters recur more easily than those of three words.
//
// A text of one or two words has no sequence of three; all its words together are its one shingle. So
// two such texts overlap wholly or not at all, and never with a longer one.
//
// The cost is linear but for sorting the hashes. Hashing is that of FNV-1a with 64 bits, over characters
// and then over words, and the same in every process. It is not keyed: who tries can write texts that
// collide, and gets no more by it than a higher overlap.
func Shingle(text string) Shingles {
	// English has about 6 bytes per word. What has few words in many bytes shall not hold the memory.
	hashes := make([]uint64, 0, min(len(text)/5+1, 512))
	var before [width - 1]uint64 // the last words, the most recent one last
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
		hashes = append(hashes, join(before[:]...)) // the first is 0 if there is one word only
	}
	slices.Sort(hashes)
	return Shingles{slices.Compact(hashes)}
}

// Len is the number of distinct sequences.
func (s Shingles) Len() int { return len(s.hashes) }

// Jaccard is the share of the sequences of two texts that both have, of those that either has: 0 if
// they have none in common, 1 if they have the same. A text without words has nothing in common with
// any text, not even with another one like it.
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

// Overlap is the Jaccard overlap of two texts. To compare a text with several, cut it up once with
// [Shingle].
func Overlap(a, b string) float64 { return Shingle(a).Jaccard(Shingle(b)) }
