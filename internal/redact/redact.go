// Package redact finds secrets in foreign texts and removes them. It is the one mechanism behind errors, logs, replies
// and cassettes.
//
// A [Set] knows the secrets and finds parts of them: plain, wrapped (white space and the characters of text.Invisible do
// not count), escaped as in JSON, URLs and HTML at any depth, in base64 at each of its three alignments, and in
// hexadecimal. A [Stream] removes them from a text that arrives in pieces. [Foreign] knows no secret: it removes what
// has the form of one.
//
// All of it takes time linear in the text, whatever the text is.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// Mark replaces a secret.
	Mark = "[redacted]"
	// MinKey is the minimum length of a key, in bytes. Shorter ones are placeholders for endpoints without
	// authentication, and count as no secret.
	MinKey = 16
	// InFailures is how many bytes of a key, behind its public prefix, must not be seen in errors and logs.
	InFailures = 8
	// InReplies is how many bytes of a key must not be seen in the reply of a model.
	InReplies = 20
)

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Secret is a text of which no part may be seen that is too long.
type Secret struct {
	Text string
	// Public is the length of the beginning that is no secret, in bytes. It is removed with what follows it.
	Public int
	// Least is the length of the parts that are too long, in bytes. 0, or more than the length of Text: only all of
	// Text is too long.
	Least int
}

// shownStart is how many bytes of a key may not be seen together with the end of its prefix. Vendors name a key by its two
// ends.
const shownStart = 4

// Key returns a key as it counts in errors and logs: any 8 bytes behind its public prefix, and the first 4 of those if
// they follow the prefix. A key that is shorter than MinKey is the zero Secret, which is in no text.
func Key(key string) Secret {
	if len(key) < MinKey {
		return Secret{}
	}
	return Secret{Text: key, Public: max(0, public(key)-(InFailures-shownStart)), Least: InFailures}
}

// KeyInReplies returns a key as it counts in replies: any 20 bytes. A key that is shorter than MinKey is the zero
// Secret.
func KeyInReplies(key string) Secret {
	if len(key) < MinKey {
		return Secret{}
	}
	s := Secret{Text: key, Least: InReplies}
	if header := tokenHeader(key); len(key)-header >= MinKey {
		s.Public = header
	}
	return s
}

// Set finds secrets. It is safe for concurrent use. A nil Set finds nothing.
type Set struct {
	lanes [laneCount][]*table
	plus  bool // a secret holds a plus sign or white space, which a URL may exchange
}

// NewSet returns a Set of these secrets; nil if there is none.
func NewSet(secrets ...Secret) *Set {
	var s Set
	for _, secret := range secrets {
		s.add(secret)
	}
	for i := range s.lanes {
		if len(s.lanes[i]) > 0 {
			return &s
		}
	}
	return nil
}

// Find returns the secret parts of a text, in order and without overlap.
func (s *Set) Find(text string) []Span {
	if s == nil || text == "" {
		return nil
	}
	scan := newScanner(s)
	scan.write(text)
	scan.end()
	return Merge(scan.spans)
}

// Redact returns a text without secrets.
func (s *Set) Redact(text string) string { return Replace(text, s.Find(text)) }

// Merge sorts spans, and joins those that overlap.
func Merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	apart := spans[:0]
	for _, s := range spans {
		if n := len(apart); n > 0 && s.Start < apart[n-1].End {
			apart[n-1].End = max(apart[n-1].End, s.End)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// Replace puts Mark into the place of these parts of a text, which are in order and do not overlap.
func Replace(text string, spans []Span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		b.WriteString(Mark)
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}
