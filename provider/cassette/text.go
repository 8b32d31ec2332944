package cassette

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
)

// In a text of the file, these brackets enclose a placeholder: "⟦fence 1⟧" for the first fence word of
// the request, "⟦x9f⟧" for a byte that JSON cannot hold, or that is part of such a bracket.
const (
	opening = "⟦"
	closing = "⟧"
)

var errEscape = errors.New("a bracket ⟦ that neither names a fence of the request nor a byte")

// scribe converts texts into the form of the file: without secrets, and with placeholders for fence
// words.
type scribe struct {
	secrets *redactor
	fences  []string // by number, counted from 1
}

// write returns a text in the form of the file.
func (s *scribe) write(text string) string {
	form, _ := s.divide(text, nil)
	return form
}

// divide converts a text that came in pieces. ends are the offsets in the text at which the pieces end;
// moved are these offsets in the form of the file. A piece that ends inside a replaced part ends after
// its placeholder.
func (s *scribe) divide(text string, ends []int) (form string, moved []int) {
	spans := s.secrets.find(text)
	if len(spans) == 0 && s.plain(text) {
		return text, ends
	}
	var b strings.Builder
	moved = make([]int, 0, len(ends))
	for i := 0; i < len(text); {
		if len(spans) > 0 && spans[0].End <= i {
			spans = spans[1:]
		}
		var n int
		var stands string
		if len(spans) > 0 && spans[0].Start == i {
			n, stands = spans[0].End-i, redact.Mark // which cannot be undone
		} else {
			n, stands = s.unit(text[i:])
		}
		at := b.Len()
		if stands == "" {
			b.WriteString(text[i : i+n])
		} else {
			b.WriteString(stands)
		}
		for len(moved) < len(ends) && ends[len(moved)] < i+n {
			within := ends[len(moved)] - i
			if within > 0 && stands != "" {
				within = len(stands)
			}
			moved = append(moved, at+within)
		}
		i += n
	}
	for len(moved) < len(ends) {
		moved = append(moved, b.Len())
	}
	return b.String(), moved
}

// plain reports whether a text needs no placeholder.
func (s *scribe) plain(text string) bool {
	for _, word := range s.fences {
		if strings.Contains(text, word) {
			return false
		}
	}
	return utf8.ValidString(text) && !strings.Contains(text, opening)
}

// unit returns the length of the next part of a text, and its placeholder, or "" if it needs none.
func (s *scribe) unit(text string) (n int, stands string) {
	number := -1
	for i, word := range s.fences { // where one word begins another, the longer one counts
		if strings.HasPrefix(text, word) && (number < 0 || len(word) > len(s.fences[number])) {
			number = i
		}
	}
	if number >= 0 {
		return len(s.fences[number]), opening + fenceName + strconv.Itoa(number+1) + closing
	}
	r, n := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && n == 1 || strings.HasPrefix(text, opening) {
		return 1, opening + "x" + hex.EncodeToString([]byte{text[0]}) + closing
	}
	return n, ""
}

const (
	fenceName = "fence "
	maxFences = 64 // that one request names
)

// restore returns the original of a text, with these fence words.
func restore(form string, fences []string) (string, error) {
	if !strings.Contains(form, opening) {
		return form, nil
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, opening)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, closing)
		number, isFence := strings.CutPrefix(name, fenceName)
		digits, isByte := strings.CutPrefix(name, "x")
		switch {
		case !closed:
			return "", errEscape
		case isFence:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > len(fences) {
				return "", errEscape
			}
			b.WriteString(fences[n-1])
		case isByte && len(digits) == 2:
			n, err := strconv.ParseUint(digits, 16, 8)
			if err != nil {
				return "", errEscape
			}
			b.WriteByte(byte(n))
		default:
			return "", errEscape
		}
		form = after
	}
}
