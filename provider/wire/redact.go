package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
)

const (
	maxMessage = 500 // bytes of a foreign text in an error
	minSecret  = 8   // bytes from which on a password or a header's value counts as a secret
)

// redactor removes the secrets of one request from what its server sends. It belongs to one goroutine. The zero redactor
// has no secrets.
type redactor struct {
	failures, replies []redact.Secret
	inFailures        *redact.Set // made when it is first used
	inReplies         *redact.Set
	failed, replied   bool // they are made
}

// credentials matches the names of headers and of values in a query that are credentials.
//
//nolint:gochecknoglobals // read only
var credentials = pattern(`(?i)auth|key|token|secret|password|cookie|credential|signature|^sig$`)

func newRedactor(key string, base *url.URL, header http.Header) redactor {
	var r redactor
	r.add(key)
	if user := base.User; user != nil {
		password, _ := user.Password()
		r.add(user.Username()) // many vendors take the key as the user
		r.add(password)
		r.whole(password)
		r.pair(user.Username()+":", password)
	}
	for name, values := range base.Query() {
		for _, v := range values {
			if credentials().MatchString(name) {
				r.add(v)
			}
			r.whole(v)
		}
	}
	for name, values := range header {
		for _, v := range values {
			_, token, _ := strings.Cut(v, " ") // "Bearer …"
			if credentials().MatchString(name) {
				r.add(v)
				r.add(token)
			}
			r.whole(v)
			r.whole(token)
		}
	}
	return r
}

// add adds a secret of which no part may be seen.
func (r *redactor) add(key string) {
	if len(key) >= redact.MinKey {
		r.failures = append(r.failures, redact.Key(key))
		r.replies = append(r.replies, redact.KeyInReplies(key))
	}
}

// pair adds a user, with the colon, and a password in the form in which basic authentication sends them. A part of the user
// alone may be an ordinary word.
func (r *redactor) pair(user, password string) {
	both := user + password
	r.whole(both)
	if len(both) >= redact.MinKey {
		r.failures = append(r.failures, redact.Secret{Text: both, Public: len(user), Least: redact.InFailures})
		r.replies = append(r.replies, redact.Secret{Text: both, Least: redact.InReplies})
	}
}

// Follow makes the exchange keep the secrets of an earlier one whose reply it continues. nil changes nothing.
func (x *Exchange) Follow(before *Exchange) {
	if before != nil && before != x {
		x.secrets.join(&before.secrets)
	}
}

// join adds the secrets of another redactor.
func (r *redactor) join(other *redactor) {
	r.failures = append(r.failures, missing(r.failures, other.failures)...)
	r.replies = append(r.replies, missing(r.replies, other.replies)...)
	r.failed, r.replied = false, false
}

// beyond returns the secrets, as they count in replies, that another redactor lacks; nil if there is none.
func (r *redactor) beyond(other *redactor) *redact.Set {
	return redact.NewSet(missing(other.replies, r.replies)...)
}

// missing returns those of the secrets that a list lacks.
func missing(list, of []redact.Secret) []redact.Secret {
	var out []redact.Secret
	for _, s := range of {
		if !slices.Contains(list, s) {
			out = append(out, s)
		}
	}
	return out
}

// whole adds a text that is not shown in errors. Parts of it, and the text in replies, may be ordinary words.
func (r *redactor) whole(text string) {
	if len(text) >= minSecret {
		r.failures = append(r.failures, redact.Secret{Text: text})
	}
}

// clean returns one short printable line without secrets, for an error. It redacts before it shortens, because it could
// not find a secret that is cut in two.
func (r *redactor) clean(s string) string {
	if !r.failed {
		r.inFailures, r.failed = redact.NewSet(r.failures...), true
	}
	words := strings.FieldsFunc(r.inFailures.Redact(s), func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
	for i, w := range words {
		if strings.Contains(w, "***") { // a vendor's masked key still shows its two ends
			words[i] = redact.Mark
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

// reply returns the secrets as they count in good replies.
func (r *redactor) reply() *redact.Set {
	if !r.replied {
		r.inReplies, r.replied = redact.NewSet(r.replies...), true
	}
	return r.inReplies
}

// Redact returns a text of a good reply without the key: "[redacted]" replaces any 20 bytes of it, in whatever form.
// [Reply] does so by itself. An adapter calls Redact for what it returns past a Reply. If it has to send a text back
// unchanged, it leaves out a text that Redact changes.
func (x *Exchange) Redact(text string) string { return x.secrets.reply().Redact(text) }

// json is Redact for a JSON value, and returns a JSON value. If the text cannot be replaced within its strings, the
// strings as a whole are.
func (x *Exchange) redactJSON(data []byte) []byte {
	spans := x.secrets.reply().Find(string(data))
	if len(spans) == 0 {
		return data
	}
	if out := redact.Replace(string(data), spans); json.Valid([]byte(out)) {
		return []byte(out)
	}
	var out strings.Builder
	at := 0
	for _, l := range literals(data) {
		for len(spans) > 0 && spans[0].End <= l.Start {
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0].Start < l.End {
			out.Write(data[at:l.Start])
			out.WriteString(`"` + redact.Mark + `"`)
			at = l.End
		}
	}
	out.Write(data[at:])
	return []byte(out.String())
}

// literals returns where the strings, numbers and words of a JSON value are.
func literals(data []byte) []redact.Span {
	var all []redact.Span
	for i := 0; i < len(data); {
		start := i
		switch c := data[i]; {
		case c == '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(data))
		case strings.IndexByte("{}[]:, \t\r\n", c) >= 0:
			i++
			continue
		default:
			for i < len(data) && strings.IndexByte("{}[]:, \t\r\n", data[i]) < 0 {
				i++
			}
		}
		all = append(all, redact.Span{Start: start, End: i})
	}
	return all
}

// Clip prepares a foreign text for an error message: one printable line of limited length.
func Clip(s string) string { return new(redactor).clean(s) }
