package debate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels are the neutral names under which judges know the participants, if the config asks for that. The
// conversation's seed decides which participant has which.
type labels struct {
	names  []string
	labels []string
}

const labelPrefix = "Speaker "

// NeutralLabels returns neutral names for this many participants, by seat, drawn from a seed.
func NeutralLabels(seed string, participants int) []string {
	out := make([]string, participants)
	for i, place := range shuffled(seed, "labels", participants) {
		out[i] = labelPrefix + letters(place)
	}
	return out
}

// letters writes a number as A … Z, AA, AB, ….
func letters(n int) string {
	s := string(rune('A' + n%26))
	for n = n/26 - 1; n >= 0; n = n/26 - 1 {
		s = string(rune('A'+n%26)) + s
	}
	return s
}

// hide replaces the names in a text by labels.
func (l *labels) hide(text string) string { return replaceWords(text, l.names, l.labels) }

// show replaces the labels in a text by names.
func (l *labels) show(text string) string {
	if !strings.Contains(text, labelPrefix) {
		return text
	}
	return replaceWords(text, l.labels, l.names)
}

// showAll replaces the labels by names in all texts and keys of a JSON value. It calls twice for an object in which
// two keys name the same participant, with the key of that object.
func (l *labels) showAll(at string, tree any, twice func(at string)) any {
	switch v := tree.(type) {
	case string:
		return l.show(v)
	case []any:
		for i := range v {
			v[i] = l.showAll(at, v[i], twice)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range ordered(v) {
			name := l.show(key)
			if _, taken := out[name]; taken {
				twice(at)
			}
			out[name] = l.showAll(name, value, twice)
		}
		return out
	}
	return tree
}

// ReplaceNames replaces names by others, where they are whole words; see [Record.Hide].
func ReplaceNames(text string, names, others []string) string {
	return replaceWords(text, names, others)
}

// replaceWords replaces whole words in one pass, so that a replacement is not replaced again.
//
//   - Of two words that begin at the same place, the longer one counts.
//   - A word is whole unless a letter or digit adjoins it. In scripts that do not separate words, every word is
//     whole.
//   - Words in another case or normal form, and words with invisible characters inside, are not found.
func replaceWords(text string, from, to []string) string {
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
