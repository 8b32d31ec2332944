package text

import (
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/internal/order"
)

// IsLabel reports whether a name looks like a neutral label.
func IsLabel(name string) bool {
	prefix := sight(LabelPrefix)
	n := len(prefix)
	for _, seen := range sightsOf(name) {
		if len(seen) > n && seen[n].first && alike(seen[:n], prefix) && areLetters(seen[n:]) {
			return true
		}
	}
	return false
}

// areLetters reports whether there are at most two characters, and all look like Latin letters.
func areLetters(seen []glyph) bool {
	n := 0
	for _, g := range seen {
		if g.shown < 'a' || g.shown > 'z' || g.typed <= unicode.MaxASCII && (g.typed < 'a' || g.typed > 'z') {
			return false
		}
		if g.first {
			n++
		}
	}
	return n <= 2
}

// Labels are the neutral names under which judges know the participants, if the config asks for that. The
// conversation's seed decides which participant has which.
type Labels struct {
	Names  []string
	Labels []string
}

// LabelPrefix is what every label begins with.
const LabelPrefix = "Speaker "

// Hide replaces the names in a text by labels.
func (l *Labels) Hide(text string) string { return ReplaceWords(text, l.Names, l.Labels) }

// Show replaces the labels in a text by names.
func (l *Labels) Show(text string) string {
	if !strings.Contains(text, LabelPrefix) {
		return text
	}
	return ReplaceWords(text, l.Labels, l.Names)
}

// ShowAll replaces the labels by names in all texts and keys of a JSON value. It calls twice for an object in which
// two keys name the same participant, with the key of that object.
func (l *Labels) ShowAll(at string, tree any, twice func(at string)) any {
	switch v := tree.(type) {
	case string:
		return l.Show(v)
	case []any:
		for i := range v {
			v[i] = l.ShowAll(at, v[i], twice)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range order.ByKey(v) {
			name := l.Show(key)
			if _, taken := out[name]; taken {
				twice(at)
			}
			out[name] = l.ShowAll(name, value, twice)
		}
		return out
	}
	return tree
}
