package strictjson

import "strings"

// Unwrap removes what a model put around its JSON, if nothing is lost by that. It removes, in this order
// and each at most once: a byte-order mark at the very start; a closed <think>…</think>; a Markdown fence
// around all the rest (of backticks or tildes, with "json" in any case or nothing after it); and white
// space around each. It removes nothing inside the JSON. The result is a part of text, and still has to
// be decoded. Text without wrapping is returned unchanged, JSON or not.
//
// The error is an [*Error]: thinking or a fence that is not closed, or a fence for another language.
func Unwrap(text string) (string, error) {
	const open, shut = "<think>", "</think>"
	body := trim(strings.TrimPrefix(text, "\ufeff"))
	if thought, ok := strings.CutPrefix(body, open); ok {
		// The first end counts. If the thinking quoted one, the rest is not JSON and is refused. If the
		// last end counted, a quoted end inside the JSON could hide the half before it.
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

// unfence removes the fence from body, whose first line begins with a fence of the given width.
func unfence(text, body string, width int) (string, error) {
	start := strings.LastIndex(text, body)
	first, inside, more := strings.Cut(body, "\n")
	if info := trim(first[width:]); info != "" && !strings.EqualFold(info, "json") {
		return "", &Error{Reason: Wrapping, Offset: start + width, Detail: "a fence that does not say json"}
	}
	// The end must be on a line of its own and at least as long as the beginning.
	content := strings.TrimRight(inside, body[:1])
	line := strings.TrimRight(content, " \t")
	if !more || len(inside)-len(content) < width || line != "" && !strings.HasSuffix(line, "\n") {
		return "", &Error{Reason: Wrapping, Offset: len(text), Detail: "the fence is not closed"}
	}
	return trim(content), nil
}

// trim removes the white space of JSON from both ends.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }
