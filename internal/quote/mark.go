package quote

import "strings"

// Mark is a quotation in a text.
type Mark struct {
	Start, End int    // the place of the words in the text, in bytes
	Document   string // the name of the document, as the text has it
}

const (
	opening = "<quote"
	closing = "</quote>"
)

// Marks returns the first most quotations of a text. A mark that is not closed, or that holds another one, is text.
func Marks(text string, most int) (out []Mark) {
	for at := 0; len(out) < most; {
		i := strings.Index(text[at:], opening)
		if i < 0 {
			break
		}
		at += i + len(opening)
		document, n := attribute(text[at:])
		if n == 0 {
			continue
		}
		start := at + n
		end := strings.Index(text[start:], closing)
		if end < 0 {
			break
		}
		if strings.Contains(text[start:start+end], opening) {
			continue
		}
		out = append(out, Mark{Start: start, End: start + end, Document: document})
		at = start + end + len(closing)
	}
	return out
}

// attribute returns the document that the rest of an opening mark names, and how long the rest is. 0: it names none.
func attribute(s string) (document string, n int) {
	rest := strings.TrimLeft(s, " \t\r\n")
	if rest == s {
		return "", 0
	}
	rest, ok := strings.CutPrefix(rest, "document=")
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
