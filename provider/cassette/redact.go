package cassette

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// redactor finds secrets in texts: the given ones, in every known form, and texts that look like a
// vendor's key.
type redactor struct{ forms []string }

// span is a part of a text.
type span struct{ start, end int }

// leastForm is the minimum length, in bytes, of a part of a secret's base64 form: a shorter one could be
// part of any text.
const leastForm = 8

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	for _, secret := range secrets {
		if secret != "" {
			r.add(secret)
		}
	}
	// The longest first, so that the forms that hold others are found as a whole.
	slices.SortFunc(r.forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	r.forms = slices.Compact(r.forms)
	return r
}

func (r *redactor) add(secret string) {
	forms := []string{secret}
	for range 2 { // an error that quotes an error holds JSON within JSON
		for _, form := range slices.Clone(forms) {
			quoted := inJSON(form)
			forms = append(forms, quoted, strings.ReplaceAll(quoted, "/", `\/`), unquoted(form))
		}
	}
	for _, escape := range []func(string) string{url.QueryEscape, url.PathEscape} {
		form := escape(secret)
		forms = append(forms, form, lowerHex(form))
	}
	r.forms = append(r.forms, forms...)
	r.forms = append(r.forms, inBase64(secret)...)
}

// inJSON returns a text as encoding/json writes it, without the quotes; <, > and & are escaped.
func inJSON(s string) string {
	quoted, _ := json.Marshal(s) //nolint:errchkjson // a string always marshals
	return string(quoted[1 : len(quoted)-1])
}

// unquoted is inJSON without escaping <, > and &.
func unquoted(s string) string {
	quoted := plainJSON(s)
	return string(quoted[1 : len(quoted)-1])
}

// lowerHex returns a URL-escaped text with lower-case hexadecimal digits.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 returns the parts of a base64 text that are certain if the encoded text contains the secret.
// They depend on the secret's position modulo three bytes.
func inBase64(secret string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
			first, last := (before*8+5)/6, (before+len(secret))*8/6 // six-bit characters that hold only bits of the secret
			if last-first >= leastForm {
				forms = append(forms, text[first:last])
			}
		}
	}
	return forms
}

// find returns the parts of a text that are secret, in order and without overlap.
func (r *redactor) find(text string) []span {
	var found []span
	for _, form := range r.forms {
		for at := 0; ; at++ { // two may overlap
			i := strings.Index(text[at:], form)
			if i < 0 {
				break
			}
			at += i
			found = append(found, span{at, at + len(form)})
		}
	}
	found = append(found, keys(text)...)
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	apart := found[:0]
	for _, s := range found {
		if n := len(apart); n > 0 && s.start < apart[n-1].end {
			apart[n-1].end = max(apart[n-1].end, s.end)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// leastKey is the minimum length, in bytes, of the part of a key after its prefix.
const leastKey = 16

// What keys and tokens are made of.
const (
	digits   = "0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	inKey    = digits + capitals + "abcdefghijklmnopqrstuvwxyz_-"
	inToken  = inKey + ".~+/="
)

// keys returns the parts of a text that look like a vendor's key or an HTTP token. It does not look into
// a part again, because every match inside would have the same end.
func keys(text string) []span {
	var found []span
	for _, prefix := range []string{"sk-", "xai-", "AIza", "gsk_"} {
		for end := 0; ; {
			i := strings.Index(text[end:], prefix)
			if i < 0 {
				break
			}
			start := end + i
			body := start + len(prefix)
			end = body + leading(text[body:], inKey)
			if likeKey(text[body:end]) {
				found = append(found, span{start, end})
			}
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		for end := 0; ; {
			i := strings.Index(text[end:], scheme)
			if i < 0 {
				break
			}
			rest := text[end+i+len(scheme):]
			token := strings.TrimLeft(strings.TrimPrefix(rest, "%20"), " +\t\r\n")
			start := len(text) - len(token)
			end = start
			if len(token) == len(rest) {
				continue // a longer word
			}
			end += leading(token, inToken)
			if likeKey(text[start:end]) {
				found = append(found, span{start, end})
			}
		}
	}
	return found
}

// leading returns the length of the beginning of a text that consists of these characters.
func leading(text, of string) int { return len(text) - len(strings.TrimLeft(text, of)) }

// likeKey reports whether a part of a text is a key, and not a hyphenated word such as one that follows
// the "sk-" of "task-": it is long, and has a digit or a capital letter.
func likeKey(s string) bool { return len(s) >= leastKey && strings.ContainsAny(s, digits+capitals) }
