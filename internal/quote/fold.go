package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as it is compared. What writers and layouts change without changing a word is the same in it: forms of the same
// character, runs of white space, dashes, quotation marks, and characters that mark a place to break. Case stays as it is.
type folded struct {
	text   []byte
	places []int32 // where each byte of text stands in the original
}

// fold returns the folded form of a text.
func fold(s string) folded {
	f := folded{text: make([]byte, 0, len(s)), places: make([]int32, 0, len(s))}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "--"): // as typewriters write a long dash
			f.dash(i)
			i += len(s[i:]) - len(strings.TrimLeft(s[i:], "-"))
		case s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf):
			f.put(rune(s[i]), i)
			i++
		default:
			n := max(1, norm.NFKC.NextBoundaryInString(s[i:], true))
			f.segment(s[i:i+n], i)
			i += n
		}
	}
	return f
}

// segment adds a character with its marks. A raised or circled digit and a fraction stay as they are: 10² is not 102.
func (f *folded) segment(raw string, at int) {
	form := norm.NFKC
	if r, n := utf8.DecodeRuneInString(raw); n == len(raw) && mark(r) || strings.ContainsFunc(raw, numeral) {
		form = norm.NFC
	}
	for _, r := range form.String(raw) {
		f.put(r, at)
	}
}

// numeral reports whether a rune is a number that is no digit.
func numeral(r rune) bool { return unicode.Is(unicode.No, r) }

// mark reports whether a rune is a quotation mark or an apostrophe, or is written in the place of one.
func mark(r rune) bool {
	switch r {
	case '"', '\'', '`', '´', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '′', '″', '「', '」', '『', '』', 'ʼ':
		return true
	default:
		return false
	}
}

// put adds a rune that comes from a place of the original.
func (f *folded) put(r rune, at int) {
	switch {
	case r == '\u00ad' || r == '\u200b' || r == '\u2060' || r == '\ufeff': // marks a place to break, or none
		return
	case unicode.IsSpace(r):
		f.space(at)
		return
	case r == '\u2014' || r == '\u2015':
		f.dash(at)
		return
	case mark(r):
		r = '\''
	case r == '\u2044' || r == '\u2215':
		r = '/'
	case r == '\u2212' || unicode.Is(unicode.Pd, r):
		r = '-'
	}
	before := len(f.text)
	f.text = utf8.AppendRune(f.text, r)
	for range len(f.text) - before {
		f.places = append(f.places, int32(at)) //nolint:gosec // a document has at most MaxDocument bytes
	}
}

// space adds a space, unless the text ends with one.
func (f *folded) space(at int) {
	if n := len(f.text); n == 0 || f.text[n-1] == ' ' {
		return
	}
	f.text, f.places = append(f.text, ' '), append(f.places, int32(at)) //nolint:gosec // as in put
}

// dash adds a long dash. It stands apart, whether the writer has put spaces around it or not.
func (f *folded) dash(at int) {
	f.space(at)
	f.put('-', at)
	f.space(at)
}
