package quote

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a folded text. A number is a word with all that belongs to it: its signs, its separators, the spaces between its
// thousands, and what stands directly behind it, such as a percent sign. In scripts that put no space between words, each character is one,
// but for numbers, and for characters that negate the next one.
type word struct {
	at, end  int32 // in the folded text
	from, to int32 // in the original
}

// wordsOf returns the words of a folded text whose original has size bytes. false: there are more than mostWords.
func wordsOf(f folded, size int) ([]word, bool) {
	n := 0
	for range wordsIn(f.text) {
		n++
	}
	if n > mostWords {
		return nil, false
	}
	out := make([]word, 0, n)
	for at, end := range wordsIn(f.text) {
		to := size
		if end < len(f.places) {
			to = int(f.places[end])
		}
		out = append(out, word{at: int32(at), end: int32(end), from: f.places[at], to: int32(to)}) //nolint:gosec // as in put
	}
	return out, true
}

// wordsIn yields where each word of a folded text begins and ends.
func wordsIn(s []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < len(s); {
			at := i
			i = signs(s, i)
			r, n := first(s[i:])
			switch {
			case !inWord(r):
				i += n
				continue
			case !unicode.IsNumber(r):
				at = i
			}
			i = endOf(s, i+n, r)
			if !yield(at, i) {
				return
			}
		}
	}
}

// first returns the first rune of a text, and its length; a space: there is none.
func first(s []byte) (rune, int) {
	if len(s) == 0 {
		return ' ', 0
	}
	return utf8.DecodeRune(s)
}

// signs returns where the signs end that stand at i and belong to a number if one follows: -$5, .5, <5. A > behind something else is the
// end of a mark.
func signs(s []byte, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRune(s[i:])
		if r == '>' && i > 0 && s[i-1] != ' ' || !symbol(r) && !strings.ContainsRune("-.,·٫", r) {
			break
		}
		i += n
	}
	return i
}

// symbol reports whether a rune is a symbol that may belong to a number.
func symbol(r rune) bool { return unicode.IsSymbol(r) && r != '|' && r != utf8.RuneError }

// endOf returns where a word ends that goes on at i. last is its rune before i.
func endOf(s []byte, i int, last rune) int {
	for i < len(s) {
		r, n := utf8.DecodeRune(s[i:])
		next, _ := first(s[i+n:])
		behind, before := unicode.IsNumber(last), unicode.IsNumber(next) // a number
		switch {
		case inWord(r):
			if !joined(last, r) {
				return i
			}
		case alone(last):
			return i
		case (r == '\'' || r == '-' || r == '^') && inWord(next) && !alone(next):
		case behind && before && strings.ContainsRune(".,:/<>·٫٬", r):
		case behind && (r == '%' || r == '‰'):
		case r == ' ' && thousands(s, i):
		case (behind || before) && symbol(r) && r != '<' && r != '>': // these two are marks as well
		default:
			return i
		}
		i, last = i+n, r
	}
	return i
}

// thousands reports whether the space at i stands within a number: 1 234.
func thousands(s []byte, i int) bool {
	digits := func(at int) bool { return at >= 0 && at < len(s) && s[at] >= '0' && s[at] <= '9' }
	from, to := i, i+1
	for i-from < 4 && digits(from-1) {
		from--
	}
	for to-i < 5 && digits(to) {
		to++
	}
	before, _ := utf8.DecodeLastRune(s[:from])
	if before == '-' {
		before, _ = utf8.DecodeLastRune(s[:from-1])
	}
	return i-from >= 1 && i-from <= 3 && to-i == 4 && !unicode.IsLetter(before)
}

// inWord reports whether a rune belongs to a word. What does not print may be a letter of it, or stand for one.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == utf8.RuneError || !unicode.IsPrint(r)
}

// joined reports whether two runes that belong to words and stand side by side belong to the same one.
func joined(a, b rune) bool {
	switch {
	case unicode.IsMark(b):
		return true
	case alone(a) && alone(b):
		return strings.ContainsRune(negating, a) || strings.ContainsRune(counting, a) && strings.ContainsRune(counting, b)
	default:
		return !alone(a) && !alone(b)
	}
}

// alone reports whether a rune is of a script that puts no space between words.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

const (
	counting = "〇零一二三四五六七八九十百千万萬亿億兆两兩壹贰叁肆伍陆柒捌玖拾佰仟点點"
	negating = "不未非无無没沒勿莫"
)

// hashOf returns the FNV-1a hash of a word.
func hashOf(b []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
