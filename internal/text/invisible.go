package text

import "unicode"

// Invisible reports whether a reader sees nothing in the place of a rune, or only a gap: white space, what does not
// print, variation selectors, fillers, and everything else that Unicode lets a program leave out when it draws a text.
func Invisible(r rune) bool {
	if r < unicode.MaxASCII {
		return r <= ' '
	}
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == brailleBlank ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// NotPrinted reports whether a rune does not print.
func NotPrinted(r rune) bool { return !unicode.IsPrint(r) }

// brailleBlank is a symbol that prints, with no dots.
const brailleBlank = '\u2800'
