package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	redacted   = "[redacted]"
	maxMessage = 500 // bytes of a foreign text in an error
	minSecret  = 8   // bytes from which a header's value is taken for a secret
	shownEnd   = 8   // bytes of a key's end that say too much of it
)

// redactor cuts the secrets of one request out of foreign text.
type redactor []string

func newRedactor(key string, base *url.URL, header http.Header) redactor {
	var r redactor
	add := func(s string) {
		if s == "" {
			return
		}
		quoted, _ := json.Marshal(s) //nolint:errchkjson // a string always marshals
		r = append(r,
			s, strings.Trim(string(quoted), `"`), url.QueryEscape(s), url.PathEscape(s),
			base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
		)
	}
	add(key)
	if password, ok := base.User.Password(); ok {
		add(password)
	}
	for _, values := range base.Query() {
		for _, v := range values {
			if len(v) >= minSecret {
				add(v)
			}
		}
	}
	for _, values := range header {
		for _, v := range values {
			if len(v) >= minSecret {
				add(v)
			}
			if _, token, ok := strings.Cut(v, " "); ok && len(token) >= minSecret {
				add(token) // "Bearer …"
			}
		}
	}
	if len(key) >= 3*shownEnd { // vendors name a key by its two ends
		r = append(r, key[:shownEnd], key[len(key)-shownEnd:])
	}
	return r
}

// clean yields one short printable line without secrets. It cuts last: a secret that the end of the
// line divides would no longer be found.
func (r redactor) clean(s string) string {
	for _, secret := range r {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	words := strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
	for i, w := range words {
		if strings.Contains(w, "***") { // a vendor's masked key still shows its two ends
			words[i] = redacted
		}
	}
	s = strings.ToValidUTF8(strings.Join(words, " "), "?")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Clip makes a foreign text fit for an error message: one printable line of bearable length.
func Clip(s string) string { return redactor(nil).clean(s) }
