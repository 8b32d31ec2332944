package wire

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	maxHeld    = 64 // bytes of white space that may stand before a block
)

// Thoughts removes a block of thoughts from the beginning of a text that arrives in pieces. Servers
// without a field for thoughts send them so. A text that only mentions the marks further on is left
// unchanged. The zero value is ready to use.
type Thoughts struct {
	state thinkState
	held  string
}

type thinkState int

const (
	thinkUnknown thinkState = iota
	thinkInside
	thinkAfter // only white space has come since the block
	thinkNone
)

// Next adds a piece and returns the part of the text that can be shown now.
func (t *Thoughts) Next(piece string) string {
	switch t.state {
	case thinkUnknown:
		t.held += piece
		text := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(text, thinkOpen):
			t.state, t.held = thinkInside, ""
			return t.Next(text[len(thinkOpen):])
		case strings.HasPrefix(thinkOpen, text) && len(t.held) <= maxHeld:
			return ""
		}
		t.state, text, t.held = thinkNone, t.held, ""
		return text
	case thinkInside:
		text := t.held + piece
		_, after, closed := strings.Cut(text, thinkClose)
		if !closed {
			t.held = text[max(0, len(text)-len(thinkClose)+1):]
			return ""
		}
		t.state, t.held = thinkAfter, ""
		return t.Next(after)
	case thinkAfter:
		text := strings.TrimLeft(piece, " \t\r\n")
		if text != "" {
			t.state = thinkNone
		}
		return text
	default:
		return piece
	}
}

// End returns the text that was held back because it could have been the beginning of a block.
func (t *Thoughts) End() string {
	if t.state != thinkUnknown {
		return ""
	}
	text := t.held
	t.state, t.held = thinkNone, ""
	return text
}
