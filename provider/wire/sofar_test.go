package wire_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/wire"
)

// Pieces that are the text so far come to it once, in the text and in thoughts, and what a model says twice stays. The first row
// is what open-jarvis/OpenJarvis#378 (2026-05-22) quotes, the second one the form of QwenLM/qwen-code#3896 (2026-05-07).
func TestPiecesThatAreTheTextSoFar(t *testing.T) {
	const numbers = "Sure! Here are the numbers:\n\n1"
	for _, tt := range []struct {
		pieces []string
		want   string
	}{
		{[]string{numbers, numbers + ".  \n2.  \n3.  ", numbers + ".  \n2.  \n3.  \n4.  \n5."}, numbers + ".  \n2.  \n3.  \n4.  \n5."},
		{[]string{"", "Trees", "", "Trees cool", "Trees cool the", "Trees cool the", "Trees", "", "Trees cool the street."}, "Trees cool the street."},
		{[]string{"I", "I think", "I think so", " too."}, "I think so too."},
		{[]string{"Yes", "Yes.", "Yes."}, "Yes."},
		{[]string{numbers, numbers + ". A", " B"}, numbers + ". A B"},
		// Repetitions.
		{[]string{"ha", "haha", " wow"}, "hahaha wow"},
		{[]string{"ha", "ha", "ha"}, "hahaha"},
		{[]string{" the", " theory", " holds"}, " the theory holds"},
		{[]string{" the", " theory"}, " the theory"},
		{[]string{"\n", "\n\n", "\n\nYes", "\n", "\nNo"}, "\n\n\n\n\nYes\n\nNo"},
		{[]string{"All work and no play.\n", "All work and no play.\n", "All work"}, "All work and no play.\nAll work and no play.\nAll work"},
		{[]string{"All work and no play.\n", "All work and no play.\nAll work and no play.\n"}, strings.Repeat("All work and no play.\n", 3)},
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
