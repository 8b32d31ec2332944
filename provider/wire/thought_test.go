package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// collected is what a reply has shown.
type collected struct{ text, thoughts strings.Builder }

func (c *collected) reply(t *testing.T) *wire.Reply {
	t.Helper()
	return open(t, endpoint(nil)).NewReply(func(chunk provider.Chunk) {
		assert.NotEmpty(t, chunk.Text)
		if chunk.Reasoning {
			c.thoughts.WriteString(chunk.Text)
		} else {
			c.text.WriteString(chunk.Text)
		}
	})
}

func end(t *testing.T, r *wire.Reply) *provider.Response {
	t.Helper()
	r.Stop = provider.StopEnd
	got, err := r.Done()
	require.NoError(t, err)
	return got
}

// Thoughts are chunks of their own kind and never part of the text. They show no key either, however they are divided.
func TestThoughtsStayApart(t *testing.T) {
	thought := "The key is " + secret + ", I think."
	for at := range len(thought) {
		var seen collected
		r := seen.reply(t)
		r.Think(thought[:at])
		r.Show("Ye")
		r.Think(thought[at:])
		r.ThinkApart()
		r.Think("")
		r.Think("So be it.")
		r.Show("s.")
		got := end(t, r)
		assert.Equal(t, "Yes.", got.Text)
		assert.Regexp(t, `^The key is s?k?-?t?e?s?t?\[redacted\], I think\.\n\nSo be it\.$`, got.Reasoning, "seven bytes may pass at once")
		assert.Equal(t, got.Text, seen.text.String())
		assert.Equal(t, got.Reasoning, seen.thoughts.String())
		assert.Equal(t, len("Yes."), r.Len())
	}
	var seen collected
	r := seen.reply(t)
	r.Hide = true
	r.ThinkApart()
	r.Think(thought)
	r.Show("Yes.")
	assert.Empty(t, end(t, r).Reasoning)
	assert.Empty(t, seen.thoughts.String())

	r = seen.reply(t)
	r.Think("Only thoughts")
	r.Stop = provider.StopEnd
	_, err := r.Done()
	failure(t, err, provider.KindInvalidResponse)
}

// A block of thoughts at the beginning of the text is divided from it, wherever the pieces are cut.
func TestThinkTags(t *testing.T) {
	for _, tt := range []struct{ said, text, thought string }{
		{"<think>\nHmm, 1 < 2.\n</think>\n\nYes. <think>no</think>", "Yes. <think>no</think>", "Hmm, 1 < 2."},
		{" \n<think>a</thin</think>b", "b", "a</thin"},
		{"<think></think>b", "b", ""},
		{"<think>\n\n</think>\n\nb", "b", ""},
		{"<think>cut </thi", "", "cut </thi"},
		{"<thin", "<thin", ""},
		{"no <think>tags</think>", "no <think>tags</think>", ""},
	} {
		for size := 1; size <= len(tt.said); size++ {
			var think wire.Thoughts
			var text, thought strings.Builder
			add := func(a, b string) {
				text.WriteString(a)
				thought.WriteString(b)
			}
			for rest := tt.said; rest != ""; {
				n := min(size, len(rest))
				add(think.Next(rest[:n]))
				rest = rest[n:]
			}
			add(think.End())
			assert.Equal(t, tt.text, text.String(), "%q by %d", tt.said, size)
			assert.Equal(t, tt.thought, strings.TrimSpace(thought.String()), "%q by %d", tt.said, size)
		}
	}
}

// What a vendor says of a reply is kept if it can be true.
func TestIDAndCost(t *testing.T) {
	for id, want := range map[string]string{
		"gen-1": "gen-1", "": "", "a b": "", "a\nb": "", strings.Repeat("x", 512): strings.Repeat("x", 512),
		strings.Repeat("x", 513): "", secret: "[redacted]",
	} {
		var seen collected
		r := seen.reply(t)
		r.ID = id
		r.Show("Yes.")
		assert.Equal(t, want, end(t, r).ID)
	}
	for _, usd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-9, 10_001} {
		var seen collected
		r := seen.reply(t)
		r.Charge(1)
		r.Charge(usd)
		r.Show("Yes.")
		assert.Nil(t, end(t, r).Cost, usd)
	}
	var seen collected
	r := seen.reply(t)
	r.Charge(0.25)
	r.ID, r.Settled, r.Usage = "gen-1", true, provider.Usage{Input: 1}
	got, err := r.Failed(assert.AnError)
	require.ErrorIs(t, err, assert.AnError)
	assert.InDelta(t, 0.25, *got.Cost, 0)
	assert.Equal(t, "gen-1", got.ID)
	r = seen.reply(t)
	r.Charge(0)
	r.Show("Yes.")
	assert.Zero(t, *end(t, r).Cost, "free is a price")
}
