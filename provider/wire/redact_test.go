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
		for n := 0; n < len(form); n += every {
			_, err := send(t, endpoint(says("HTTP/1.1 403 X\r\nConnection: close\r\n\r\n"+strings.Repeat(" ", bound-n)+form)))
			f := failure(t, err, provider.KindAuthentication)
			if n < 8 {
				assert.NotContains(t, f.Message, form[:8])
				continue
			}
			assert.Equal(t, "[redacted]", f.Message, "%s, divided after %d bytes", form, n)
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

func TestShortKeysAreNotTakenApart(t *testing.T) {
	e := endpoint(says("HTTP/1.1 500 X\r\nConnection: close\r\n\r\nlocal-ke is down, local-key-1 too"))
	e.Key = provider.StaticKey("local-key-1")
	_, err := send(t, e)
	var f *provider.Error
	require.ErrorAs(t, err, &f)
	assert.Equal(t, "local-ke is down, [redacted] too", f.Message)
}
