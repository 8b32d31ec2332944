package export_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/export"
)

func ExampleTerminal_Markdown() {
	t := export.Terminal{Width: 30, Plain: true}
	text := "## What we do\n\n- **Begin** with one store, and `measure` it.\n- Add a second one later."
	if err := t.Markdown(os.Stdout, text); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ## What we do
	//
	// • Begin with one store, and
	//   `measure` it.
	// • Add a second one later.
}

// TestTerminal: how each construct of Markdown is set.
func TestTerminal(t *testing.T) {
	for name, tc := range map[string]struct {
		terminal export.Terminal
		text     string
		want     string
	}{
		"nothing":    {export.Terminal{}, " \n\n", ""},
		"styles":     {export.Terminal{}, "**Bold** and `code`", "\x1b[1mBold\x1b[0m and \x1b[36mcode\x1b[0m\n"},
		"a heading":  {export.Terminal{}, "# Begin\n\nNow.", "\x1b[1mBegin\x1b[0m\n\nNow.\n"},
		"no styles":  {export.Terminal{Plain: true}, "# Begin\n\n**Bold**, ~~not~~ and `code`", "# Begin\n\nBold, ~~not~~ and `code`\n"},
		"words":      {export.Terminal{Width: 20, Plain: true}, "Bold and `code` with [a link](https://e.org/x).", "Bold and `code` with\na link\n(https://e.org/x).\n"},
		"a word":     {export.Terminal{Width: 10}, "abcdefghijklm", "abcdefghij\nklm\n"},
		"an address": {export.Terminal{Plain: true}, "See https://e.org/x now.", "See https://e.org/x now.\n"},
		"lists":      {export.Terminal{}, "1. one\n2. two\n   - three\n", "1. one\n2. two\n   • three\n"},
		"a quote":    {export.Terminal{}, "> said", "│ said\n"},
		"code":       {export.Terminal{Plain: true}, "```go\nif x {\n\ty()\n}\n```", "    if x {\n        y()\n    }\n"},
		"a rule":     {export.Terminal{Width: 10}, "a\n\n---\n\nb", "a\n\n──────────\n\nb\n"},
		"a table":    {export.Terminal{Plain: true}, "| a | b |\n|---|--:|\n| one | 2 |\n| x | 10 |", "a   │  b\n────┼───\none │  2\nx   │ 10\n"},
		"a table that is too wide": {
			export.Terminal{Width: 12, Plain: true},
			"| Name | What it does |\n|---|---|\n| cache | keeps replies |",
			"• Name:\n  cache\n  What it\n  does:\n  keeps\n  replies\n",
		},
		"wide characters": {export.Terminal{Width: 10}, "犬が好きです。", "犬が好きで\nす。\n"},
		"HTML":            {export.Terminal{}, "<b>no</b> tag", "<b>no</b> tag\n"},
		"hostile":         {export.Terminal{}, "a&#27;[2Jb\u202e", "a␛[2Jb\ufffd\n"},
		"unseen":          {export.Terminal{}, "a\u200bb\u200e\u061cc\u2062d\u200de", "a\ufffdb\ufffd\ufffdc\ufffdd\u200de\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, tc.terminal.Markdown(&out, tc.text))
			assert.Equal(t, tc.want, out.String())
		})
	}
}

// TestTerminalKeepsWordsAndWidth: whatever a model has written, no line is wider than the terminal, no word is lost, and nothing controls
// the terminal but styles.
func TestTerminalKeepsWordsAndWidth(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 7))
	pieces := []string{
		"word", "longest-of-all-the-words-that-stand-here", "\n", "\n\n", "- ", "1. ", "> ", "# ", "**", "`", "~~", "| a | b |\n|---|---|\n| c | d |\n",
		"```\n", "\x1b[2J", "\u009b1m", "\u202e", "\xff", "&#27;", "&#8232;", "[x](https://e.org)", "<i>", "    ", "\t", "猫", "e\u0301", "🇩🇪", "❤️",
	}
	styles := regexp.MustCompile(`\x1b\[[0-9;]+m`)
	for range 2000 {
		var text strings.Builder
		words := 0
		for range random.IntN(40) {
			piece := pieces[random.IntN(len(pieces))]
			if piece == "word" {
				words++
			}
			text.WriteString(piece + " ")
		}
		width := 10 + random.IntN(70)
		terminal := export.Terminal{Width: width, Plain: random.IntN(2) == 0}
		var out strings.Builder
		require.NoError(t, terminal.Markdown(&out, text.String()))
		shown := styles.ReplaceAllString(out.String(), "")
		if terminal.Plain {
			shown = out.String()
		}
		for line := range strings.Lines(shown) {
			line = strings.TrimSuffix(line, "\n")
			require.LessOrEqual(t, len([]rune(strings.ReplaceAll(line, "猫", "猫."))), width+strings.Count(line, "\u0301"), "%q", text.String())
			require.Equal(t, -1, strings.IndexFunc(line, unicode.IsControl), "%q", line)
		}
		require.GreaterOrEqual(t, strings.Count(strings.Join(strings.Fields(shown), ""), "word"), words, "%q", text.String())
	}
}

// TestTerminalOfTooMuch: what is too much to parse is shown as it is.
func TestTerminalOfTooMuch(t *testing.T) {
	var out strings.Builder
	require.NoError(t, export.Terminal{Width: 20}.Markdown(&out, strings.Repeat("**word** ", 10_000)))
	assert.Equal(t, 10_000, strings.Count(out.String(), "**word**"))
}
