package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// openPage returns a handler that serves the page.
func openPage(t *testing.T, o web.Options) *web.Handler {
	t.Helper()
	h, err := web.New(&debate.Engine{Store: &store.Memory{}}, o)
	require.NoError(t, err)
	return h
}

// askPage asks for a file as a browser does, with headers given in pairs.
func askPage(t *testing.T, h http.Handler, method, address string, headers ...string) *http.Response {
	t.Helper()
	request, answer := httptest.NewRequestWithContext(t.Context(), method, address, http.NoBody), httptest.NewRecorder()
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	h.ServeHTTP(answer, request)
	response := answer.Result()
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// readPage returns the body of a response.
func readPage(t *testing.T, r *http.Response) []byte {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return data
}

// loadPage returns what a browser loads for the page: by its address, as it is sent packed.
func loadPage(t *testing.T, h http.Handler) map[string][]byte {
	t.Helper()
	linked := regexp.MustCompile(`(?:href|src)="([^"#]+)"`)
	imported := regexp.MustCompile(`(?m)(?:^import ?|\bfrom ?|\bimport\()['"]([^'"]+)['"]`)
	elsewhere := regexp.MustCompile(`(?:https?:)?//[a-z0-9]+\.`)
	out := make(map[string][]byte)
	var load func(address string)
	load = func(address string) {
		if _, ok := out[address]; ok || strings.HasPrefix(address, "/api/") {
			return
		}
		response := askPage(t, h, http.MethodGet, address, "Accept-Encoding", "gzip, br")
		require.Equal(t, http.StatusOK, response.StatusCode, address)
		require.Equal(t, "gzip", response.Header.Get("Content-Encoding"), address)
		out[address] = readPage(t, response)
		text := string(unpackPage(t, out[address]))
		assert.NotRegexp(t, elsewhere, strings.ReplaceAll(text, "http://www.w3.org/", ""), "%s: an address of another host", address)
		links := imported
		if strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
			links = linked
		}
		for _, found := range links.FindAllStringSubmatch(text, -1) {
			load(path.Join(path.Dir(address), found[1]))
		}
	}
	load("/")
	return out
}

// unpackPage returns what was packed.
func unpackPage(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return out
}

// TestThePageIsSmallAndWhole: every file that it names is served, and all of them have at most 64 kB together as they are sent.
func TestThePageIsSmallAndWhole(t *testing.T) {
	size, files := 0, loadPage(t, openPage(t, web.Options{}))
	for _, data := range files {
		size += len(data)
	}
	for _, name := range []string{"/main.js", "/style.css", "/icon.svg", "/talk.js", "/lib/preact.mjs", "/lib/hooks.mjs", "/lib/htm.mjs"} {
		assert.Contains(t, files, name)
	}
	assert.LessOrEqual(t, size, 64_000)
	sources, err := filepath.Glob("page/*.js")
	require.NoError(t, err)
	for _, name := range sources {
		assert.Contains(t, files, "/"+filepath.Base(name), "nobody imports it")
	}
}

// TestThePageCannotRunAText: the policy lets no markup be made of a text, and no code of the page tries.
func TestThePageCannotRunAText(t *testing.T) {
	h := openPage(t, web.Options{})
	response := askPage(t, h, http.MethodGet, "/")
	assert.Equal(t, "text/html; charset=utf-8", response.Header.Get("Content-Type"))
	policy := response.Header.Get("Content-Security-Policy")
	for _, part := range []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	} {
		assert.Contains(t, strings.Split(policy, "; "), part)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "no-referrer", response.Header.Get("Referrer-Policy"))
	assert.NotRegexp(t, `<script>|<style|style=|\son[a-z]+=`, string(readPage(t, response)), "the policy would refuse it")
	markup := regexp.MustCompile(`(?i)(inner|outer)HTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|` +
		`\beval\(|new Function|setAttribute\(|javascript:`)
	sources, err := filepath.Glob("page/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, name := range sources {
		code, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotRegexp(t, markup, string(code), name)
	}
}

// TestThePageIsSentOnce: packed to browsers that unpack, and not again to those that have it.
func TestThePageIsSentOnce(t *testing.T) {
	h := openPage(t, web.Options{})
	plain := readPage(t, askPage(t, h, http.MethodGet, "/main.js"))
	tags := make(map[string]bool)
	for accepted, packs := range map[string]bool{"": false, "br, gzip;q=0": false, "gzip": true, "br;q=1, gzip;q=0.5": true} {
		first := askPage(t, h, http.MethodGet, "/main.js", "Accept-Encoding", accepted)
		tag := first.Header.Get("ETag")
		tags[tag] = true
		body := readPage(t, first)
		if packs {
			body = unpackPage(t, body)
		}
		assert.Equal(t, plain, body, accepted)
		assert.Equal(t, "text/javascript; charset=utf-8", first.Header.Get("Content-Type"))
		assert.Equal(t, "Accept-Encoding", first.Header.Get("Vary"))
		again := askPage(t, h, http.MethodGet, "/main.js", "Accept-Encoding", accepted, "If-None-Match", tag)
		assert.Equal(t, http.StatusNotModified, again.StatusCode)
		assert.Empty(t, readPage(t, again))
		head := askPage(t, h, http.MethodHead, "/main.js", "Accept-Encoding", accepted)
		assert.Equal(t, tag, head.Header.Get("ETag"))
	}
	assert.Len(t, tags, 2, "what is packed is another representation")
	for _, address := range []string{"/main.js.map", "/index.html", "/forms.css", "/lib/", "/page/main.js"} {
		assert.Equal(t, http.StatusNotFound, askPage(t, h, http.MethodGet, address).StatusCode, address)
	}
	assert.NotEqual(t, http.StatusOK, askPage(t, h, http.MethodPost, "/").StatusCode)
}

// TestThePageUnderAPrefix: its addresses are relative to the prefix with a slash, to which the one without leads.
func TestThePageUnderAPrefix(t *testing.T) {
	h := http.StripPrefix("/of/debates", openPage(t, web.Options{}))
	moved := askPage(t, h, http.MethodGet, "/of/debates")
	assert.Equal(t, http.StatusPermanentRedirect, moved.StatusCode)
	asked, err := url.Parse("/of/debates")
	require.NoError(t, err)
	to, err := asked.Parse(moved.Header.Get("Location"))
	require.NoError(t, err)
	assert.Equal(t, "/of/debates/", to.Path)
	assert.Equal(t, http.StatusOK, askPage(t, h, http.MethodGet, to.Path).StatusCode)
	assert.Equal(t, http.StatusOK, askPage(t, h, http.MethodGet, "/of/debates/main.js").StatusCode)
}

// TestTheHostsStyleComesLast: so that it decides.
func TestTheHostsStyleComesLast(t *testing.T) {
	own := ":root { --accent: #123456; }"
	sheet := string(readPage(t, askPage(t, openPage(t, web.Options{Style: []byte(own)}), http.MethodGet, "/style.css")))
	assert.True(t, strings.HasSuffix(sheet, own))
	assert.Contains(t, sheet, "prefers-color-scheme: dark")
}

// TestWhatIsVendoredIsWhatWasPublished: but for one import, which has the address beside it.
func TestWhatIsVendoredIsWhatWasPublished(t *testing.T) {
	sums, err := os.ReadFile("page/lib/SUMS")
	require.NoError(t, err)
	listed := map[string]bool{"SUMS": true}
	for line := range strings.Lines(string(sums)) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(fields) != 5 {
			continue
		}
		data, err := os.ReadFile(filepath.Join("page/lib", fields[0]))
		require.NoError(t, err)
		if fields[0] == "hooks.mjs" {
			assert.Equal(t, 1, bytes.Count(data, []byte(`from"./preact.mjs"`)))
			data = bytes.Replace(data, []byte(`from"./preact.mjs"`), []byte(`from"preact"`), 1)
		}
		sum := sha256.Sum256(data)
		assert.Equal(t, fields[3], hex.EncodeToString(sum[:]), fields[0])
		listed[fields[0]] = true
	}
	files, err := os.ReadDir("page/lib")
	require.NoError(t, err)
	for _, file := range files {
		assert.True(t, listed[file.Name()], "%s is not in SUMS", file.Name())
	}
	assert.Len(t, files, len(listed))
}
