package export_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
)

// manners are the ways in which a text can be formatted.
func manners() map[string]string {
	return map[string]string{
		"Ada":              adaOpens,
		"Ben":              benOpens,
		"paragraphs":       "One.\n\nTwo,\nin two lines.  \nThree, after a break.\\\nFour.",
		"emphasis":         "*a* **b** ***c*** *a **b** c* **a *b* c** _d_ __e__ a*b*c ~~gone~~ snake_case_name 2*3*4 ** x",
		"emphasis, nested": "**bold with *both* and `code`** and *it **is** so*",
		"headings":         "# One\n\n## Two ##\n\n### C#\n\nSetext\n===\n\n###### Six\n\n# #\n\n#",
		"lists":            "- a\n- b\n  - c\n    1. d\n    2. e\n- f\n\ntext\n\n3. x\n4. y\n\n   more of y\n\n5) z",
		"loose list":       "- a\n\n- b\n\n  > quoted\n\n- c\n\n  ```\n  code\n  ```",
		"lists in a row":   "- a\n- b\n* c\n* d\n1. e\n1) f",
		"empty items":      "- a\n-\n- c\n\n1.\n2. x",
		"item with a rule": "- ***\n- a\n\n***",
		"quotes":           "> a\n> > b\n>\n> c\n\n> d",
		"code":             "```go\nfunc f() {}\n\n\t// `x`\n```\n\n~~~\n```\n~~~\n\n    indented\n\n      more",
		"code in a list":   "1. do:\n   ```sh\n   ls | wc\n   ```\n2. done",
		"code spans":       "`a` `` b`c `` ``` `` ``` ` d ` `<b>` `a\nb` `\\`",
		"table":            "| a | b | c |\n|:--|:-:|--:|\n| *1* | `x \\| y` | [l](https://x.example) |\n| short | | |\n| \\| | < | & |",
		"links":            "[a](https://x.example/a_(b)?c=d&e=f#g \"title\") <https://y.example/?a=1&copy=2> [r][1] [1] www.z.example https://w.example/a_b_c me@x.example\n\n[1]: https://r.example/x%20y \"t\"",
		"link, odd":        "[*a* `b` \\] ](<https://x.example/a b>) [](https://x.example) [x](https://x.example/\"'()[]{}|*`<>^~)",
		"escapes":          `\* \_ \# \[x\] \` + "`" + ` \\ \& &amp; &lt;b&gt; &copy; &#42;a&#42; &unknown; a & b &c; AT&T &amp;lt;b&amp;gt; \\*a* \\[x] C:\dir\*`,
		"beginnings":       "\\# no heading\n\\- no item\n\\+ none\n1\\. none\n\\> none\n\\=== none\n\\--- none\n: none\n12) none 3.5 is a number\n3.5 too",
		"punctuation":      "a|b c~d ~5 % e<f g>h i{j}k [l] (m) !n ! [o](https://x.example) \"q\" 'r' $5 and $6 ^s^ @t #u",
		"rules":            "a\n\n---\n\n* * *\n\n___\n\nb",
		"hard breaks":      "*a  \nb*  \n`c`  \nd",
		"html":             "a <br> b <!-- c --> d\n\n<div>\ne *f*\n</div>\n\ng",
		"pictures":         "![a *b*](https://x.example/a.png) and ![c](relative.png) and [![d](https://x.example/d.png)](https://x.example/e)",
		"many scripts":     "Город — это **общее** дело. 街道**属于**所有人。 الشوارع **للناس** a\u00a0b \u00a0",
	}
}

// plainReader reads Markdown as the documents promise that it can be read.
var plainReader = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
	goldmark.WithRendererOptions(html.WithXHTML()),
)

// turnOf returns what a reader sees of a single turn: of the page, and of the Markdown document.
func turnOf(t *testing.T, d *flow.Record, words string) (page, markdown string) {
	t.Helper()
	turn := *d.Turns[0]
	turn.Text = words
	r := *d
	r.Turns = []*flow.Turn{&turn}
	told, ok := debate.Of(d)
	require.True(t, ok)
	told.Verdicts, told.Assessments = nil, nil
	var out, md bytes.Buffer
	require.NoError(t, export.HTML(&out, &r))
	_, rest, ok := strings.Cut(out.String(), `<div class="speech" lang="" dir="auto">`)
	require.True(t, ok)
	page, _, _ = strings.Cut(rest, "</div>")

	require.NoError(t, export.Markdown(&md, &r))
	root := plainReader.Parser().Parse(text.NewReader(md.Bytes()))
	var read bytes.Buffer
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindBlockquote {
			continue
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			require.NoError(t, plainReader.Renderer().Render(&read, md.Bytes(), c))
		}
	}
	return strings.ReplaceAll(page, ` rel="noopener noreferrer nofollow"`, ""), read.String()
}

// TestBothSayTheSame: what is read of the Markdown document is what stands in the page.
func TestBothSayTheSame(t *testing.T) {
	d := duel().play(t)
	for _, name := range slices.Sorted(maps.Keys(manners())) {
		t.Run(name, func(t *testing.T) {
			page, markdown := turnOf(t, d.Record, manners()[name])
			assert.Equal(t, page, markdown)
		})
	}
}
