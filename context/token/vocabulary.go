package token

import (
	"unicode"

	"github.com/pkoukk/tiktoken-go"
)

const (
	longest = 512  // bytes of an undivided stretch that are still merged
	portion = 8192 // bytes that are counted at once, about: bounds the memory
)

// vocabulary counts with a vocabulary that is loaded when it is needed; load yields nil if that fails.
type vocabulary struct {
	load func() *tiktoken.Tiktoken
}

// Count implements [Counter].
func (v *vocabulary) Count(text string) int {
	if text == "" {
		return 0
	}
	encoding := v.load()
	if encoding == nil {
		return Bytes{}.Count(text)
	}
	count, start, border := 0, 0, 0
	for border < len(text) {
		next := nextBorder(text, border)
		switch {
		case next-border > longest:
			count += ordinary(encoding, text[start:border]) + Bytes{}.Count(text[border:next])
			start = next
		case next-start >= portion:
			count += ordinary(encoding, text[start:next])
			start = next
		}
		border = next
	}
	return count + ordinary(encoding, text[start:])
}

func ordinary(encoding *tiktoken.Tiktoken, text string) int {
	if text == "" {
		return 0
	}
	return len(encoding.EncodeOrdinary(text))
}

// kind says what the patterns of all vocabularies can tell apart.
type kind uint8

const (
	other kind = iota
	letter
	number
	joint // a letter to some patterns, or part of an ending: never divided from what is before it
)

func kindOf(r rune) kind {
	switch {
	case r == '\'', unicode.IsMark(r):
		return joint
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	default:
		return other
	}
}

// nextBorder yields the first place after from where every pattern ends a piece, whatever follows it,
// and starts the next, whatever came before: behind a letter or a number, in front of anything that is
// neither its own kind nor joint. Both sides of it have as many tokens apart as together, which cannot
// be said of cutting a piece: merges are not additive.
func nextBorder(text string, from int) int {
	before := joint
	for i, r := range text[from:] {
		k := kindOf(r)
		if (before == letter || before == number) && k != before && k != joint {
			return from + i
		}
		before = k
	}
	return len(text)
}
