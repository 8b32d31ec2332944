package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark is a quotation in a text.
type Mark struct {
	Start, End int    // the place of the words in the text, in bytes; with the mark itself if it is not written as it has to be
	Document   string // the name of the document, as the text has it; "": no document can be told
}

const (
	opening = "<quote"
	closing = "</quote>"
	named   = "quote"
)

// Marks returns the quotations of a text in its order, each once. What readers may take for a quotation is one: a mark that is written in
// another way, that is not closed, or that holds another one, has no document. Of more than most, the last one stands for all others, and
// has no document either. The time is linear in the length of the text.
func Marks(text string, most int) (out []Mark) {
	seen := make(map[string]bool)
	at, opens := tag(text, 0)
	for at < len(text) {
		next, another := tag(text, at+1)
		if !opens {
			at, opens = next, another
			continue
		}
		m := Mark{Start: at, End: next}
		if document, n := attribute(text[at:next]); n > 0 && !another && strings.HasPrefix(text[next:], closing) {
			m = Mark{Start: at + n, End: next, Document: document}
		}
		switch key := m.Key(text); {
		case seen[key]:
		case len(out) < most:
			seen[key] = true
			out = append(out, m)
		case len(out) == most:
			out = append(out, Mark{Start: m.Start, End: m.End})
		default:
			out[most].End = m.End
		}
		at, opens = next, another
	}
	return out
}

// tag returns where the next mark stands that opens a quotation or closes one, in any spelling; the length of the text: nowhere.
func tag(text string, from int) (at int, opens bool) {
	for i := from; i < len(text); i++ {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n
		rest := strings.TrimLeft(text[i+1:], " \t\r\n")
		name, closes := strings.CutPrefix(rest, "/")
		if closes {
			name = strings.TrimLeft(name, " \t\r\n")
		}
		if len(name) < len(named) || !strings.EqualFold(name[:len(named)], named) {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(name[len(named):]); unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' {
			continue // another word
		}
		return i, !closes
	}
	return len(text), false
}

// attribute returns the document that an opening mark names, and how long the mark is. 0: it is not written as it has to be.
func attribute(s string) (document string, n int) {
	name, ok := strings.CutPrefix(s, opening)
	rest := strings.TrimLeft(name, " \t\r\n")
	if !ok || rest == name {
		return "", 0
	}
	rest, ok = strings.CutPrefix(rest, "document=")
	if !ok || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", 0
	}
	end := strings.IndexByte(rest[1:], rest[0])
	if end < 0 || strings.ContainsAny(rest[1:1+end], "<>\n") {
		return "", 0
	}
	document, rest = rest[1:1+end], strings.TrimLeft(rest[end+2:], " \t\r\n")
	if !strings.HasPrefix(rest, ">") {
		return "", 0
	}
	return document, len(s) - len(rest) + 1
}

// Key identifies what a mark of a text quotes from which document.
func (m Mark) Key(text string) string { return m.Document + "\n" + text[m.Start:m.End] }
