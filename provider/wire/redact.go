package wire

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	redacted   = "[redacted]"
	maxMessage = 500 // bytes of a foreign text in an error
	minSecret  = 8   // bytes from which on a header's value, or the beginning of a secret, counts as a secret
	shownEnd   = 8   // bytes at the end of a key that reveal too much of it
	maxEscape  = 7   // backslashes before a character: JSON within JSON within JSON
)

// redactor removes the secrets of one request from foreign text.
type redactor []secret

// secret is a text that must not be shown.
type secret struct {
	text string
	from int // bytes from which on its beginning counts as secret too
}

func newRedactor(key string, base *url.URL, header http.Header) redactor {
	var r redactor
	add := func(s string, from int) {
		if s == "" {
			return
		}
		r = append(r, secret{s, from})
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			coded := coding.EncodeToString([]byte(s))
			r = append(r, secret{coded, len(coded)})
		}
	}
	if len(key) >= 3*shownEnd { // vendors name a key by its two ends
		add(key, shownEnd)
		end := key[len(key)-shownEnd:]
		r = append(r, secret{end, len(end)})
	} else {
		add(key, len(key))
	}
	if password, ok := base.User.Password(); ok {
		add(password, len(password))
		both := base.User.Username() + ":" + password // the form in which basic authentication sends them
		add(both, len(both))
	}
	for _, values := range base.Query() {
		for _, v := range values {
			if len(v) >= minSecret {
				add(v, len(v))
			}
		}
	}
	for _, values := range header {
		for _, v := range values {
			if len(v) >= minSecret {
				add(v, len(v))
			}
			if _, token, ok := strings.Cut(v, " "); ok && len(token) >= minSecret {
				add(token, len(token)) // "Bearer …"
			}
		}
	}
	return r
}

// clean returns one short printable line without secrets. It redacts before it shortens, because it could
// not find a secret that is cut in two.
func (r redactor) clean(s string) string {
	words := strings.FieldsFunc(r.redact(s), func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
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

func (r redactor) redact(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := r.find(s[i:])
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(redacted)
		i += n
	}
	return b.String()
}

// find returns how many bytes at the beginning of s are secret. A secret that begins there and continues
// beyond the end of s counts too, because the bound on what is read may cut a secret in two.
func (r redactor) find(s string) int {
	most := 0
	for _, secret := range r {
		n, spelt := spelling(s, secret.text)
		if spelt >= secret.from || spelt >= minSecret && n == len(s) {
			most = max(most, n)
		}
	}
	return most
}

// spelling returns how many bytes at the beginning of s spell a beginning of text, plain or escaped, and
// how long that beginning is.
func spelling(s, text string) (n, spelt int) {
	for spelt < len(text) && n < len(s) {
		size := letter(s[n:], text[spelt])
		if size == 0 {
			break
		}
		n += size
		spelt++
	}
	return n, spelt
}

// letter returns how many bytes at the beginning of s stand for c, or 0 if they do not. c may be plain,
// escaped in JSON (\/, \u002f, and both within a further string) or escaped in a URL (%2f). An escape
// that is cut by the end of s may stand for any character.
func letter(s string, c byte) int {
	n := 0
	switch s[0] {
	case '%':
		n = hexadecimal(s, 1, 2, c)
	case '\\':
		mark := 1
		for mark < len(s) && mark < maxEscape && s[mark] == '\\' {
			mark++
		}
		switch {
		case mark == len(s):
			return mark
		case s[mark] == c:
			return mark + 1
		case s[mark] == 'u':
			n = hexadecimal(s, mark+1, 4, c)
		}
	}
	if n == 0 && (s[0] == c || s[0] == '+' && c == ' ') {
		return 1
	}
	return n
}

// hexadecimal reports, in the manner of letter, whether the digits at a position of s are the number of
// c.
func hexadecimal(s string, at, digits int, c byte) int {
	end := at + digits
	if end > len(s) {
		return len(s)
	}
	if number, err := strconv.ParseUint(s[at:end], 16, 16); err != nil || number != uint64(c) {
		return 0
	}
	return end
}

// Clip prepares a foreign text for an error message: one printable line of limited length.
func Clip(s string) string { return redactor(nil).clean(s) }
