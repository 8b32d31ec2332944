package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as it is compared. What writers and layouts change without changing a word is the same in it: forms of the same
// character, runs of white space, dashes, quotation marks, words that are broken at the end of a line, and what nobody sees. Case stays as
// it is.
type folded struct {
	text   []byte
	places []int32 // where each byte of text stands in the original
	broken int     // how long the text was when a word could be broken last, with its hyphen
}

// fold returns the folded form of a text. false: it would be much longer than the text.
func fold(s string) (folded, bool) {
	f := folded{text: make([]byte, 0, len(s)), places: make([]int32, 0, len(s))}
	for i := 0; i < len(s); {
		switch {
		case len(f.text) > 2*len(s)+4096:
			return f, false
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
	return f, true
}

// segment adds a character with its marks.
func (f *folded) segment(raw string, at int) {
	form := norm.NFKC
	if r, n := utf8.DecodeRuneInString(raw); n == len(raw) && mark(r) || strings.ContainsFunc(raw, raised) {
		form = norm.NFC
	}
	for _, r := range form.String(raw) {
		f.put(r, at)
	}
}

// raised reports whether a rune stays as it is, because it is set above or below the line, in a circle, or as a fraction: 10² is not 102,
// and 2ⁿ is not 2n.
func raised(r rune) bool {
	return unicode.Is(unicode.No, r) || r >= 0x2070 && r <= 0x209f || r == 'ª' || r == 'º' ||
		(r < 0xff00 || r > 0xffef) && unicode.In(r, unicode.Lm, unicode.Sk)
}

// mark reports whether a rune is a quotation mark or an apostrophe, or is written in the place of one.
func mark(r rune) bool {
	switch r {
	case '"', '“', '”', '„', '‟', '«', '»', '″', '「', '」', '『', '』':
		return true
	default:
		return single(r)
	}
}

// single reports whether a mark has one stroke.
func single(r rune) bool {
	switch r {
	case '\'', '`', '´', '‘', '’', '‚', '‛', '‹', '›', '′', 'ʼ':
		return true
	default:
		return false
	}
}

// unseen reports whether nothing is shown in the place of a rune. What turns the order of a text around is not unseen.
func unseen(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == '\x7f'
	}
	return r != '\u202d' && r != '\u202e' &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// put adds a rune that comes from a place of the original.
func (f *folded) put(r rune, at int) {
	hyphen := false
	switch {
	case unicode.IsSpace(r):
		f.space(at)
		return
	case r == '\u00ad':
		if inWord(f.last()) {
			f.broken = len(f.text)
		}
		return
	case unseen(r):
		return
	case mark(r) && !single(r) && unicode.IsNumber(f.last()): // inches are not feet
		r = '"'
	case mark(r):
		r = '\''
	case inWord(r):
		f.join(r)
	case r == '\u2014' || r == '\u2015':
		f.dash(at)
		return
	case r == '\u2044' || r == '\u2215':
		r = '/'
	case r == '-' || r == '\u2010' || r == '\u2011':
		r, hyphen = '-', inWord(f.last())
	case r == '\u2212' || unicode.Is(unicode.Pd, r):
		r = '-'
	}
	before := len(f.text)
	f.text = utf8.AppendRune(f.text, r)
	for range len(f.text) - before {
		f.places = append(f.places, int32(at)) //nolint:gosec // a document has at most MaxDocument bytes
	}
	if hyphen {
		f.broken = len(f.text)
	}
}

// last returns the last rune of the text; a space: there is none.
func (f *folded) last() rune {
	if len(f.text) == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRune(f.text)
	return r
}

// join puts a word together that was broken before r. Its hyphen goes as well, unless it may belong to the word.
func (f *folded) join(r rune) {
	n := len(f.text) - 1
	if f.broken == 0 || n != f.broken || f.text[n] != ' ' || alone(r) {
		return
	}
	if f.text[n-1] == '-' {
		if before, _ := utf8.DecodeLastRune(f.text[:n-1]); unicode.IsLower(before) && unicode.IsLower(r) {
			n--
		}
	}
	f.text, f.places, f.broken = f.text[:n], f.places[:n], 0
}

// space adds a space, unless the text ends with one.
func (f *folded) space(at int) {
	if f.last() == ' ' {
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
