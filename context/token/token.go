// Package token counts the tokens of a text.
//
// [Bytes] is an upper bound for every byte-level tokenizer, and costs almost nothing. It is enough while
// everything fits. [ForModel] counts with OpenAI's vocabularies, offline, for when a bound is not enough.
package token

import "unicode/utf8"

// Counter counts the tokens of a text, or returns an upper bound of them. The count covers the text
// alone, without what a vendor adds around a message. The empty text has no tokens.
//
// Count is pure: the same text has the same count in every process. It is never negative, never panics on
// any bytes, and is safe for concurrent use.
type Counter interface {
	Count(text string) int
}

// Bytes bounds the tokens of a text by the number of bytes that are sent for it, because every token of a
// byte-level vocabulary stands for at least one byte. A byte that is not valid UTF-8 counts as three:
// JSON encoders send the replacement character in its place.
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
