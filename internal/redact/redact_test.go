package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/redact"
)

// drawn returns a key with a public prefix.
func drawn(r *rand.Rand, prefix string, n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	b := []byte(prefix)
	for range n {
		b = append(b, alphabet[r.IntN(len(alphabet))])
	}
	return string(b)
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data[1 : len(data)-1])
}

// each returns a text with a form for each byte.
func each(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// folded puts something between all groups of n bytes.
func folded(s, between string, n int) string {
	return strings.TrimSuffix(regexp.MustCompile(fmt.Sprintf(`.{%d}`, n)).ReplaceAllString(s, "${0}"+strings.ReplaceAll(between, "$", "$$")), between)
}

// codings are the ways in which a part of a key may come back.
func codings() map[string]func(string) string {
	percent := func(s string) string { return each(s, "%%%02X") }
	units := func(s string) string { return each(s, `\u%04x`) }
	out := map[string]func(string) string{
		"plain":               func(s string) string { return s },
		"query":               url.QueryEscape,
		"path":                url.PathEscape,
		"percent":             percent,
		"small percent":       func(s string) string { return strings.ToLower(percent(s)) },
		"percent twice":       func(s string) string { return url.QueryEscape(percent(s)) },
		"percent thrice":      func(s string) string { return url.QueryEscape(url.QueryEscape(percent(s))) },
		"units":               units,
		"units in a string":   func(s string) string { return quoted(units(s)) },
		"units three deep":    func(s string) string { return quoted(quoted(units(s))) },
		"bytes":               func(s string) string { return each(s, `\x%02x`) },
		"slashes":             func(s string) string { return each(s, `\%c`)[:0] + strings.ReplaceAll(quoted(s), "/", `\/`) },
		"decimal entities":    func(s string) string { return each(s, "&#%d;") },
		"hex entities":        func(s string) string { return each(s, "&#x%x;") },
		"long entities":       func(s string) string { return each(s, "&#x%04X;") },
		"escaped entities":    func(s string) string { return html.EscapeString(each(s, "&#%d;")) },
		"entities in a URL":   func(s string) string { return url.QueryEscape(each(s, "&#%d;")) },
		"percent in a string": func(s string) string { return strings.ReplaceAll(percent(s), "%", `\u0025`) },
		"lines":               func(s string) string { return folded(s, "\r\n", 3) },
		"each byte a line":    func(s string) string { return folded(s, "\n", 1) },
		"spaces":              func(s string) string { return folded(s, "  ", 4) },
		"tabs":                func(s string) string { return folded(s, "\t", 2) },
		"invisible":           func(s string) string { return folded(s, "\u200b\u00ad\ufeff", 2) },
		"wide spaces":         func(s string) string { return folded(s, "\u00a0\u3000", 3) },
		"lines in JSON":       func(s string) string { return folded(s, `\n`, 5) },
		"lines two deep":      func(s string) string { return folded(s, `\\r\\n`, 5) },
		"lines in a URL":      func(s string) string { return folded(s, "%0A", 5) },
		"lines in HTML":       func(s string) string { return folded(s, "&#10;", 5) },
		"hard spaces in HTML": func(s string) string { return folded(s, "&nbsp;", 5) },
		"shell":               func(s string) string { return folded(s, "\\\n", 5) },
		"hex":                 func(s string) string { return hex.EncodeToString([]byte(s)) },
		"capital hex":         func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"hex dump":            func(s string) string { return each(s, "%02x ") },
	}
	for name, coding := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "URL base64": base64.URLEncoding} {
		for i, before := range []string{"", "x", "Basic u:", "Bearer ", "ab"} {
			in := func(s string) string { return coding.EncodeToString([]byte(before + s + "!"[:i%2])) }
			out[fmt.Sprint(name, " ", i)] = in
			out[fmt.Sprint(name, " in lines ", i)] = func(s string) string { return folded(in(s), "\r\n", 6) }
			out[fmt.Sprint(name, " in JSON lines ", i)] = func(s string) string { return folded(in(s), `\n`, 7) }
			out[fmt.Sprint(name, " in a URL ", i)] = func(s string) string { return url.QueryEscape(in(s)) }
			out[fmt.Sprint(name, " in units ", i)] = func(s string) string { return units(in(s)) }
		}
	}
	return out
}

// Any eight bytes behind the public prefix are found, in each coding; seven are not, and neither is the prefix.
func TestAnyEightBytes(t *testing.T) {
	longform.Lone(t)
	found := 0
	for _, prefix := range []string{"", "sk-", "sk-proj-", "sk-ant-api03-", "gsk_", "xai-", "AIza", "sk-or-v1-", "nvapi-"} {
		r := random()
		key := drawn(r, prefix, 48)
		set := redact.NewSet(redact.Key(key))
		for name, code := range codings() {
			for at := len(prefix); at+8 <= len(key); at++ {
				part := code(key[at : at+8])
				said := set.Redact("It was «" + part + "», or not.")
				require.Contains(t, said, redact.Mark, "%s of %s in %s", name, key[at:at+8], part)
				found++
			}
			fewer := 7
			if strings.Contains(name, "base64") {
				fewer = 6 // what stands around seven may complete the bits that are shared
			}
			for at := len(prefix); at+fewer <= len(key); at++ {
				part := code(key[at : at+fewer])
				require.Equal(t, part, set.Redact(part), name)
			}
		}
		public := "The keys begin with " + prefix + ", as in " + prefix + "… or " + prefix + "YOUR_KEY."
		assert.Equal(t, public, set.Redact(public))
		assert.Equal(t, "with "+redact.Mark+".", set.Redact("with "+key+"."), "with its prefix")
	}
	t.Logf("%d parts of keys, in %d codings: all found", found, len(codings()))
}

// What stays of a key that was coded as a whole are fewer than eight bytes.
func TestWholeKeys(t *testing.T) {
	key := drawn(random(), "sk-proj-", 156)
	set := redact.NewSet(redact.Key(key))
	for name, code := range codings() {
		around := 1
		if strings.Contains(name, "base64") {
			around = len(code("")) + 4*6 // "Bearer " and the like, and a character of units on either side
		}
		assert.Less(t, len(set.Redact(code(key))), len(redact.Mark)+around+1, name)
	}
}

func TestAnyTwentyBytesOfAReply(t *testing.T) {
	longform.Lone(t)
	key := drawn(random(), "sk-proj-", 64)
	set := redact.NewSet(redact.KeyInReplies(key))
	for name, code := range codings() {
		for at := 0; at+20 <= len(key); at++ {
			require.Contains(t, set.Redact("It was "+code(key[at:at+20])), redact.Mark, name)
		}
		for at := 0; at+18 <= len(key); at++ {
			part := code(key[at : at+18])
			require.Equal(t, part, set.Redact(part), name)
		}
	}
}

func TestShortKeysAreNoSecret(t *testing.T) {
	for _, key := range []string{"", "none", "ollama", "lm-studio", "not-needed", "sk-no-key-neede"} {
		assert.Nil(t, redact.NewSet(redact.Key(key), redact.KeyInReplies(key)), key)
	}
	set := redact.NewSet(redact.KeyInReplies("sixteen-bytes-ok"))
	assert.Equal(t, "a [redacted] b", set.Redact("a sixteen-bytes-ok b"))
	assert.Equal(t, "a sixteen-bytes-o", set.Redact("a sixteen-bytes-o"))
}

// A secret that is given by name is found whole, however short it is.
func TestWholeSecrets(t *testing.T) {
	set := redact.NewSet(redact.Secret{Text: "hunter2"}, redact.Secret{Text: "ab"}, redact.Secret{Text: "open sesame & shut+up"})
	for text, want := range map[string]string{
		"it is hunter2.": "it is [redacted].", "hunter 2": "[redacted]", "hunter": "hunter", "a b": "[redacted]", "abhunter2": "[redacted][redacted]",
		"open+sesame+%26+shut%2Bup":         "[redacted]",
		"open%20sesame%20%26%20shut%2bup!":  "[redacted]!",
		"open sesame &amp; shut+up":         "[redacted]",
		`open sesame \u0026 shut\u002Bup`:   "[redacted]",
		"open sesame":                       "open sesame",
		"b3BlbiBzZXNhbWUgJiBzaHV0K3Vw. Yes": "[redacted]. Yes",
	} {
		assert.Equal(t, want, set.Redact(text))
	}
}

// A token's header names its algorithm, and is the same in many tokens.
func TestTokens(t *testing.T) {
	header := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
	token := header + drawn(random(), "", 80) + "." + drawn(random(), "", 40)
	for _, secret := range []redact.Secret{redact.Key(token), redact.KeyInReplies(token)} {
		set := redact.NewSet(secret)
		assert.Equal(t, "It begins with "+header, set.Redact("It begins with "+header))
		assert.Equal(t, "It is "+redact.Mark, set.Redact("It is "+token))
	}
}

func TestWordsStay(t *testing.T) {
	set := redact.NewSet(redact.Key("my-secret-key-for-tests-0123"), redact.KeyInReplies("another-key-of-words-0123"))
	for _, text := range []string{
		"my secret key", "for tests", "100% of a\\b & c; &amp; 50%25", `C:\new\table\users`, "another key of words", strings.Repeat(`\`, 400),
		strings.Repeat("%", 400), strings.Repeat("&#", 300), `\u00`, `\u00zz`, "%zz", "é\xff\xc3", "\xe2\x80",
	} {
		assert.Equal(t, text, set.Redact(text))
	}
}
