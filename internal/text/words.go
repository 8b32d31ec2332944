package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Letters writes a number as A … Z, AA, AB, ….
func Letters(n int) string {
	s := string(rune('A' + n%26))
	for n = n/26 - 1; n >= 0; n = n/26 - 1 {
		s = string(rune('A'+n%26)) + s
	}
	return s
}

// Plural writes a number of things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Number writes a number with commas between the thousands.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ReplaceWords replaces whole words in one pass, so that a replacement is not replaced again.
//
//   - Of two words that begin at the same place, the longer one counts.
//   - A word is whole unless a letter or digit adjoins it. In scripts that do not separate words, every word is
//     whole.
//   - Words in another case or normal form, and words with invisible characters inside, are not found.
func ReplaceWords(text string, from, to []string) string {
	var b strings.Builder
	last, before := 0, ' '
	for i := 0; i < len(text); {
		if k := wordAt(text[i:], before, from); k >= 0 {
			b.WriteString(text[last:i])
			b.WriteString(to[k])
			i += len(from[k])
			last = i
			before, _ = utf8.DecodeLastRuneInString(from[k])
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		before = r
		i += n
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// wordAt returns the index of the whole word that the text begins with, or -1.
func wordAt(text string, before rune, words []string) int {
	longest := -1
	for k := range words {
		if words[k] == "" || !strings.HasPrefix(text, words[k]) || longest >= 0 && len(words[k]) <= len(words[longest]) {
			continue
		}
		first, _ := utf8.DecodeRuneInString(words[k])
		end, _ := utf8.DecodeLastRuneInString(words[k])
		next := ' '
		if len(text) > len(words[k]) {
			next, _ = utf8.DecodeRuneInString(text[len(words[k]):])
		}
		if !joins(before, first) && !joins(end, next) {
			longest = k
		}
	}
	return longest
}

// joins reports whether two adjacent runes belong to one word.
func joins(a, b rune) bool { return parted(a) && parted(b) }

// parted reports whether a rune is a letter or digit of a script that separates words.
func parted(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
