package wire

import "strings"

// soFar finds what is new in the pieces of a text. Some servers send with each piece all that came before it
// (QwenLM/qwen-code#3896, open-jarvis/OpenJarvis#378). Such pieces are a chain: each begins with the one before. Pieces that are no
// chain are passed on as they come. Those of a chain are held behind the first one until they show what they are: no model goes on
// twice with all that it has said, but for a few bytes or by saying the same again.
type soFar struct {
	latest string          // the latest piece of the chain, without half a character at its end
	shown  int             // bytes of it that were returned
	held   strings.Builder // pieces that were not
	proof  int             // how sure it is that each piece is the text so far
	plain  bool            // the pieces are no chain, and are compared no more
}

const (
	likely  = 2        // the proof that is enough if all pieces are one chain
	certain = 3        // the proof that is enough whatever follows
	longest = 16       // bytes of a text that a model may begin with once more
	maxHeld = 64 << 10 // bytes that are held if all pieces say the same
)

// next takes a piece, and returns what is new. It costs no more than the piece.
func (t *soFar) next(piece string) string {
	if t.plain || piece == "" {
		return piece
	}
	text := strings.TrimRight(piece, "\uFFFD") // half a character is one, too
	rest, goesOn := strings.CutPrefix(text, t.latest)
	held, first := t.held.String(), t.latest == ""
	switch {
	case first:
	case !goesOn && t.proof >= certain && strings.HasPrefix(t.latest, text):
		return ""
	case !goesOn, t.proof == 0 && t.held.Len() > maxHeld: // behind texts so far, another text may begin
		*t = soFar{plain: t.proof < certain}
		return held + t.next(piece)
	case rest == "" && t.proof > 0, !strings.HasPrefix(rest, t.latest) && !strings.HasPrefix(t.latest, rest):
		if t.proof++; len(strings.TrimSpace(t.latest)) >= longest {
			t.proof++
		}
	}
	t.latest = text
	if !first && t.proof < certain {
		t.held.WriteString(piece)
		return ""
	}
	text = text[t.shown:]
	t.shown = len(t.latest)
	t.held.Reset()
	t.held.WriteString(piece[t.shown:])
	if first {
		text = held + text
	}
	return text
}

// end returns what is held. What comes next is a text of its own.
func (t *soFar) end() string {
	held := t.held.String()
	if t.proof == likely {
		held = t.latest[t.shown:]
	}
	*t = soFar{}
	return held
}
