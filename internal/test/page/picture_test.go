package page_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/web"
)

// Where the pictures are, and what they show.
const (
	root   = "../../.."
	images = root + "/docs/images"
	sum    = images + "/page.sum"
)

// speech is what the debaters of the pictures say, by speaker and round.
func speech() map[string]string {
	return map[string]string{
		"Ada 1": "Streets are the largest rooms that a city has, and most of them are full of parked metal. Where centres were closed to " +
			"cars, shops lost no customers: more people came, on foot, and stayed longer.\n\nThe air is what everybody notices first. The " +
			"silence is what nobody wants to give back.",
		"Ben 1": "A ban treats the nurse on a night shift like the man who drives for bread. A price does not: it asks each of them what the " +
			"trip is worth, and pays for the buses of those who stay at home.\n\nCities that charge have a third fewer cars, and no list of " +
			"exceptions.",
		"Ada 2": "A price sells the air to those who can pay. The nurse pays it every night, and the man who drives for bread does not feel " +
			"it. Give her a permit and a bus, and give the street to the children.",
		"Ben 2": "A permit is a price that is paid in forms. Who knows how to ask gets one, and the others walk. London began with a charge " +
			"of five pounds, and could raise it, lower it, and end it. Show me the ban that was ever tried for a year and taken back.",
	}
}

// pages is the sum of all that makes the pictures look as they do.
func pages(t *testing.T) string {
	t.Helper()
	files := []string{"picture_test.go", root + "/internal/look/tokens.css", root + "/internal/look/icon.svg"}
	require.NoError(t, filepath.WalkDir(root+"/web/page", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, name)
		}
		return err
	}))
	hash := sha256.New()
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		one := sha256.Sum256(data)
		hash.Write([]byte(filepath.Base(name)))
		hash.Write(one[:])
	}
	return hex.EncodeToString(hash.Sum(nil)) + "\n"
}

// story has the judges of the pictures find what their readers expect: who wins has the better marks.
func story() *strings.Replacer {
	return strings.NewReplacer(
		`"score":7`, `"score":8`, `"score":8`, `"score":7`,
		"Both made their case.", "Ada says who pays the price, and offers a way. Ben does not say how low a charge may be to be fair.",
		"answered every point", "Her plan has an answer to the nurse, and his has none.",
	)
}

// pagesOf are all pages of the documentation in one text.
func pagesOf(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"/README.md", "/docs/*.md", "/docs/*/*.md"} {
		names, err := filepath.Glob(root + pattern)
		require.NoError(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			all.Write(data)
		}
	}
	return all.String()
}

// TestPictures: the pictures of the page in docs/images are those of the present page, and a page of the documentation shows each. With
// -update they are taken anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	if *update {
		take(t)
		require.NoError(t, os.WriteFile(sum, []byte(pages(t)), 0o600))
	}
	kept, err := os.ReadFile(sum)
	require.NoError(t, err)
	assert.Equal(t, pages(t), string(kept), "the page has changed: GOWORK=off go test -run Pictures . -update in internal/test/page")
	files, err := filepath.Glob(images + "/*.png")
	require.NoError(t, err)
	assert.Len(t, files, 4)
	documentation := pagesOf(t)
	for _, name := range files {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(150_000), name)
		assert.Contains(t, documentation, "/images/"+filepath.Base(name)+")", "no page shows it")
	}
}

// take plays the debate of the pictures, and takes them.
func take(t *testing.T) {
	t.Helper()
	const phone, long = 390, 844
	config, said := stage.TwoDebaters(), speech()
	config.ID, config.Rounds, config.Budget = "cars", 2, &flow.Budget{Soft: 2 * flow.USD, Hard: 2 * flow.USD} // more than the worst case
	g, judged := shut("Ben 2"), story()
	engine, script := house(t, config, g)
	stage.Altered(script, func(req *provider.Request, r *scripted.Reply) {
		if words, ok := said[speechOf(req)]; ok {
			r.Text, r.Chunks = words, 2
		}
		if req.Schema != nil {
			r.Text = judged.Replace(r.Text)
		}
	})
	stage.Started(t, engine, config)
	asks := withPat("asks")
	asks.Rounds = 1
	session := stage.Started(t, engine, asks)
	stage.AwaitsInput(t, session)
	require.NoError(t, os.MkdirAll(images, 0o755))
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "#/c/cars")
	defer p.leaves()
	keep := func(name string) {
		require.NoError(t, os.WriteFile(filepath.Join(images, name+".png"), p.Screen(), 0o600))
	}

	half, _, _ := strings.Cut(said["Ben 2"], ".")
	p.says(true, half)
	p.reads(".standing", "Ben is speaking")
	keep("watch")
	p.Goto(p.home+"#/c/cars", phone, long, "light")
	p.says(true, half)
	keep("phone")
	p.Goto(p.home+"#/inbox", wide, tall, "light")
	p.reads(".question", "Pat")
	keep("question")
	g.open("Ben 2")
	p.Goto(p.home+"#/c/cars", wide, tall, "dark")
	p.reads(".headline", "Ada has won")
	p.Reload() // what is over is read from its beginning
	p.reads(".headline", "Ada has won")
	p.reads(".turn.is-done", half)
	p.reads(".rail tr", "Ada8.0")
	keep("dark")
}
