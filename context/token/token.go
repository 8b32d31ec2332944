// Package token counts the tokens of a text.
//
// [Bytes] is a bound that no byte-level tokenizer passes, and costs next to nothing: it is enough as
// long as everything fits. [ForModel] counts with OpenAI's vocabularies, offline, for when it does not.
package token

import "unicode/utf8"

// Counter yields how many tokens a text costs, or an upper bound of it. Count is pure (the same text
// has the same count in every process), never negative, never panics, whatever bytes the text holds,
// and is safe for concurrent use. The empty text has no tokens. A Counter counts the text alone: what
// a vendor adds around a message is not in it.
type Counter interface {
	Count(text string) int
}

// Bytes bounds the tokens of a text by the bytes that are sent for it: every token of a byte-level
// vocabulary stands for at least one. A byte that is not UTF-8 counts for the three of the replacement
// character that JSON encoders send in its place.
type Bytes struct{}

// Count implements [Counter].
func (Bytes) Count(text string) int {
	n := len(text)
	if utf8.ValidString(text) {
		return n
	}
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			n += len(string(utf8.RuneError)) - 1
		}
	}
	return n
}
