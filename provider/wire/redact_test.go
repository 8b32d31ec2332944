package wire_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

func TestRedaction(t *testing.T) {
	std, safe := base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret))
	require.NotEqual(t, std, safe)
	for _, said := range []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), std, safe, strings.TrimRight(std, "="), secret[:8] + "****Xyz", secret[:8] + "…" + secret[len(secret)-8:],
		"a" + secret + "b" + secret, strings.Repeat("x", 490) + secret, "team-blue-42",
	} {
		e := endpoint(says("HTTP/1.1 403 X\r\nConnection: close\r\n\r\n" + said))
		e.Header = http.Header{"X-Team": {"Token team-blue-42"}}
		_, err := send(t, e)
		f := failure(t, err, provider.KindAuthentication)
		assert.Contains(t, f.Message, "[redacted]", said)
		for _, part := range []string{"0123456789", "Xyz", std[8:24], safe[8:24]} {
			assert.NotContains(t, f.Message, part, said)
		}
		assert.NotContains(t, f.Message, "team-blue-42")
	}
	long := wire.Clip("a\x00b\n\tc\u202e " + strings.Repeat("ä", 1000) + "\xff")
	assert.True(t, strings.HasPrefix(long, "a b c ää"))
	assert.LessOrEqual(t, len(long), 510)
	assert.True(t, strings.HasSuffix(long, "ä…"))
}

// A gateway may repeat the request's headers as JSON, which escapes some characters, once or within a
// further string, and in ways of its own.
func TestRedactionOfEscapes(t *testing.T) {
	units := ""
	for _, c := range []byte(secret) {
		units += fmt.Sprintf("%%%02x", c)
	}
	slashed := strings.ReplaceAll(secret, "/", `\/`)
	for name, body := range map[string]string{
		"an object":            `{"error":{"message":{"authorization":"Bearer ` + slashed + `"}}}`,
		"a list":               `{"detail":[{"loc":["header"],"input":"Bearer ` + slashed + `"}]}`,
		"a string in a string": `{"error":{"message":"no","metadata":{"raw":"{\"key\":\"` + strings.ReplaceAll(secret, "/", `\\\/`) + `\"}"}}}`,
		"three deep":           `{"detail":["\"` + strings.ReplaceAll(secret, "/", `\\\\\\\/`) + `\""]}`,
		"units":                `{"detail":["` + strings.NewReplacer("/", `\u002F`, "+", `\u002b`, "=", `\\u003d`).Replace(secret) + `"]}`,
		"all of a URL":         "GET /?key=" + units,
		"its first half":       "Bearer " + secret[:20] + "...",
	} {
		e := endpoint(says("HTTP/1.1 403 X\r\nConnection: close\r\n\r\n" + body))
		_, err := send(t, e)
		f := failure(t, err, provider.KindAuthentication)
		assert.Contains(t, f.Message, "[redacted]", name)
		for _, part := range []string{"0123456789", "abcdef", "%30%31%32"} {
			assert.NotContains(t, f.Message, part, name)
		}
	}
}

// A string within a string within a string has 1, 3 and 7 backslashes before what is escaped.
func TestRedactionOfNestedEscapes(t *testing.T) {
	x := open(t, endpoint(nil))
	for _, depth := range []int{0, 1, 3, 7} {
		mark := strings.Repeat(`\`, depth)
		spelt := strings.ReplaceAll(secret, "/", mark+"/")
		if depth > 0 {
			spelt = strings.NewReplacer("+", mark+"u002b", "=", mark+"u003D").Replace(spelt)
		}
		f := failure(t, x.Invalid("c", "see "+spelt+"."), provider.KindInvalidResponse)
		assert.Equal(t, "see [redacted].", f.Message, "%d backslashes", depth)
	}
}

// What is read of a failure has a bound, which may divide the key at any place, and in any form.
func TestRedactionAtTheBound(t *testing.T) {
	const bound = 64 << 10
	for _, form := range []string{
		secret, url.QueryEscape(secret), strings.ReplaceAll(secret, "/", `\/`), strings.ReplaceAll(secret, "/", `\u002f`),
		base64.StdEncoding.EncodeToString([]byte(secret)),
	} {
		for n := 0; n < len(form); n += longform.Sized(1, 1, 23) {
			_, err := send(t, endpoint(says("HTTP/1.1 403 X\r\nConnection: close\r\n\r\n"+strings.Repeat(" ", bound-n)+form)))
			f := failure(t, err, provider.KindAuthentication)
			if n >= 12 { // what is cut in its middle may be left of an escape
				assert.Regexp(t, `^\[redacted\](%[0-9A-F]?|\\(u[0-9a-f]{0,3})?)?$`, f.Message, "%s, divided after %d bytes", form, n)
			}
			for at := 0; at+8 <= len(secret); at++ {
				assert.NotContains(t, f.Message, secret[at:at+8])
			}
		}
	}
}

// Text that almost spells a secret takes no longer than other text, and is left as it is.
func TestRedactionLeavesTheRest(t *testing.T) {
	e := endpoint(nil)
	e.Header = http.Header{"X-Odd": {`back\slash%41 and more`}}
	x := open(t, e)
	for _, said := range []string{
		`sk-tes`, `sk\u002`, `%73%6b-%7`, "100%", `C:\temp`, strings.Repeat(`\`, 400), strings.Repeat("sk-tes%", 60), `\u00`, `\u00zz`, "%zz",
	} {
		assert.Equal(t, said, failure(t, x.Invalid("c", said), provider.KindInvalidResponse).Message)
	}
	assert.Equal(t, "see [redacted].", failure(t, x.Invalid("c", `see back\slash%41 and more.`), provider.KindInvalidResponse).Message)
	assert.Equal(t, "see [redacted].", failure(t, x.Invalid("c", `see back\\slash%2541+and%20more.`), provider.KindInvalidResponse).Message)
}

func TestRedactionOfBasicAuth(t *testing.T) {
	e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
		return says("HTTP/1.1 401 No\r\nConnection: close\r\n\r\nWho is " + req.Header.Get("Authorization") + "?")(req)
	}))
	e.Key = nil
	e.BaseURL = "http://ada:open%20sesame@model.test/"
	_, err := send(t, e)
	assert.Equal(t, "Who is Basic [redacted]?", failure(t, err, provider.KindAuthentication).Message)
}

// The user of a URL may be the key, as with vendors that take it by basic authentication. It is in no failure and in no
// reply, alone, with the password, and encoded.
func TestRedactionOfTheUserOfAURL(t *testing.T) {
	const key = "sk_live_Zq8Wm3Xr7Tb1Yk5Vn9Lc2Hd6Jf4G"
	for _, c := range []struct{ user, secret string }{
		{key, key}, {key + ":", key}, {"ada:" + key, key}, {key + ":x", key}, {"administrator:pa55-w0rd", "pa55-w0rd"},
	} {
		e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
			_, header, _ := strings.Cut(req.Header.Get("Authorization"), " ")
			return says("HTTP/1.1 401 No\r\nConnection: close\r\n\r\nNot " + header + " of " + c.secret + " here")(req)
		}))
		e.Key = nil
		e.BaseURL = "http://" + c.user + "@model.test/"
		_, err := send(t, e)
		assert.Equal(t, "Not [redacted] of [redacted] here", failure(t, err, provider.KindAuthentication).Message, c.user)
		user := c.user
		if !strings.Contains(user, ":") {
			user += ":"
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(user))
		x := open(t, e)
		r := x.NewReply(func(provider.Chunk) {})
		r.Show("You are Basic " + encoded + ".")
		r.Stop = provider.StopEnd
		got, err := r.Done()
		require.NoError(t, err)
		assert.Equal(t, "You are Basic [redacted].", got.Text, c.user)
		assert.Equal(t, "the administrator left", failure(t, x.Invalid("c", "the administrator left"), provider.KindInvalidResponse).Message)
	}
}

// A key of under 16 bytes is a placeholder for a server without authentication. It could be an ordinary word.
func TestShortKeysAreNoSecret(t *testing.T) {
	_, err := send(t, func() *wire.Endpoint {
		e := endpoint(says("HTTP/1.1 500 X\r\nConnection: close\r\n\r\nlocal-ke is down, local-key-1 too"))
		e.Key = provider.StaticKey("local-key-1")
		return e
	}())
	var f *provider.Error
	require.ErrorAs(t, err, &f)
	assert.Equal(t, "local-ke is down, local-key-1 too", f.Message)
}

// A step that removes characters does not put the key together: not in sources, not in the model's name, not in errors.
func TestAKeyBetweenCharactersThatDoNotPrint(t *testing.T) {
	for _, by := range []string{"\ue000", "\u0378", "\ufdd0", "\u2028", "\u200b", "\x00", "\xff"} {
		hidden := strings.Join(strings.Split(secret, ""), by)
		var seen collected
		r := seen.reply(t)
		r.Cite(provider.Citation{URL: "https://example.com/", Title: "a " + hidden, Quote: hidden})
		r.Model = hidden
		r.Show("Yes.")
		got := end(t, r)
		assert.Equal(t, []provider.Citation{{URL: "https://example.com/", Title: "a [redacted]", Quote: "[redacted]"}}, got.Citations, "%q", by)
		if by != "\xff" { // which stays between the bytes
			assert.Equal(t, "[redacted]", got.Model, "%q", by)
			assert.Equal(t, "[redacted]", failure(t, open(t, endpoint(nil)).Invalid("c", hidden), provider.KindInvalidResponse).Message, "%q", by)
		}
	}
}
