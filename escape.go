package debate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped stands in a text in place of the fence's word.
const escaped = "[mark]"

// escape takes the fence's secret word out of a text that holds it, so that nobody can close the
// fence from inside. A reader who is not exact may take other forms for the word: digits of other
// scripts, or what does not print or is white space between the digits. They are taken out too.
func escape(text, fence string) string {
	if fence == "" {
		return text
	}
	if strings.Contains(text, fence) {
		text = strings.ReplaceAll(text, fence, escaped)
	}
	if plain(text, fence) {
		return text
	}
	var b strings.Builder
	last := 0
	for i, r := range text {
		if i < last || digit(r) != fence[0] {
			continue
		}
		if n := disguised(text[i:], fence); n > 0 {
			b.WriteString(text[last:i])
			b.WriteString(escaped)
			last = i + n
		}
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// plain reports whether no form of a fence can be in a text: it holds nothing but ASCII, and not every
// digit of the fence. Most speeches do; this is done with each.
func plain(text, fence string) bool {
	if !ascii(text) {
		return false
	}
	for i := range len(fence) {
		if !strings.Contains(text, fence[i:i+1]) {
			return true
		}
	}
	return false
}

// ascii reports whether a text is nothing but ASCII, eight bytes at a time: the sum below is one load.
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

// disguised yields the length of the form of the fence that the text begins with; 0: there is none.
func disguised(text, fence string) int {
	want := 0
	for i, r := range text {
		switch d := digit(r); {
		case d == fence[want]:
			if want++; want == len(fence) {
				return i + utf8.RuneLen(r)
			}
		case d != 0 || unicode.IsPrint(r) && !unicode.IsSpace(r):
			return 0
		}
	}
	return 0
}

// digit yields the ASCII digit of the same value; 0: it is no digit.
func digit(r rune) byte {
	if r >= '0' && r <= '9' {
		return byte(r)
	}
	if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
		return 0
	}
	// The digits of a script stand in a row from its zero on, and rows do not touch but for the
	// mathematical ones, whose rows begin every ten.
	zero := r
	for n := 0; n < 9 && unicode.Is(unicode.Nd, zero-1); n++ {
		zero--
	}
	if r >= 0x1D7CE && r <= 0x1D7FF {
		zero = 0x1D7CE + (r-0x1D7CE)/10*10
	}
	return byte('0' + (r-zero)%10)
}
