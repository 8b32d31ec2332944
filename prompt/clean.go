package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes s fit to stand in a rendered text: valid UTF-8, without the placeholder's rune.
func clean(s string) string {
	// Repair comes first: taking a rune out from between stray bytes could join them to that rune.
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	}
	if strings.ContainsRune(s, mark) {
		s = strings.ReplaceAll(s, string(mark), "")
	}
	return s
}

// block cleans a value that may have several lines.
func block(s string) string { return strings.TrimSpace(clean(s)) }

// line cleans a value that stands in a list, where a line break would begin what looks like an
// entry or a heading of the prompt itself. Everything else stays: names must be given back exactly.
func line(s string) string {
	s = clean(s)
	if strings.IndexFunc(s, breaks) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if breaks(r) {
			return ' '
		}
		return r
	}, s)
}

func breaks(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// entry is a line without white space around it, for values that nobody gives back.
func entry(s string) string { return strings.TrimSpace(line(s)) }

// anyFence stands in the markers that a prompt explains if their word is not told.
const anyFence = "word"

func fence(s string) string {
	if s = entry(s); s == "" {
		return anyFence
	}
	return s
}

func people(all []Person) []Person {
	clean := make([]Person, len(all))
	for i, p := range all {
		clean[i] = Person{Name: line(p.Name), Side: entry(p.Side), Position: entry(p.Position)}
	}
	return clean
}

func lines(all []string) []string {
	clean := make([]string, len(all))
	for i, s := range all {
		clean[i] = line(s)
	}
	return clean
}

// entries cleans a list of values that nobody gives back: without those that are empty.
func entries(all []string) []string {
	clean := make([]string, 0, len(all))
	for _, s := range all {
		if s = entry(s); s != "" {
			clean = append(clean, s)
		}
	}
	return clean
}
