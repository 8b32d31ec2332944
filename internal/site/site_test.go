package main_test

import (
	"bytes"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	site "github.com/agonist-dev/debate/internal/site"
)

// written writes a site and returns the folder.
func written(t *testing.T, s *site.Site) fs.FS {
	t.Helper()
	out := t.TempDir()
	require.NoError(t, s.Write(out))
	return os.DirFS(out)
}

func file(t *testing.T, folder fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(folder, name)
	require.NoError(t, err)
	return string(data)
}

// repository is a small one.
func repository(pages map[string]string) fstest.MapFS {
	files := fstest.MapFS{"README.md": {Data: []byte("# thing\n\nA thing. It does.\n")}}
	for name, text := range pages {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"Go on with a debate": "go-on-with-a-debate", "Engine.Run, and `Play`": "enginerun-and-play", "What's next?": "whats-next",
		"a  b": "a--b", "snake_case — dash-ed": "snake_case--dash-ed", "Größe 2": "größe-2", "日本語": "日本語", "1. One": "1-one",
	} {
		assert.Equal(t, want, site.Anchor(strings.ReplaceAll(heading, "`", "")), heading)
	}
}

func TestLinksAreChecked(t *testing.T) {
	s, err := site.Read(repository(map[string]string{
		"docs/a.md": "# A\n\n## Two `x` words\n\n## Two x words\n\n[b](b.md#b) [c](../README.md) [d](#two-x-words) [e](#two-x-words-1) [f](.) " +
			"[g](https://example.com) [h](mailto:a@example.com) [i](../code.go)\n\n[none](c.md) [no part](b.md#c) [no part](#two) [up](../../x) " +
			"[script](javascript:alert(1)) [host](//example.com) [code](../code.go#L1) ![far](https://example.com/x.png)\n",
		"docs/b.md": "# B\n", "code.go": "package code\n",
	}))
	require.NoError(t, err)
	broken := []string{}
	for _, p := range s.Pages {
		for _, l := range p.Links {
			if s.Check(p, l) != nil {
				assert.Equal(t, 9, l.Line)
				broken = append(broken, l.Destination)
			}
		}
	}
	assert.Equal(t, []string{
		"c.md", "b.md#c", "#two", "../../x", "javascript:alert(1)", "//example.com", "../code.go#L1", "https://example.com/x.png",
	}, broken)
}

// Nothing that a page says becomes more than text, links and images that are beside it.
func TestHostilePages(t *testing.T) {
	hostile := "# \\<script>alert(1)&lt;/script> \"title\n\n<script>alert(2)</script>\n\n<img src=x onerror=alert(3)>\n\n" +
		"[a](javascript:alert(4)) [b](JaVaScRiPt:alert(5)) [c](data:text/html,<script>alert(6)</script>) <javascript:alert(7)>\n" +
		"[d](//evil.example/x) ![e](https://evil.example/e.png) ![f](data:image/svg+xml,<svg/onload=alert(8)>) " +
		"[g](<x\"onmouseover=alert(9)>)\n\n" +
		"```go\"><script>alert(10)</script>\nx := \"</code><script>alert(11)</script>\"\n```\n\n" +
		"<!-- from \"><script>alert(12)</script> -->\n```go\nx\n```\n\n" +
		"## \"><img src=x onerror=alert(13)>\n\ntext <b onclick=alert(14)>bold</b>\n\n[h]: javascript:alert(15)\n\n[h] <style>*{}</style>\n\n" +
		"<iframe src=https://evil.example></iframe> [x.md](x.md) ![&lt;script>](https://evil.example/\\<script>.png)\n"
	s, err := site.Read(repository(map[string]string{
		"docs/guides/x.md": hostile, "examples/x/main.go": "// Command x says </code><script>alert(16)</script>.\npackage main\n",
	}))
	require.NoError(t, err)
	out := written(t, s)
	tag := regexp.MustCompile(`<(\w+)([^>]*)>`)
	fetched := regexp.MustCompile(`\b(?:src|srcset|data|poster|style|on\w+)=("[^"]*"|\S+)`)
	for _, name := range []string{"index.html", "docs/guides/x.html", "examples/x/index.html"} {
		page := file(t, out, name)
		assert.Contains(t, page, `content="default-src &#39;none&#39;; script-src &#39;self&#39;; style-src &#39;self&#39;;`, name)
		assert.NotContains(t, strings.ToLower(page), `href="javascript:`, name)
		assert.NotContains(t, strings.ToLower(page), `href="data:`, name)
		assert.NotContains(t, page, `href="//`, name)
		scripts := 0
		for _, m := range tag.FindAllStringSubmatch(page, -1) {
			assert.NotContains(t, []string{"iframe", "style", "svg", "object", "b onclick"}, m[1], name)
			if m[1] == "script" {
				scripts++
			}
			for _, source := range fetched.FindAllStringSubmatch(m[2], -1) {
				assert.Regexp(t, `^"(\.\./)*(theme\.js|script\.js|icon\.svg)"$`, source[1], "%s: %s", name, m[0])
			}
		}
		assert.Equal(t, 2, scripts, name)
	}
	assert.NotContains(t, file(t, out, "found.js"), "<")
}

// Every page and part that a page leads to is in the site.
func TestTheSiteIsWhole(t *testing.T) {
	out := written(t, read(t))
	address := regexp.MustCompile(`\b(?:src|href)="([^"]*)"`)
	part := regexp.MustCompile(`\bid="([^"]*)"`)
	pages, parts := map[string]string{}, map[string]bool{}
	require.NoError(t, fs.WalkDir(out, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		pages[name] = file(t, out, name)
		for _, m := range part.FindAllStringSubmatch(pages[name], -1) {
			id := name + "#" + html.UnescapeString(m[1])
			assert.False(t, parts[id], "twice: %s", id)
			parts[id] = true
		}
		return nil
	}))
	for name, page := range pages {
		for _, m := range address.FindAllStringSubmatch(page, -1) {
			u, err := url.Parse(html.UnescapeString(m[1]))
			require.NoError(t, err, name)
			if u.Scheme != "" {
				assert.True(t, strings.HasPrefix(m[0], "href="), "%s asks another host for %s", name, u)
				continue
			}
			to := path.Join(path.Dir(name), u.Path)
			if u.Path == "" {
				to = name
			}
			_, err = fs.Stat(out, to)
			assert.NoError(t, err, "%s leads to %s", name, u)
			assert.True(t, u.Fragment == "" || parts[to+"#"+u.Fragment], "%s leads to %s", name, u)
		}
	}
}

func TestTheSiteIsOrderedAsItsContents(t *testing.T) {
	s, err := site.Read(repository(map[string]string{
		"docs/README.md":   "# Contents\n\nAll. Here.\n\n[second](guides/b.md) [first](guides/a.md#x) [b again](guides/b.md)\n",
		"docs/guides/a.md": "# Do a\n\nDo a: now.\n", "docs/guides/0.md": "# Rest\n",
		"docs/guides/b.md": "# Do b\n\nDo b, e.g. `b.go`, now. Then rest.\n",
		"docs/concepts.md": "# Ideas\n\n## Facts\n\nThey are.\n\n## Calls?\n", "docs/internal/a.md": "# Inner\n", "CONTRIBUTING.md": "# Help\n",
		"examples/http/main.go": "// Command http serves, and stops.\n//\n//\tgo run ./http\npackage main\n",
	}))
	require.NoError(t, err)
	assert.Equal(t, "# thing\n\n> A thing.\n\n## Start\n\n- [thing](README.md): A thing.\n- [Contents](docs/README.md): All.\n\n"+
		"## Guides\n\n- [Do b](docs/guides/b.md): Do b, e.g. b.go, now.\n- [Do a](docs/guides/a.md): Do a: now.\n- [Rest](docs/guides/0.md)\n\n"+
		"## Concepts\n\n- [Ideas](docs/concepts.md): Facts · Calls.\n\n## Examples\n\n- [http](examples/http/main.go): Serves, and stops.\n\n"+
		"## For maintainers\n\n- [Help](CONTRIBUTING.md)\n- [Inner](docs/internal/a.md)\n", s.LLMs())
}

// Colours change nothing of the code.
func TestCodeIsShownAsItIs(t *testing.T) {
	tags := regexp.MustCompile(`</?span[^>]*>`)
	code := "func f(a []string) error {\n\t// …\n\treturn `raw\n` + \"\\\"<b>\" + 'x' // é\n}\n…@ \"open\n/* open"
	for _, name := range []string{"write.go", "site_test.go"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		code += string(data)
	}
	for _, language := range []string{"go", "json", "sh", "text", ""} {
		shown := site.Highlighted(language, code)
		assert.Equal(t, code, html.UnescapeString(tags.ReplaceAllString(shown, "")), language)
	}
	assert.Equal(t,
		`<span class="k">return</span> <span class="f">f</span>(<span class="s">&#34;a&#34;</span>, <span class="n">1</span>, x) `+
			`<span class="c">// y</span>`, site.Highlighted("go", `return f("a", 1, x) // y`))
	assert.Equal(t, `{<span class="k">&#34;a&#34;</span>: <span class="s">&#34;b&#34;</span>}`, site.Highlighted("json", `{"a": "b"}`))
}

func TestRun(t *testing.T) {
	folder := t.TempDir()
	var said bytes.Buffer
	assert.Equal(t, 2, site.Run(folder, nil, &said))
	assert.Contains(t, said.String(), "usage")
	assert.Equal(t, 1, site.Run(folder, []string{"-update"}, &said), "there is no README.md")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "README.md"), []byte("# thing\n"), 0o600))
	assert.Zero(t, site.Run(folder, []string{"-update"}, &said), said.String())
	assert.Contains(t, file(t, os.DirFS(folder), "llms.txt"), "- [thing](README.md)\n")
	assert.Zero(t, site.Run(folder, []string{filepath.Join(folder, "out")}, &said), said.String())
	assert.Contains(t, file(t, os.DirFS(folder), "out/index.html"), "<h1 id=\"thing\">thing</h1>")
}
