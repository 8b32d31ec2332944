package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped replaces the fence's word in a text.
const escaped = "[mark]"

// Escape removes the fence's secret word from a text, so that no text can close the fence from inside. A model may
// read other forms as the word too: digits of other scripts, or digits with accents or characters between them
// that nobody sees. Those are removed as well. Then Escape makes control tokens harmless; see [Defused].
func Escape(text, fence string) string { return Defused(unfenced(text, fence)) }

// unfenced removes the fence's word.
func unfenced(text, fence string) string {
	if fence == "" {
		return text
	}
	if strings.Contains(text, fence) {
		text = strings.ReplaceAll(text, fence, escaped)
	}
	simple := ascii(text)
	if simple && plain(text, fence) {
		return text
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(text); {
		i += next(text[i:], fence[0], simple)
		if n := disguised(text[i:], fence); n > 0 {
			b.WriteString(text[last:i])
			b.WriteString(escaped)
			i += n
			last = i
		} else if i < len(text) {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// next returns where the next digit of this value stands; the length of the text: nowhere.
func next(text string, first byte, ascii bool) int {
	if ascii { // much faster than reading runes
		return until(text, first)
	}
	for i, r := range text {
		if digit(r) == first {
			return i
		}
	}
	return len(text)
}

// until returns how many bytes stand before the first c; the length of the text: all of them.
func until(text string, c byte) int {
	if at := strings.IndexByte(text, c); at >= 0 {
		return at
	}
	return len(text)
}

// plain reports quickly whether an ASCII text cannot contain any form of the fence, because it lacks a digit of the fence. That is
// so for most texts.
func plain(text, fence string) bool {
	for i := range len(fence) {
		if !strings.Contains(text, fence[i:i+1]) {
			return true
		}
	}
	return false
}

// ascii reports whether a text is ASCII only. It reads eight bytes at a time: the compiler makes one load of the
// expression below.
func ascii(text string) bool {
	for ; len(text) >= 8; text = text[8:] {
		eight := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		if eight&0x8080808080808080 != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// disguised returns the length of the form of the fence that the text begins with, or 0 if there is none.
func disguised(text, fence string) int {
	want := 0
	for i, r := range text {
		switch d := digit(r); {
		case d == fence[want]:
			if want++; want == len(fence) {
				return i + utf8.RuneLen(r)
			}
		case d != 0 || !Invisible(r) && !unicode.IsMark(r):
			return 0
		}
	}
	return 0
}

// digit returns the ASCII digit of the same value, or 0 if the rune is no digit.
func digit(r rune) byte {
	if r >= '0' && r <= '9' {
		return byte(r)
	}
	if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
		return 0
	}
	// The ten digits of a script are consecutive. Digits of two scripts are never adjacent, except for the
	// mathematical ones, which form groups of ten.
	zero := r
	for n := 0; n < 9 && unicode.Is(unicode.Nd, zero-1); n++ {
		zero--
	}
	if r >= 0x1D7CE && r <= 0x1D7FF {
		zero = 0x1D7CE + (r-0x1D7CE)/10*10
	}
	return byte('0' + (r-zero)%10)
}
