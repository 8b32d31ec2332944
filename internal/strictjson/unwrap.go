package strictjson

import "strings"

// Unwrap takes away what a model put around its JSON where that loses nothing, in this order: a
// byte-order mark at the very start, one closed <think>…</think>, one Markdown fence around all that
// is left (of backticks or tildes, with "json" in any case after it, or nothing), and white space
// around each. It takes nothing from the inside and nothing twice. What it yields is a part of text,
// and still has to be decoded: text that has no wrapping comes back as it is, JSON or not.
//
// The error is an [*Error]: thinking or a fence that is not closed, a fence for another language.
func Unwrap(text string) (string, error) {
	const open, shut = "<think>", "</think>"
	body := trim(strings.TrimPrefix(text, "\ufeff"))
	if thought, ok := strings.CutPrefix(body, open); ok {
		// The first end counts. If the thinking quoted one, what follows is not JSON and is refused;
		// counting the last would let a quoted end inside the JSON hide the half before it.
		_, after, closed := strings.Cut(thought, shut)
		if !closed {
			return "", &Error{Reason: Wrapping, Offset: len(text), Detail: open + " is not closed"}
		}
		body = trim(after)
	}
	width := 0
	if body != "" && (body[0] == '`' || body[0] == '~') {
		width = len(body) - len(strings.TrimLeft(body, body[:1]))
	}
	if width < 3 {
		return body, nil
	}
	return unfence(text, body, width)
}

// unfence takes the fence off body, whose first line begins with a fence of the given width.
func unfence(text, body string, width int) (string, error) {
	start := strings.LastIndex(text, body)
	first, inside, more := strings.Cut(body, "\n")
	if info := trim(first[width:]); info != "" && !strings.EqualFold(info, "json") {
		return "", &Error{Reason: Wrapping, Offset: start + width, Detail: "a fence that does not say json"}
	}
	// The end must stand on a line of its own and be as long as the beginning, or longer.
	content := strings.TrimRight(inside, body[:1])
	line := strings.TrimRight(content, " \t")
	if !more || len(inside)-len(content) < width || line != "" && !strings.HasSuffix(line, "\n") {
		return "", &Error{Reason: Wrapping, Offset: len(text), Detail: "the fence is not closed"}
	}
	return trim(content), nil
}

// trim cuts the white space of JSON from both ends.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }
