package sql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternBytes is how many bytes of a text the database searches for.
const patternBytes = 200

// pattern returns a pattern for LIKE, with ! as the escape character, that matches at least every JSON
// text with a string in which [store.Filter.Finds] would find part.
//
// The operator ignores case only for ASCII letters. Two other letters have an ASCII letter as their lower case, the
// Kelvin sign (U+212A) and the dotted capital I (U+0130). So k and i in part may match any character, and so may
// every letter that is not ASCII. A character that JSON can escape in several ways may match several characters, or
// none.
func pattern(part string) string {
	var b strings.Builder
	b.WriteByte('%')
	open := true // the pattern ends with a %
	for n, r := range part {
		if n >= patternBytes {
			break
		}
		switch {
		case r < ' ', r == 0x7F, strings.ContainsRune("\"\\/<>&\u2028\u2029", r), r == utf8.RuneError:
			if !open {
				b.WriteByte('%')
			}
			open = true
			continue
		case r >= utf8.RuneSelf, strings.ContainsRune("kKiI", r):
			b.WriteByte('_')
		case strings.ContainsRune("%_!", r):
			b.WriteByte('!')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		open = false
	}
	if !open {
		b.WriteByte('%')
	}
	return b.String()
}

// plain returns a text that every database accepts: invalid UTF-8, or a text with a NUL, becomes a Go
// literal. Different texts stay different.
func plain(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) && !strings.HasPrefix(s, `"`) {
		return s
	}
	return strconv.Quote(s)
}

// original is the inverse of plain.
func original(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	unquoted, err := strconv.Unquote(s)
	if err != nil {
		return s
	}
	return unquoted
}
