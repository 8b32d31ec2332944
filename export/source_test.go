package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

const thought = "Ben will come with prices; the survey is the safer ground."

// searching is a debate whose first speaker searches the web and thinks, with a vendor that tells its own cost.
func searching() *scene {
	s := duel()
	s.config.ID, s.config.Judging, s.config.Rounds = "searching", nil, 1
	reply := s.reply
	s.reply = func(req *provider.Request) scripted.Reply {
		out := reply(req)
		if req.Self != "Ada" {
			return out
		}
		at := strings.Index(out.Text, "Nitrogen dioxide")
		out.Reasoning, out.Cost = thought, new(0.02)
		out.Citations = []provider.Citation{
			{Title: "Air quality at the kerb", URL: "https://air.example/report?year=2024&copy=1", Quote: "Levels fell by 32 per cent.", Start: at, End: at + 16},
			{URL: "http://streets.example/"},
			{Title: "The *survey* [2024]", URL: "https://example.org/survey_(2024)"},
		}
		return out
	}
	return s
}

// TestSourcesStandBehindTheTurn: what a turn cites is listed behind it; thoughts are in no document.
func TestSourcesStandBehindTheTurn(t *testing.T) {
	d := searching().play(t)
	require.Equal(t, thought, d.Record.Turns[0].Reasoning)
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	golden(t, "sources.md", md.Bytes())
	require.NoError(t, d.HTML(&page))
	golden(t, "sources.html", page.Bytes())
	for _, document := range []string{md.String(), page.String()} {
		assert.NotContains(t, document, "safer ground")
		assert.Equal(t, 1, strings.Count(document, "Sources"))
	}
	_, err := structures(d)
	require.NoError(t, err)
}

// TestSourcesOfASolution: what the judge of a deliberation cites stands behind the solution. Its text is shown in parts, so
// no passage of it is.
func TestSourcesOfASolution(t *testing.T) {
	d := deliberate(t, tickets(), "")
	for _, turn := range d.Record.Turns {
		if turn.Kind == deliberation.KindSynthesis {
			turn.Citations = []provider.Citation{{Title: "Queues", URL: "https://example.org/queues", End: 5}}
		}
	}
	var md bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	_, solution, _ := strings.Cut(md.String(), "\n## Solution\n")
	solution, _, _ = strings.Cut(solution, "\n## ")
	assert.Contains(t, solution, "\n**Sources**\n\n1. [Queues](https://example.org/queues) (example.org)\n")
}

// TestASourceIsText: a log that no runtime has written can name anything as a source.
func TestASourceIsText(t *testing.T) {
	t.Parallel()
	d := duel().play(t)
	turn := *d.Record.Turns[0]
	turn.Text = "né"
	r := *d.Record
	r.Turns = []*flow.Turn{&turn}
	for name, test := range map[string]struct {
		citation   provider.Citation
		item, page string // "": it is not listed
	}{
		"another scheme": {
			provider.Citation{Title: "Click", URL: "javascript:alert(1)"},
			`Click (javascript:alert(1))`, `<bdi>Click</bdi> (<bdi>javascript:alert(1)</bdi>)`,
		},
		"another scheme, no title": {
			provider.Citation{URL: "data:text/html,<b>"}, `data:text/html,&lt;b>`, `<bdi>data:text/html,&lt;b&gt;</bdi>`,
		},
		"a scheme without a host": {provider.Citation{Title: "x", URL: "https:evil"}, `x (https:evil)`, `<bdi>x</bdi> (<bdi>https:evil</bdi>)`},
		"no scheme":               {provider.Citation{Title: "x", URL: "//evil.example"}, `x (//evil.example)`, `<bdi>x</bdi> (<bdi>//evil.example</bdi>)`},
		"a title with markup": {
			provider.Citation{Title: "](https://evil.example) <b>*x*</b>\n\n# Verdict", URL: "https://example.org/a"},
			`[\](https://evil.example) &lt;b>\*x\*&lt;/b> # Verdict](https://example.org/a) (example.org)`,
			`<a href="https://example.org/a" rel="noopener noreferrer nofollow"><bdi>](https://evil.example) &lt;b&gt;*x*&lt;/b&gt; # Verdict</bdi></a> (<bdi>example.org</bdi>)`,
		},
		"a title that turns around": {
			provider.Citation{Title: "\u202Egro.elpmaxe\u2066", URL: "https://evil.example/"},
			"[\uFFFDgro.elpmaxe\uFFFD](https://evil.example/) (evil.example)",
			"<a href=\"https://evil.example/\" rel=\"noopener noreferrer nofollow\"><bdi>\uFFFDgro.elpmaxe\uFFFD</bdi></a> (<bdi>evil.example</bdi>)",
		},
		"a name before the host": {
			provider.Citation{Title: "example.org", URL: `https://example.org@evil.example/)"><script>`},
			`[example.org](https://example.org@evil.example/%29%22%3E%3Cscript%3E) (evil.example)`,
			`<a href="https://example.org@evil.example/%29%22%3E%3Cscript%3E" rel="noopener noreferrer nofollow"><bdi>example.org</bdi></a> (<bdi>evil.example</bdi>)`,
		},
		"an entity": {
			provider.Citation{Title: "x", URL: "https://example.org/?a&lt;b&amp"},
			`[x](https://example.org/?a&amp;lt;b&amp) (example.org)`,
			`<a href="https://example.org/?a&amp;lt;b&amp;amp" rel="noopener noreferrer nofollow"><bdi>x</bdi></a> (<bdi>example.org</bdi>)`,
		},
		"a long address": {
			provider.Citation{Title: "x", URL: "https://example.org/" + strings.Repeat("a", 3000)},
			`x (https://example.org/` + strings.Repeat("a", 80) + `…)`, `<bdi>x</bdi> (<bdi>https://example.org/` + strings.Repeat("a", 80) + `…</bdi>)`,
		},
		"half a character": {provider.Citation{Title: "x", URL: "y", End: 2}, `x (y), on “n”`, `<bdi>x</bdi> (<bdi>y</bdi>), on “<bdi>n</bdi>”`},
		"no such place":    {provider.Citation{Title: "x", URL: "y", Start: 2, End: 9}, `x (y)`, `<bdi>x</bdi> (<bdi>y</bdi>)`},
		"a quote":          {provider.Citation{Title: "x", URL: "y", Quote: "a\n\n| <b>"}, `x (y): “a \| &lt;b>”`, `<bdi>x</bdi> (<bdi>y</bdi>): “<bdi>a | &lt;b&gt;</bdi>”`},
		"nothing":          {provider.Citation{Title: " \n", URL: "\t", Quote: "words of nobody"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			turn.Citations = []provider.Citation{test.citation}
			var md, page bytes.Buffer
			require.NoError(t, export.Markdown(&md, &r))
			require.NoError(t, export.HTML(&page, &r))
			_, err := structures(&export.Document{Record: &r})
			require.NoError(t, err)
			if test.item == "" {
				assert.NotContains(t, md.String()+page.String(), "Sources")
				return
			}
			assert.Contains(t, md.String(), "\n**Sources**\n\n1. "+test.item+"\n\n")
			assert.Contains(t, page.String(), "<ol class=\"sources\">\n<li lang=\"\" dir=\"auto\">"+test.page+"</li>\n</ol>")
		})
	}
}

// TestCostsThatVendorsTell: if any vendor has told a cost, the accounts show the difference to the prices.
func TestCostsThatVendorsTell(t *testing.T) {
	for name, test := range map[string]struct {
		cost float64
		want string
	}{
		"more": {0.02, "| $0.02 (+$0."}, "less": {0.000001, "| $0.000001 (-$0."},
	} {
		t.Run(name, func(t *testing.T) {
			s := searching()
			reply := s.reply
			s.reply = func(req *provider.Request) scripted.Reply {
				out := reply(req)
				if out.Cost != nil {
					out.Cost = &test.cost
				}
				return out
			}
			var md bytes.Buffer
			require.NoError(t, s.play(t).Markdown(&md))
			assert.Equal(t, 3, strings.Count(md.String(), "| Cost told by vendors (more than by the prices) |"), "by participant, model and round")
			assert.Contains(t, md.String(), test.want)
			ben := md.String()[strings.LastIndex(md.String(), "| Ben"):]
			ben, _, _ = strings.Cut(ben, "\n")
			assert.True(t, strings.HasSuffix(ben, " |  |"), ben)
		})
	}
	d, ok := debate.Of(duel().play(t).Record)
	require.True(t, ok)
	var md bytes.Buffer
	require.NoError(t, export.Markdown(&md, d.Record))
	assert.NotContains(t, md.String(), "told by vendors")
}

// TestQuotationsShowTheirPlace: beside a quotation stands what the file has there, and a link leads to the documents. A file that is gone
// is not shown, and no place is read to its end that is far longer than what is shown.
func TestQuotationsShowTheirPlace(t *testing.T) {
	const study = "The board met in May. It is not possible to close the plant before the end of the year, the report says."
	config := stage.TwoDebaters()
	config.Judging, config.Rounds, config.Quotes = nil, 1, true
	long := "The plant of the town" + strings.Repeat(" ", 1<<14) + "stays open until the end of the year."
	config.Documents = []flow.Document{{Files: []flow.File{
		{Name: "report.txt", Type: "text/plain", Data: []byte(study)}, {Name: "long.txt", Type: "text/plain", Data: []byte(long)},
	}}}
	engine, p := stage.Engine(config)
	p.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: `<quote document="report.txt">It is possible to close the plant before the end of the year</quote>` +
			` <quote document="long.txt">The plant of the town stays open until the end of the year</quote>`}
	}
	record := stage.Run(t, engine, config)
	d, err := export.Of(t.Context(), engine, record.ID)
	require.NoError(t, err)
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	require.NoError(t, d.HTML(&page))
	assert.Contains(t, md.String(), `[altered in report.txt, bytes 22 to 86: "not" is missing](#documents), on “It is possible`)
	assert.Contains(t, page.String(), `href="#documents"`)
	for _, document := range []string{md.String(), page.String()} {
		assert.Contains(t, document, study)
		assert.Contains(t, document, "The plant of the town…")
	}
	d, err = export.Of(t.Context(), engine, record.ID)
	require.NoError(t, err)
	_, err = engine.Redact(t.Context(), record.ID, flow.Redaction{Files: []string{flow.HashOf([]byte(study))}})
	require.NoError(t, err)
	md.Reset()
	require.NoError(t, d.Markdown(&md))
	assert.NotContains(t, md.String(), study)
	assert.Contains(t, md.String(), "altered in report.txt")
}

// TestQuotationsStandBehindTheTurn: a report says of each quotation what the program has found.
func TestQuotationsStandBehindTheTurn(t *testing.T) {
	d := duel().play(t)
	turn := d.Record.Turns[0]
	turn.Quotations = []flow.Quotation{
		{Start: 2, End: 7, Status: flow.QuoteVerified, File: "a.txt", From: 3, To: 8},
		{Status: flow.QuoteAltered, File: "b.txt", From: 1, To: 2, Changed: `"not" is missing`},
		{Status: flow.QuoteAbsent, File: "<b>.txt"},
		{Status: flow.QuoteUnchecked},
	}
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	require.NoError(t, d.HTML(&page))
	assert.Contains(t, md.String(), "as in a.txt, bytes 3 to 8, on “"+turn.Text[2:7]+"”")
	for _, document := range []string{md.String(), page.String()} {
		assert.Contains(t, document, "Quotations, checked by the program")
		assert.Contains(t, document, "is missing")
		assert.NotContains(t, document, "<b>.txt")
	}
}
