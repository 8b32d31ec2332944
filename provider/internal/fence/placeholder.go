package fence

import (
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
)

// In a form of a text, these brackets enclose a placeholder: "⟦fence 1⟧" for the first fence word, "⟦x9f⟧" for a byte
// that JSON cannot hold, or that is part of such a bracket. So no text has other brackets in its form.
const (
	Opening = "⟦"
	Closing = "⟧"

	name = "fence "
)

var errPlaceholder = errors.New("a bracket " + Opening + " that neither names a fence of the request nor a byte")

// Placeholder returns what stands for the n-th fence word, counted from 1.
func Placeholder(n int) string { return Opening + name + strconv.Itoa(n) + Closing }

// Hide returns a form of a text with placeholders for these fence words, and [redact.Mark] for secrets, which are in
// order and do not overlap. The text came in pieces: ends are the offsets at which they end, moved are these offsets in
// the form. A piece that ends inside a replaced part ends after what stands for it.
func Hide(text string, words []string, secrets []redact.Span, ends []int) (form string, moved []int) {
	if len(secrets) == 0 && isPlain(text, words) {
		return text, ends
	}
	var b strings.Builder
	moved = make([]int, 0, len(ends))
	move := func(i int) {
		for len(moved) < len(ends) && ends[len(moved)] <= i {
			moved = append(moved, b.Len())
		}
	}
	for i := 0; i < len(text); {
		for len(secrets) > 0 && secrets[0].End <= i {
			secrets = secrets[1:]
		}
		n, stands := unit(text[i:], words)
		if len(secrets) > 0 && secrets[0].Start <= i {
			n, stands = secrets[0].End-i, redact.Mark // which cannot be undone
		}
		if stands != "" {
			move(i)
			b.WriteString(stands)
			i += n
			continue
		}
		for end := i + n; i < end; i++ {
			move(i)
			b.WriteByte(text[i])
		}
	}
	move(len(text))
	return b.String(), moved
}

// isPlain reports whether a text needs no placeholder.
func isPlain(text string, words []string) bool {
	if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) }) {
		return false
	}
	return utf8.ValidString(text) && !strings.Contains(text, Opening)
}

// unit returns the length of the next part of a text, and its placeholder, or "" if it needs none.
func unit(text string, words []string) (n int, stands string) {
	number := -1
	for i, word := range words { // where one word begins another, the longer one counts
		if strings.HasPrefix(text, word) && (number < 0 || len(word) > len(words[number])) {
			number = i
		}
	}
	if number >= 0 {
		return len(words[number]), Placeholder(number + 1)
	}
	r, n := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && n == 1 || strings.HasPrefix(text, Opening) {
		return 1, Opening + "x" + hex.EncodeToString([]byte{text[0]}) + Closing
	}
	return n, ""
}

var placeholder = regexp.MustCompile(Opening + "[^" + Closing + "]*(?:" + Closing + ")?")

// Show returns the text of a form, with these fence words. Secrets stay hidden.
func Show(form string, words []string) (text string, err error) {
	text = placeholder.ReplaceAllStringFunc(form, func(stands string) string {
		inner, closed := strings.CutSuffix(strings.TrimPrefix(stands, Opening), Closing)
		number, isFence := strings.CutPrefix(inner, name)
		digits, isByte := strings.CutPrefix(inner, "x")
		n, noNumber := strconv.Atoi(number)
		raw, noHex := hex.DecodeString(digits)
		switch {
		case closed && isFence && noNumber == nil && n >= 1 && n <= len(words):
			return words[n-1]
		case closed && isByte && noHex == nil && len(raw) == 1:
			return string(raw)
		}
		err = errPlaceholder
		return ""
	})
	return text, err
}
