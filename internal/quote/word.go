package quote

import (
	"unicode"
	"unicode/utf8"
)

// word is a word of a folded text. A number is a word with its sign, its separators and its percent sign. In scripts that put no space
// between words, each character is one.
type word struct {
	at, end  int32 // in the folded text
	from, to int32 // in the original
	hash     uint32
}

// wordsOf returns the words of a folded text whose original has size bytes.
func wordsOf(f folded, size int) []word {
	var out []word
	for i := 0; i < len(f.text); {
		r, n := utf8.DecodeRune(f.text[i:])
		if next, _ := utf8.DecodeRune(f.text[i+n:]); !inWord(r) && (r != '-' || !unicode.IsDigit(next)) {
			i += n
			continue
		}
		end := i + n
		if !alone(r) {
			end = endOf(f.text, end, r)
		}
		to := size
		if end < len(f.places) {
			to = int(f.places[end])
		}
		out = append(out, word{
			at: int32(i), end: int32(end), from: f.places[i], to: int32(to), hash: hashOf(f.text[i:end]), //nolint:gosec // as in put
		})
		i = end
	}
	return out
}

// endOf returns where a word ends that goes on at i. last is its rune before i.
func endOf(s []byte, i int, last rune) int {
	for i < len(s) {
		r, n := utf8.DecodeRune(s[i:])
		next, _ := utf8.DecodeRune(s[i+n:])
		switch {
		case inWord(r) && !alone(r):
		case (r == '\'' || r == '-') && inWord(next) && !alone(next):
		case (r == '.' || r == ',' || r == ':' || r == '/') && unicode.IsDigit(last) && unicode.IsDigit(next):
		case (r == '%' || r == '‰') && unicode.IsDigit(last):
		default:
			return i
		}
		i, last = i+n, r
	}
	return i
}

// inWord reports whether a rune belongs to a word.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// alone reports whether a rune is of a script that puts no space between words.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// hashOf returns the FNV-1a hash of a word.
func hashOf(b []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
