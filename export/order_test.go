package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// unfolded returns the sections of a page in their order, and the classes of the articles that are seen before a fold is opened.
func unfolded(t *testing.T, d *export.Document) (sections, articles []string) {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, d.HTML(&page))
	folds := 0
	for decoder := xml.NewDecoder(&page); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return sections, articles
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			attributes := make(map[string]string)
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
			}
			switch token.Name.Local {
			case "details":
				folds++
				assert.NotContains(t, attributes, "open")
			case "section":
				sections = append(sections, attributes["id"])
			case "article":
				if class, _, _ := strings.Cut(attributes["class"], " "); folds == 0 && !slices.Contains(articles, class) {
					articles = append(articles, class)
				}
			}
		case xml.EndElement:
			if token.Name.Local == "details" {
				folds--
			}
		}
	}
}

// A page begins with what came of it. What was said round by round, and how it ran, is shown when it is opened.
func TestAPageBeginsWithTheAnswer(t *testing.T) {
	sections, articles := unfolded(t, duel().play(t))
	assert.Equal(t, []string{
		"outcome", "scores", "participants", "judges", "round-1", "round-2", "how-it-ran", "details", "states", "timeline", "usage",
	}, sections)
	assert.Equal(t, []string{"verdict", "person"}, articles)

	sections, articles = unfolded(t, deliberate(t, tickets(), ""))
	assert.Equal(t, []string{"solution", "scores", "agents", "problem", "clarifications", "round-1"}, sections[:6])
	assert.Equal(t, []string{"person"}, articles)

	sections, articles = unfolded(t, work(t, ""))
	assert.Equal(t, []string{"outcome", "agents", "task", "plan", "executions", "decisions", "inputs", "failures", "how-it-ran"}, sections[:9])
	assert.Equal(t, []string{"person"}, articles)

	sections, _ = unfolded(t, evaluate(t, ""))
	assert.Equal(t, []string{"scores", "evaluators", "problem", "solution"}, sections[:4])
}

// The document of a stored conversation reads the log as its flow does, so that the calls of judges have their results. It does
// not wait for one that is not over.
func TestOfAStoredConversation(t *testing.T) {
	kept, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, kept.Close()) }()
	s := duel()
	source := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		r := s.reply(req)
		r.Delay = 0
		return r
	}}
	engine := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"acme": source}}
	reader := &debate.Engine{Store: kept} // it has nothing in memory, and no provider
	session := stage.Started(t, engine, s.config)
	stage.Ended(t, session)
	d, err := export.Of(t.Context(), reader, session.ID())
	require.NoError(t, err)
	var md bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	assert.Contains(t, md.String(), "| judge | assessment | 1 | 1 | done |")
	assert.Contains(t, md.String(), "| judge | verdict | 2 | 1 | done |")
	assert.NotContains(t, md.String(), "no result")

	s.config.ID, s.config.Unattended = "refused", true
	s.reply = broken().reply
	session = stage.Started(t, engine, s.config)
	_, err = session.Wait(t.Context())
	require.Error(t, err)
	d, err = export.Of(t.Context(), reader, session.ID())
	require.NoError(t, err)
	md.Reset()
	require.NoError(t, d.Markdown(&md))
	assert.Contains(t, md.String(), "quota: the account is empty")

	_, err = export.Of(t.Context(), reader, "nobody")
	require.ErrorIs(t, err, debate.ErrNotFound)
}

// What begins a text of a model is words, whatever its Markdown is.
func TestGist(t *testing.T) {
	for text, want := range map[string]string{
		"## Title\n\nThe **bold** start of `code`.": "The bold start of code.",
		"# Only a heading":                          "Only a heading",
		"1. **Begin small.** Then grow.\n2. Stop.":  "Begin small. Then grow. Stop.",
		"> quoted\n\ntext":                          "quoted text",
		"| a | b |\n|---|---|\n| 1 | 2 |":           "a b 1 2",
		"see [why](https://x.example)":              "see why",
		"```go\nfunc f() {}\n```":                   "func f() {}",
		"a <br> b":                                  "a <br> b",
		"two\nlines  \nand a break":                 "two lines and a break",
		"\x1b[31mred\x1b[0m":                        "␛red␛",
		"\x1b]0;a title of the window\aand words":   "␛and words",
		"\x1b]52;c;never ended":                     "␛52;c;never ended",
		"\u009b31mred \u009dtitle\u009cand words":   "␛red ␛and words",
		" \n\t":                     "",
		strings.Repeat("word ", 80): strings.TrimSpace(strings.Repeat("word ", 60)) + "…",
		strings.Repeat("word ", 59) + "longer words": strings.Repeat("word ", 58) + "word…",
		strings.Repeat("x", 400):                     strings.Repeat("x", 300) + "…",
	} {
		assert.Equal(t, want, export.Gist(text, 300), text)
	}
	texts := slices.Concat(slices.Collect(maps.Values(manners())), slices.Collect(maps.Values(attacks())))
	for _, text := range texts {
		for _, most := range []int{5, 300} {
			got := export.Gist(text, most)
			assert.LessOrEqual(t, utf8.RuneCountInString(got), most+1, text)
			assert.NotContains(t, got, "\n", text)
			assert.Equal(t, strings.TrimSpace(text) == "", got == "", text)
		}
	}
}

// savedDebate is a debate as dialectic saves it.
const savedDebate = `{
	"id": "deb-1", "problem": "# Design a cache\n\nIt is small.", "context": "It has *one* reader.", "createdAt": "2025-01-01T00:00:00Z",
	"rounds": [{"roundNumber": 1, "contributions": [
		{"agentId": "architect", "agentRole": "architect", "type": "proposal", "content": "A **map**."},
		{"agentId": "security", "agentRole": "security", "type": "critique", "content": "<script>", "targetAgentId": "architect"}]}],
	"finalSolution": {"description": "A map with a lock.", "tradeoffs": ["slower"], "recommendations": ["measure"], "confidence": 80,
		"synthesizedBy": "judge"}}`

// What dialectic has saved is written with what is in the file, and nothing else.
func TestSaved(t *testing.T) {
	d, err := export.Saved([]byte(savedDebate))
	require.NoError(t, err)
	var md bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	for _, want := range []string{
		"# Design a cache\n\nDebate deb-1\n\n**Saved.**", "## Solution\n\n**By judge, with a confidence of 80 of 100.**\n\n> A map with a lock.\n",
		"**Trade-offs**\n\n- slower\n", "- **Rounds:** 1\n- **Contributions:** 2\n", "### architect\n\narchitect · 1 contribution\n", //nolint:dupword // a name, and its role
		"### Context\n\n> It has *one* reader.\n", "## Round 1\n\n### architect\n\nproposal\n\n> A **map**.\n",
		"### security\n\ncritique of architect\n\n> &lt;script>\n",
	} {
		assert.Contains(t, md.String(), want)
	}
	for _, not := range []string{"UTC", "$", "How it ran", "Took"} {
		assert.NotContains(t, md.String(), not)
	}
	sections, articles := unfolded(t, d)
	assert.Equal(t, []string{"solution", "agents", "problem", "round-1"}, sections)
	assert.Equal(t, []string{"person"}, articles)
	d.Title = "Minutes"
	md.Reset()
	require.NoError(t, d.Markdown(&md))
	assert.True(t, strings.HasPrefix(md.String(), "# Minutes\n"))

	for _, data := range []string{"", "{}", "[]", `{"problem": " ", "rounds": [{}]}`, `{"problem": "x"}`, `{"problem": 1}`} {
		_, err := export.Saved([]byte(data))
		var e *flow.Error
		require.ErrorAs(t, err, &e, data)
		assert.Equal(t, provider.KindValidation, e.Kind)
	}
}

// FuzzSaved: whatever a file is, it is refused, or its documents are harmless.
func FuzzSaved(f *testing.F) {
	f.Add([]byte(savedDebate))
	f.Add([]byte(`{"problem": "x", "rounds": [{}, {"contributions": [{}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := export.Saved(data)
		if err != nil {
			return
		}
		_, err = structures(d)
		require.NoError(t, err)
	})
}
