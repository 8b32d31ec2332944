package cassette

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// In a text of the file these brackets enclose what stands for something else: "⟦fence 1⟧" for the
// request's first fence word, "⟦x9f⟧" for a byte that JSON cannot hold, or for one of such a bracket.
const (
	opening = "⟦"
	closing = "⟧"
)

// redacted stands for a secret. What it was is gone.
const redacted = "[redacted]"

var errEscape = errors.New("a bracket ⟦ that neither names a fence of the request nor a byte")

// scribe writes texts as the file has them: without secrets, and with placeholders for fence words.
type scribe struct {
	secrets *redactor
	fences  []string // by number, the first being 1
}

// write yields a text as the file has it.
func (s *scribe) write(text string) string {
	form, _ := s.divide(text, nil)
	return form
}

// divide writes a text that came in pieces. ends are where they end in the text, and are yielded as
// where they end in its form. A piece that ends within what a placeholder stands for ends after that.
func (s *scribe) divide(text string, ends []int) (form string, moved []int) {
	spans := s.secrets.find(text)
	if len(spans) == 0 && s.plain(text) {
		return text, ends
	}
	var b strings.Builder
	moved = make([]int, 0, len(ends))
	for i := 0; i < len(text); {
		if len(spans) > 0 && spans[0].end <= i {
			spans = spans[1:]
		}
		var n int
		var stands string
		if len(spans) > 0 && spans[0].start == i {
			n, stands = spans[0].end-i, redacted
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

// plain reports whether nothing in a text needs a placeholder.
func (s *scribe) plain(text string) bool {
	for _, word := range s.fences {
		if strings.Contains(text, word) {
			return false
		}
	}
	return utf8.ValidString(text) && !strings.Contains(text, opening)
}

// unit yields the length of what comes next, and what stands for it; "": it stands for itself.
func (s *scribe) unit(text string) (n int, stands string) {
	number := -1
	for i, word := range s.fences { // where one word begins another, the longer one is meant
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
	fenceName  = "fence "
	mostFences = 64 // that one request names
)

// restore yields the text of a form, with the words of these fences.
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
