package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/browser"
)

// Chromium shows each page on a phone and on a screen, light and dark. Nothing is asked of another host, nothing is refused by the
// policy, no script fails and nothing is wider than the window. With -artifacts and -outputdir the pictures are kept.
func TestPagesInABrowser(t *testing.T) {
	longform.Only(t, "every page is written, and its links lead to files of the site")
	longform.Lone(t)
	b := browser.Open(t)
	out := t.TempDir()
	s := read(t)
	require.NoError(t, s.Write(out))
	for _, p := range s.Pages {
		for _, width := range []int{390, 1280} {
			for _, colours := range []string{"light", "dark"} {
				at := fmt.Sprintf("%s-%d-%s", strings.NewReplacer("/", "-", ".html", "").Replace(p.URL), width, colours)
				for _, e := range b.Show(filepath.Join(out, p.URL), width, 900, colours) {
					assert.NotContains(t, []string{"Log.entryAdded", "Runtime.exceptionThrown"}, e.Method, "%s: %s", at, e.Params)
					var asked struct{ Request struct{ URL string } }
					if e.Method == "Network.requestWillBeSent" && assert.NoError(t, json.Unmarshal(e.Params, &asked), at) {
						assert.Regexp(t, "^file://"+out+"/", asked.Request.URL, at)
					}
				}
				assert.InDelta(t, width, b.Eval("document.documentElement.scrollWidth"), 0, "%s: the width", at)
				assert.Equal(t, colours == "dark", b.Holds("getComputedStyle(document.body).color.match(/[0-9.]+/)[0] > 128"), at)
				b.Picture(at)
			}
		}
	}
}

func TestSearchInABrowser(t *testing.T) {
	longform.Only(t, "every page is written, and its links lead to files of the site")
	longform.Lone(t)
	b := browser.Open(t)
	out := t.TempDir()
	require.NoError(t, read(t).Write(out))
	hits := func(than int) any { // waits for the index, which a script of the page reads
		return b.Eval(fmt.Sprintf(`new Promise((resolve) => {
			const look = () => { const n = document.querySelectorAll('#site-hits li').length; n > %d ? resolve(n) : requestAnimationFrame(look); };
			look();
		})`, than))
	}
	for _, width := range []int{390, 1280} {
		b.Show(filepath.Join(out, "index.html"), width, 900, "light")
		b.Key("/", "/")
		assert.Equal(t, "INPUT", b.Eval("document.activeElement.tagName"))
		b.Call("Input.insertText", map[string]any{"text": "crash"}, nil)
		assert.Positive(t, hits(0))
		assert.True(t, b.Holds("[...document.querySelectorAll('#site-hits li')].every(li => /crash/i.test(li.querySelector('mark').innerText))"))
		b.Picture(fmt.Sprintf("search-%d", width))
		first := b.Eval("document.querySelector('#site-hits a').href")
		second := b.Eval("document.querySelectorAll('#site-hits a')[1].href")
		assert.NotEqual(t, first, second)
		b.Key("ArrowDown", "")
		assert.Equal(t, second, b.Eval("document.getElementById(input.getAttribute('aria-activedescendant')).querySelector('a').href"))
		b.Key("Escape", "")
		assert.False(t, b.Holds("document.getElementById('site-search').open"))
		b.Eval("document.getElementById('site-theme').click()")
		assert.Equal(t, "dark", b.Eval("document.documentElement.dataset.theme"))
		b.Eval("document.getElementById('site-theme').click()")
		assert.Equal(t, "light", b.Eval("document.documentElement.dataset.theme"))
	}
	b.Show(filepath.Join(out, "index.html"), 390, 900, "light")
	b.Eval("document.querySelector('.open').click()")
	assert.True(t, b.Holds("document.getElementById('site-pages').matches(':popover-open')"))
	b.Picture("pages-390")
}
