package redact_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/redact"
)

// What a foreign error may hold: URLs, headers, keys, tokens.
func TestForeign(t *testing.T) {
	const pw = "kZ8-canary-5f1d7a0c"
	header := http.Header{"Authorization": {"Bearer " + pw}, "X-Api-Key": {pw}, "X-Goog-Api-Key": {pw}, "Cookie": {"a=" + pw + "; b=" + pw}}
	for _, text := range []string{
		"https://ada:" + pw + "@host/path", "https://" + pw + "@host", "postgres://ada:p@" + pw + "@host/db", `https:\/\/ada:` + pw + `@host\/v1`,
		"https://host/v1?key=" + pw, "https://host/v1?a=b&access_token=" + pw + "&c=d", "https://host/v1?a=b&amp;sig=" + pw, "https://host/#token=" + pw,
		"/v1beta/models?key=" + pw,
		(&url.Error{Op: "Post", URL: "https://u:" + pw + "@host/?key=" + pw, Err: errors.New("EOF")}).Error(),
		fmt.Errorf("chat: %w", &url.Error{Op: "Get", URL: "http://host/v1?api_key=" + pw, Err: http.ErrHandlerTimeout}).Error(),
		fmt.Sprint(header), fmt.Sprintf("%q", header), fmt.Sprintf("%#v", header),
		"Authorization: Bearer " + pw, "authorization: " + pw, "Proxy-Authorization: Basic " + pw, "x-api-key: " + pw, "api-key=" + pw, `{"apiKey":"` + pw + `"}`,
		`{\"x-api-key\":\"` + pw + `\"}`, "Set-Cookie: session=" + pw, "X-Amz-Security-Token: " + pw, "AWS_SECRET_ACCESS_KEY=" + pw, "client_secret=" + pw,
		"OPENAI_API_KEY=" + pw, "password=" + pw, "password: " + pw, "Basic YWRhOm9wZW4tc2VzYW1lLWtaOC1jYW5hcnk=", "sk-proj-" + pw, "gsk_kZ8canary5f1d7a0c",
		"AIzaSy" + pw, "nvapi-" + pw, "hf_kZ8canary5f1d7a0cABCDEF", "xai-" + pw,
		"-----BEGIN RSA PRIVATE KEY-----\nkZ8-canary\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nkZ8-canary",
	} {
		said := redact.Foreign("It is " + text)
		assert.Contains(t, said, redact.Mark, text)
		for _, part := range []string{"kZ8", "canary", "5f1d", "YWRhO"} {
			assert.NotContains(t, said, part, text)
		}
		assert.True(t, strings.HasPrefix(said, "It is "), said)
	}
	assert.Equal(t, `Post "https://[redacted]@host/v1?key=[redacted]&alt=[redacted]": EOF`, redact.Foreign(`Post "https://a:b@host/v1?key=c&alt=sse": EOF`))
	assert.LessOrEqual(t, len(redact.Foreign(strings.Repeat("x", 1<<20))), 64<<10)
}

// The common forms of a key in the errors of other libraries.
func TestForeignKeys(t *testing.T) {
	const hex = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
	for _, text := range []string{
		"invalid api key: " + hex, "Incorrect API key provided: " + hex, "API key '" + hex + "' is not valid", "token " + hex + " is expired",
		"the access token was (" + hex + ")", "bad credentials " + hex, "secret=" + hex, "the token is 12345678-90ab-4def-8123-456789abcdef",
		"X-Auth-Key: " + hex, "Ocp-Apim-Subscription-Key: " + hex, "map[Ocp-Apim-Subscription-Key:[" + hex + "]]", "X-Goog-Api-Key:[" + hex + "]",
		"X-Functions-Key: " + hex, "x-custom-auth: " + hex, "map[string][]string{\"X-Master-Key\":[]string{\"" + hex + "\"}}",
		"Authorization: ApiKey " + hex, "Authorization: Api-Key " + hex, `Authorization: Token token="` + hex + `"`, `Authorization: Token token=\"` + hex + `\"`,
		"Authorization: OAuth " + hex, `{"authorization":"Bearer\u0020` + hex + `"}`, `{\"Authorization\":\"Bearer ` + hex + `\"}`,
		`{\\\"Authorization\\\":\\\"ApiKey\\u0020` + hex + `\\\"}`, "authorization=Bearer%20" + hex,
		`Get "https%3A%2F%2Fx.example%2Fv1%3Fkey%3D` + hex + `": EOF`, "https%3a%2f%2fx.example%2fv1%3fa%3db%26k%3d" + hex + "%26c%3dd",
		"https%253A%252F%252Fx.example%253Fkey%253D" + hex, "https%3A%2F%2Fada%3A" + hex + "%40x.example", "https%3A%2F%2F" + hex + "%40x.example%2Fv1",
		"eyJhbGciOiJIUzI1NiJ9." + hex + "." + hex + " is expired",
		"wrapped sk-proj-Zq8Wm3Xr\n" + hex, "wrapped sk-proj-Zq8Wm3Xr \r\n\t" + hex, "key=AIza\u200bSyD" + hex, "sk-\u00ad" + hex[:7] + "\ue000" + hex[7:],
	} {
		said := redact.Foreign("It is " + text)
		assert.Contains(t, said, redact.Mark, text)
		for at := 0; at+8 <= len(hex); at++ {
			assert.NotContains(t, said, hex[at:at+8], text)
		}
		assert.NotContains(t, said, "456789abcdef", text)
	}
	assert.Equal(t, "a sk-[redacted] b", redact.Foreign("a sk-"+redact.Mark+" b"))
	assert.Equal(t, "see https%3A%2F%2Fx.example%3Fa%3D[redacted]%26k%3D[redacted] there", redact.Foreign("see https%3A%2F%2Fx.example%3Fa%3Db%26k%3Dc%20d there"))
}

// Words about secrets are none.
func TestForeignWords(t *testing.T) {
	for _, text := range []string{
		"", "connection refused", "max_tokens: 4096 is more than 2048", "unexpected token: '}'", "authorization: missing", "password: required",
		"the secret: never give up", "api key: invalid", "see https://example.com/docs/keys#limits", "mail ada@example.com", "a = b", "session token expired",
		"a task-oriented-and-risk-averse-approach", "sk-short1", "xai-is-a-name", "the bearer of bad news internationalizes", "Basic Authentication is used",
		"hf_hub_download_version_2024_of_it", "round 2: Ada: rate limited (429); retrying in 20 s", "cookie: blocked by policy", "what? x=1",
		"dial tcp 127.0.0.1:8080: connect: connection refused", "participants[1].name: is empty", "tokens=5",
		"the API key is invalid: see the page of your account", "no key claude-3-5-sonnet-20241022 in the table", "unexpected token internationalization",
		"the token was gpt-4o-mini-2024-07-18", "key: participants[1].options.extra", "Incorrect API key provided. You can find it at the console",
		"authorization: the model claude-3-5-sonnet-20241022 is not allowed", "token count 1234567890123456 is too large", "100% of 3D and 26 more",
		"a%20b%3D", "at 50%, 3f%3D", "the tokenizer_of_internationalized_words fails", "keyboard: qwerty-international", "xai-\nis a name\nof 2024",
		"sk-one two three", "x-ray: 20240101", "max_tokens: 128000 of 1000000", "secretary: 1-800-555-0199", "eyJ is how they begin", "eyJhbGci.eyJ.x",
	} {
		assert.Equal(t, text, redact.Foreign(text))
	}
}

// What almost looks like a key takes no longer than other text. If time grew with its square, the tests' time would be over first.
func TestLikelyTakesLinearTime(t *testing.T) {
	longform.Lone(t)
	for _, piece := range []string{"a\u200b", "a1b2c3d4e5f6g7h8 ", "sk-\n", "sk-abcdefg1\t", "\u00ad", "authorization: ", "key ", "%3fa%3d", "%25", "eyJ", "a%3a%2f%2f"} {
		text := "sk-Abcdefgh1" + strings.Repeat(piece, 1<<20/len(piece))
		redact.Likely(text)
		redact.Foreign(text)
	}
}

func FuzzForeign(f *testing.F) {
	f.Add("https://a:b@host/?key=c Authorization: Bearer d")
	f.Fuzz(func(t *testing.T, text string) {
		assert.LessOrEqual(t, strings.Count(redact.Foreign(text), "\n"), strings.Count(text, "\n"))
		for _, s := range redact.Likely(text) {
			assert.True(t, 0 <= s.Start && s.Start < s.End && s.End <= len(text))
		}
	})
}
