package openaicompat

import "strings"

// soFar is a text of the reply as it has come. Some servers send with a piece, or at the end, also the message so far. What
// has been taken of it is not taken again.
type soFar struct {
	text   strings.Builder
	deltas bool // pieces came
	pieces bool // messages are pieces

	trimmed string // the first bytes of it, without white space around them
	bytes   int    // so many
}

// piece takes a piece, and returns it.
func (t *soFar) piece(text string) string {
	t.text.WriteString(text)
	t.deltas = t.deltas || text != ""
	return text
}

// message takes what a message says, and returns what is new: the rest of a text that begins with what has come, or, where
// no pieces come beside messages, one that does not.
func (t *soFar) message(text string) string {
	had := t.text.String()
	switch {
	case text == "":
		return ""
	case t.pieces:
	case strings.HasPrefix(text, had):
		text = text[len(had):]
	case t.deltas, strings.HasPrefix(had, text), strings.TrimSpace(text) == t.bare():
		return ""
	default:
		t.pieces = true
	}
	t.text.WriteString(text)
	return text
}

// bare returns the text without white space around it, which may be long.
func (t *soFar) bare() string {
	if had := t.text.String(); t.bytes != len(had) {
		t.trimmed, t.bytes = strings.TrimSpace(had), len(had)
	}
	return t.trimmed
}
