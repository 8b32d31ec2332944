package strictjson

import (
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/internal/thought"
)

// Unwrap removes what a model put around its JSON, if nothing is lost by that. It removes, in this order: a byte-order
// mark at the very start; thinking; a Markdown fence around all the rest (of backticks or tildes, with "json", "jsonc"
// in any case or nothing after it); and white space around each. It removes nothing inside the JSON. The result is a
// part of text, and still has to be decoded. Text without wrapping is returned unchanged, JSON or not.
//
// Some models write their whole answer twice. If both are the same, byte by byte, each with its fence or both within one, the
// first is the answer. Two that differ have two readings, and stay.
//
// Thinking is one or several closed <think>…</think> or another form that package thought knows. Some vendors write the first
// tag themselves, so text up to an end without a beginning is thinking too, unless it begins like JSON or a fence.
//
// The error is an [*Error]: thinking or a fence that is not closed, or a fence for another language.
func Unwrap(text string) (string, error) {
	body, err := unthink(text, trim(strings.TrimPrefix(text, "\ufeff")))
	if err != nil {
		return "", err
	}
	body = once(body)
	width := 0
	if body != "" && (body[0] == '`' || body[0] == '~') {
		width = len(body) - len(strings.TrimLeft(body, body[:1]))
	}
	if width < 3 {
		return body, nil
	}
	return unfence(text, body, width)
}

// unthink removes the thinking at the beginning of body. The first end of each counts. If the thinking quoted one, the
// rest is not JSON and is refused. If the last end counted, a quoted end inside the JSON could hide the half before it.
func unthink(text, body string) (string, error) {
	taken := false
	for {
		p := thought.Opened(body)
		if p == nil {
			break
		}
		rest, closed := thought.After(body, p)
		if !closed {
			return "", &Error{Reason: Wrapping, Offset: len(text), Detail: p.Open + " is not closed"}
		}
		body, taken = trim(rest), true
	}
	if taken || body == "" || strings.ContainsRune("{[\"`~", rune(body[0])) {
		return body, nil
	}
	if rest, closed := thought.After(body, nil); closed {
		return trim(rest), nil
	}
	return body, nil
}

// unfence removes the fence from body, which begins with a fence of the given width. The end of the fence is at least
// as long as its beginning. It need not be on a line of its own, because no JSON ends like a fence.
func unfence(text, body string, width int) (string, error) {
	start := strings.LastIndex(text, body)
	inside := strings.TrimLeft(body[width:], " \t")
	language := inside[:len(inside)-len(strings.TrimLeft(inside, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))]
	if language != "" && !strings.EqualFold(language, "json") && !strings.EqualFold(language, "jsonc") {
		return "", &Error{Reason: Wrapping, Offset: start + width, Detail: "a fence that does not say json"}
	}
	inside = inside[len(language):]
	content := strings.TrimRight(inside, body[:1])
	if len(inside)-len(content) < width {
		return "", &Error{Reason: Wrapping, Offset: len(text), Detail: "the fence is not closed"}
	}
	return once(trim(content)), nil
}

// once returns the first half of a text whose halves are the same, with white space between them. What is JSON as it stands is left
// alone, and so is what does not begin like an object, a list or a fence.
func once(text string) string {
	if text == "" || !strings.ContainsRune("{[`~", rune(text[0])) {
		return text
	}
	left, right := len(text)/2, (len(text)+1)/2
	for 0 < left && right < len(text) && isSpace(text[left-1]) && isSpace(text[right]) {
		left, right = left-1, right+1
	}
	if trim(text[left:right]) != "" || text[:left] != text[right:] || json.Valid([]byte(text)) {
		return text
	}
	return text[:left]
}

// trim removes the white space of JSON from both ends.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }
