package wire_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider/wire"
)

// Pieces that are the text so far come to it once, in the text and in thoughts, and what a model says twice stays. The first row
// is what open-jarvis/OpenJarvis#378 (2026-05-22) quotes, the second one the form of QwenLM/qwen-code#3896 (2026-05-07). The first
// repetitions are of zhukunpenglinyutong/jetbrains-cc-gui#1384 (2026-06-24) and agno-agi/agent-ui#151 (2026-06-24).
func TestPiecesThatAreTheTextSoFar(t *testing.T) {
	const numbers = "Sure! Here are the numbers:\n\n1"
	for _, tt := range []struct {
		pieces []string
		want   string
	}{
		{[]string{numbers, numbers + ".  \n2.  \n3.  ", numbers + ".  \n2.  \n3.  \n4.  \n5."}, numbers + ".  \n2.  \n3.  \n4.  \n5."},
		{[]string{"", "Trees", "", "Trees cool", "Trees cool the", "Trees cool the", "Trees", "", "Trees cool the street."}, "Trees cool the street."},
		{[]string{"\n\n", "\n\nSure, trees", "\n\nSure, trees cool", "\n\nSure, trees cool cities."}, "\n\nSure, trees cool cities."},
		{[]string{numbers, numbers, numbers + ". A", numbers + ". A\n2. B"}, numbers + ". A\n2. B"},
		{[]string{"哈", "哈哈", "哈哈，", "哈哈，树", "哈哈，树木", "哈哈，树木能"}, "哈哈，树木能"},
		{[]string{"`", "```go", "```go\nfunc", "```go\nfunc main", "```go\nfunc main()"}, "```go\nfunc main()"},
		{[]string{"I", "I think", "I think so"}, "I think so"},
		{[]string{"Yes", "Yes.", "Yes."}, "Yes."},
		{[]string{numbers, numbers + ". A"}, numbers + ". A"},
		// Half a character at the end.
		{[]string{"Oak \uFFFD", "Oak 🌳 c", "Oak 🌳 cools", "Oak 🌳 cools \uFFFD", "Oak 🌳 cools 🌳."}, "Oak 🌳 cools 🌳."},
		{[]string{"Oak \xED\xA0\xBC", "Oak 🌳 c", "Oak 🌳 cools", "Oak 🌳 cools."}, "Oak 🌳 cools."},
		// Another text behind it.
		{[]string{"I", "I think", "I think so", "I think so.", "No", "Not now", "Not now, ", "Not now, I"}, "I think so.Not now, I"},
		// Repetitions.
		{[]string{"刚", "刚", "，", "我"}, "刚刚，我"},
		{[]string{"na", " na", " na", "."}, strings.Repeat("na ", 2) + "na."},
		{[]string{"1", "10", "100", "x"}, "110100x"},
		{[]string{"ha", "haha", " wow"}, "hahaha wow"},
		{[]string{"ha", "ha", "ha"}, "hahaha"},
		{[]string{" the", " theory", " holds"}, " the theory holds"},
		{[]string{" the", " theory"}, " the theory"},
		{[]string{"\n", "\n\n", "\n\nYes", "\n", "\nNo"}, "\n\n\n\n\nYes\n\nNo"},
		{[]string{"Oak \xED\xA0\xBC", "\xED\xBC\xB3", " cools"}, "Oak 🌳 cools"},
		{[]string{"All work and no play.\n", "All work and no play.\n", "All work"}, "All work and no play.\nAll work and no play.\nAll work"},
		{[]string{"All work and no play.\n", "All work and no play.\nAll work and no play.\n"}, strings.Repeat("All work and no play.\n", 3)},
		{
			[]string{"We shall overcome,\n", "We shall overcome,\nWe shall overcome, some day.\n", "Deep in my heart"},
			"We shall overcome,\nWe shall overcome,\nWe shall overcome, some day.\nDeep in my heart",
		},
	} {
		for name, take := range map[string]func(r *wire.Reply, piece string){
			"text":     func(r *wire.Reply, piece string) { r.Say(piece) },
			"thoughts": (*wire.Reply).Think,
			"tagged":   func(r *wire.Reply, piece string) { r.ThinkTagged(piece) },
		} {
			var seen collected
			r := seen.reply(t)
			for _, piece := range tt.pieces {
				take(r, piece)
			}
			if name != "text" {
				r.Say("Yes.")
			}
			got := end(t, r)
			if name == "text" {
				assert.Equal(t, tt.want, got.Text, tt.pieces)
				assert.Equal(t, len(tt.want), r.Len())
				continue
			}
			assert.Equal(t, tt.want, got.Reasoning, tt.pieces)
			assert.Equal(t, tt.want, seen.thoughts.String())
		}
	}
}

// A paragraph of thoughts, and a refusal behind a text, begin anew.
func TestTheTextSoFarEnds(t *testing.T) {
	var seen collected
	r := seen.reply(t)
	r.Think("I")
	r.Think("I think")
	r.ThinkApart()
	r.Think("I")
	r.Think("I know")
	r.Think("I know it")
	r.Say("No")
	r.Say("Not")
	r.Show("No.")
	got := end(t, r)
	assert.Equal(t, "II think\n\nI know it", got.Reasoning)
	assert.Equal(t, "NoNotNo.", got.Text)
}

// A first piece is passed on at once, and a piece costs no more than itself.
func TestTheTextSoFarIsNotCompared(t *testing.T) {
	longform.Lone(t)
	var seen collected
	r := seen.reply(t)
	r.Say("Trees")
	require.Equal(t, "Trees", seen.text.String())
	r.Say(strings.Repeat("x", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1000 {
		r.Say("y")
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// Of a model that says the same without an end, most is passed on as it comes.
func TestARepetitionWithoutAnEnd(t *testing.T) {
	longform.Lone(t)
	var seen collected
	r := seen.reply(t)
	for range 1 << 17 {
		r.Say(" la")
	}
	assert.Equal(t, 3<<17, seen.text.Len())
	r.Say(".")
	assert.Equal(t, strings.Repeat(" la", 1<<17)+".", end(t, r).Text)
}

// However a text is cut into pieces, and whether they are the rest or the text so far, it is the same text.
func TestPiecesOfAnyLength(t *testing.T) {
	longform.Lone(t)
	const verse = "Tyger Tyger, burning bright,\nIn the forests of the night;\n"
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{
		"Nein, nein, nein! Bäume kühlen die Stadt. Nein, nein, nein! Das sagt auch die Studie.", verse + verse,
		"哈哈哈哈，树木能降温。树木能降温，这是事实。树木能降温。", "1. Trees\n2. Trees\n3. Trees\n11. Trees\n111. x", "\n\nSure, trees 🌳🌳 cool cities.",
		`{"winner":"A","winner":"A","scores":{"A":1,"B":1}}`, strings.Repeat("We shall overcome,\nWe shall overcome some day\n", 2),
	} {
		for range 500 {
			var seen [2]collected
			rest, soFar := seen[0].reply(t), seen[1].reply(t)
			from, at := 0, 0
			for most := 1 + random.IntN(len(text)/5); at < len(text); {
				if at = min(at+1+random.IntN(most), len(text)); from == 0 || at == len(text) {
					at = border(text, at)
				}
				soFar.Say(strings.ToValidUTF8(text[:at], "\uFFFD"))
				rest.Say(text[from:border(text, at)])
				from = border(text, at)
			}
			require.Equal(t, text, end(t, rest).Text)
			require.Equal(t, text, end(t, soFar).Text)
		}
	}
}

// border returns the end of the character that stands at a place of a text.
func border(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}
