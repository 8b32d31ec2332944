package wire

import (
	"cmp"
	"strings"
)

// snapshot is how many bytes a piece of a text must repeat to be all of the text so far, and not a word that the model says twice.
const snapshot = 16

// soFar finds what is new in the pieces of a text. Some servers send with each piece all that came before it
// (QwenLM/qwen-code#3896, open-jarvis/OpenJarvis#378). No model begins a piece with everything that it has said, but for a few
// bytes: such a piece is held until the next one shows what it is.
type soFar struct {
	text  strings.Builder
	held  string
	grows bool // pieces are the text so far
}

// next takes a piece, and returns what is new. It costs no more than the piece.
func (t *soFar) next(piece string) string {
	if piece == "" {
		return ""
	}
	had, held := t.text.String(), t.held
	latest := cmp.Or(held, had)
	rest, more := strings.CutPrefix(piece, latest)
	t.held = ""
	switch {
	case t.grows && more:
		piece = rest
	case t.grows && strings.HasPrefix(latest, piece):
		return ""
	case !more || held+rest == "" || strings.HasPrefix(rest, latest) || strings.TrimSpace(latest) == "":
		piece, t.grows = held+piece, false
	case held == "" && len(had) < snapshot:
		t.held = piece
		return ""
	default:
		piece, t.grows = piece[len(had):], true
	}
	t.text.WriteString(piece)
	return piece
}

// end returns what is held. What comes next is a text of its own.
func (t *soFar) end() string {
	held := t.held
	*t = soFar{}
	return held
}
