package export_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// tenRounds is a debate of ten rounds that a judge has assessed after each.
func tenRounds() *scene {
	s := duel()
	reply := s.reply
	s.config.ID, s.config.Rounds = "ten", 10
	s.reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return says(strings.Repeat(adaOpens+"\n\n", 2))
		}
		return reply(req)
	}
	return s
}

// Chromium shows a report of each kind on a phone and on a screen, light and dark: nothing is asked of anybody, and nothing is wider
// than the window. Before a fold is opened, ten rounds fit twenty windows of a phone. On paper, every text is to be read. With
// -artifacts and -outputdir the pictures and the papers are kept.
func TestScreensInABrowser(t *testing.T) {
	longform.Only(t, "what is folded in a page, and the golden files")
	longform.Lone(t)
	const phone = 844
	b := browser.Open(t)
	folder := t.TempDir()
	for name, play := range map[string]func() *export.Document{
		"ten":        func() *export.Document { return tenRounds().play(t) },
		"court":      func() *export.Document { return court().play(t) },
		"asked":      func() *export.Document { return asked().play(t) },
		"work":       func() *export.Document { return work(t, "") },
		"evaluation": func() *export.Document { return evaluate(t, "") },
		"deliberation": func() *export.Document {
			config := tickets()
			config.Rounds, config.Termination = 10, deliberation.Termination{}
			return deliberate(t, config, "")
		},
	} {
		path := filepath.Join(folder, name+".html")
		file, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, play().HTML(file))
		require.NoError(t, file.Close())
		for _, width := range []int{390, 1280} {
			for _, colours := range []string{"light", "dark"} {
				at := fmt.Sprintf("%s-%d-%s", name, width, colours)
				for _, e := range b.Show(path, width, phone, colours) {
					assert.NotContains(t, []string{"Log.entryAdded", "Runtime.exceptionThrown"}, e.Method, "%s: %s", at, e.Params)
					var asked struct{ Request struct{ URL string } }
					if e.Method == "Network.requestWillBeSent" && assert.NoError(t, json.Unmarshal(e.Params, &asked), at) {
						assert.Regexp(t, "^(file|data):", asked.Request.URL, at)
					}
				}
				assert.InDelta(t, width, b.Eval("document.documentElement.scrollWidth"), 0, "%s: the width", at)
				assert.Equal(t, colours == "dark", b.Holds("getComputedStyle(document.body).color.match(/[0-9.]+/)[0] > 128"), at)
				height, ok := b.Eval("document.documentElement.scrollHeight").(float64)
				require.True(t, ok, at)
				if width == 390 {
					assert.LessOrEqual(t, height, 20.*phone, "%s: the height", at)
				}
				b.Show(path, width, int(height), colours)
				b.Picture(at)
			}
		}
		const read = "[...document.querySelectorAll('article, .speech, table')].every(e => e.checkVisibility())"
		assert.False(t, b.Holds(read), "%s: what is folded", name)
		b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
		assert.True(t, b.Holds(read), "%s: on paper", name)
		b.Call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
		var paper struct{ Data string }
		b.Call("Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &paper)
		data, err := base64.StdEncoding.DecodeString(paper.Data)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), name+".pdf"), data, 0o600))
	}
}
