package token

import (
	"unicode"

	"github.com/pkoukk/tiktoken-go"
)

const (
	longest = 512  // bytes of an undivided stretch that are still merged, at most
	portion = 8192 // bytes that are counted at once, roughly; it bounds the memory
)

// vocabulary counts with a vocabulary that is loaded at its first use. load returns nil if loading fails.
type vocabulary struct {
	name string
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

// kind groups characters as finely as the patterns of all vocabularies do.
type kind uint8

const (
	other kind = iota
	letter
	number
	joint // a letter to some patterns, or part of an ending: never divided from the character before it
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

// nextBorder returns the first safe border after from: a place where every pattern ends a piece, whatever
// follows, and starts the next one, whatever came before. That is behind a letter or a number, and before
// a character that is neither of the same kind nor joint. The two sides have as many tokens apart as
// together. That does not hold for a cut inside a piece, because merges are not additive.
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
