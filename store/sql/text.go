package sql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternBytes is how much of a text the database looks for, in bytes.
const patternBytes = 200

// pattern is a pattern for LIKE, with ! as the escape character, that matches at least every JSON text with
// a string in which [debate.Filter.Finds] would find part.
//
// The operator knows the case of ASCII letters alone. Two letters beside them have one of those as their
// small letter, k (U+212A) and i (U+0130), so that these may be any character, as every letter may be that
// is not ASCII. What JSON escapes in one way or another may be several characters, or none.
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

// plain yields a text that every database takes as it is: one that is not UTF-8, or holds a NUL, as a Go
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
