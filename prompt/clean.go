package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/text"
)

// clean prepares s for a rendered text: valid UTF-8, without the placeholder's rune.
func clean(s string) string {
	// Repair comes first, because removing a rune between stray bytes could join them into that rune.
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	}
	if strings.ContainsRune(s, mark) {
		s = strings.ReplaceAll(s, string(mark), "")
	}
	return s
}

// Plain prepares a text for a template of a flow's own: valid UTF-8, without white space around it, and without the three
// runes of private use, U+E000 to U+E002, that mark holes in prompts.
func Plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r >= mark && r <= mark+2 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar))))
}

// Quoted is [Plain] for a value of several lines that a user may have written: each line after the first begins with "> ", so that it
// cannot write headings or paragraphs of the prompt in which it stands.
func Quoted(s string) string { return text.Quoted(Plain(s)) }

// block cleans a value that may have several lines.
func block(s string) string { return strings.TrimSpace(clean(s)) }

// quoted cleans a value that may have several lines and may come from a user.
func quoted(s string) string { return text.Quoted(block(s)) }

// line cleans a value in a list, where a line break would begin what looks like an entry or heading of
// the prompt itself. Everything else stays, because names must be returned exactly.
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

// entry is line without white space around the value, for values that no model has to return.
func entry(s string) string { return strings.TrimSpace(line(s)) }

// anyFence stands in the markers that a prompt explains without their word.
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
		clean[i] = Person{Name: line(p.Name), Side: entry(p.Side), Position: entry(p.Position), Persona: entry(p.Persona)}
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

// entries cleans a list of values that no model has to return, and drops empty ones.
func entries(all []string) []string {
	clean := make([]string, 0, len(all))
	for _, s := range all {
		if s = entry(s); s != "" {
			clean = append(clean, s)
		}
	}
	return clean
}
