package detect

import (
	"unicode"
	"unicode/utf8"
)

// The parameters of FNV-1a with 64 bits (Fowler, Noll, Vo), as in hash/fnv.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

// join hashes a sequence of word hashes.
func join(words ...uint64) uint64 {
	h := fnvOffset
	for _, word := range words {
		h = (h ^ word) * fnvPrime
	}
	return h
}

// class says what a character does to the word before it.
type class uint8

const (
	border     class = iota // ends it
	letter                  // continues it, or begins one; digits too
	whole                   // begins one that only marks continue
	mark                    // continues it
	apostrophe              // continues it if a letter follows
	invisible               // ignored
)

// words calls use with the hash of each word of a text, see Shingle.
func words(text string, use func(word uint64)) {
	h, last := fnvOffset, border // last is the class of the present word's last character
	for _, r := range text {
		r, c := classify(r)
		switch {
		case c == invisible:
			continue
		case c == mark && (last == letter || last == whole):
			h = add(h, r)
			continue
		case c == apostrophe && last == letter:
			last = apostrophe
			continue
		case c == letter && last == apostrophe:
			h, last = add(add(h, '\''), r), letter
			continue
		case c == letter && last == letter:
			h = add(h, r)
			continue
		}
		if last != border {
			use(h)
		}
		h, last = fnvOffset, border
		if c == letter || c == whole {
			h, last = add(h, r), c
		}
	}
	if last != border {
		use(h)
	}
}

// add hashes one more character.
func add(h uint64, r rune) uint64 { return (h ^ uint64(r)) * fnvPrime } //nolint:gosec // a rune of a string is not negative

// classify returns the class of a character, and the character in lower case.
func classify(r rune) (rune, class) {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r, letter
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A', letter
		case r == '\'':
			return r, apostrophe
		}
		return r, border
	}
	switch {
	case r == '’':
		return r, apostrophe
	case unicode.IsLetter(r):
		if unspaced(r) {
			return r, whole
		}
		return unicode.ToLower(unicode.ToUpper(r)), letter // by way of upper case, because two lower-case letters can share one
	case unicode.IsDigit(r):
		return r, letter
	case unicode.IsMark(r):
		return r, mark
	case unicode.Is(unicode.Cf, r):
		return r, invisible
	}
	return r, border
}

// unspaced reports whether a letter belongs to a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0e00 && // the first of Thai
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
