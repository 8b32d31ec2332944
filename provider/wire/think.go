package wire

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	maxHeld    = 64 // bytes of white space that may stand before a block
)

// Thoughts takes a block of thoughts from the beginning of a text that arrives in pieces. Servers without a field for
// thoughts send them so. A text that only mentions the marks further on is left unchanged. The zero value is ready to
// use.
type Thoughts struct {
	state thinkState
	held  string
}

type thinkState int

const (
	thinkUnknown thinkState = iota
	thinkOpened             // only white space has come since the mark
	thinkInside
	thinkAfter // only white space has come since the block
	thinkNone
)

// Next adds a piece. It returns the part of the text and the part of the thoughts that can be shown now; see [Reply.Add].
func (t *Thoughts) Next(piece string) (text, thought string) {
	switch t.state {
	case thinkUnknown:
		t.held += piece
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkOpen):
			t.state, t.held = thinkOpened, ""
			return t.Next(begin[len(thinkOpen):])
		case strings.HasPrefix(thinkOpen, begin) && len(t.held) <= maxHeld:
			return "", ""
		}
		t.state, text, t.held = thinkNone, t.held, ""
		return text, ""
	case thinkOpened:
		piece = strings.TrimLeft(piece, " \t\r\n")
		if piece == "" {
			return "", ""
		}
		t.state = thinkInside
		return t.Next(piece)
	case thinkInside:
		thought, after, closed := strings.Cut(t.held+piece, thinkClose)
		if !closed {
			end := len(thought) - cutMark(thought)
			t.held = thought[end:]
			return "", thought[:end]
		}
		t.state, t.held = thinkAfter, ""
		text, _ = t.Next(after)
		return text, strings.TrimRight(thought, " \t\r\n")
	case thinkAfter:
		text := strings.TrimLeft(piece, " \t\r\n")
		if text != "" {
			t.state = thinkNone
		}
		return text, ""
	default:
		return piece, ""
	}
}

// cutMark returns how many bytes at the end of a text may begin the mark that closes a block.
func cutMark(text string) int {
	for n := min(len(text), len(thinkClose)-1); n > 0; n-- {
		if strings.HasSuffix(text, thinkClose[:n]) {
			return n
		}
	}
	return 0
}

// End returns what was held back because it could have been the beginning of a mark.
func (t *Thoughts) End() (text, thought string) {
	held := t.held
	t.held = ""
	switch t.state {
	case thinkUnknown:
		t.state = thinkNone
		return held, ""
	case thinkInside:
		return "", held
	default:
		return "", ""
	}
}
