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
		assert.True(t, chunk.Text != "" || chunk.Recall)
		if chunk.Recall {
			c.text.Reset()
		}
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

// Thoughts that a model writes into its text are divided from it, wherever the pieces are cut. Package providertest has more
// forms.
func TestThoughtsInTheText(t *testing.T) {
	for _, tt := range []struct{ said, text, thought string }{
		{"<think>\nHmm, 1 < 2.\n</think>\n\nYes. <think>no</think>", "Yes. ", "Hmm, 1 < 2.\n\nno"},
		{" \n<think>a</thin</think>b", "b", "a</thin"},
		{"<think></think>b", "b", ""},
		{"<think>a</think></think>b", "b", "a"},
		{"<think>a</think>b</think>c", "b</think>c", "a"},
		{"a\n</think>\n\nb </think> c", "b </think> c", "a"},
		{"<thin", "<thin", ""},
		{"\n\nb", "\n\nb", ""},
		{"b <think>c", "b <think>c", ""},
		{"b\u00a0</think>", "", "b\u00a0"},
		{"<THINK>a</Think>b", "b", "a"},
		{"<thinking>a</think>b</thinking>c", "c", "a</think>b"},
		{"<think>a</thinking>b", "b", "a"},
		{"<|channel|>final<|message|>b<|end|>", "b", ""},
		{"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{\"b\":1}", "{\"b\":1}", "a"},
		{"<|channel|>final b", "b", ""},
	} {
		for size := 1; size <= len(tt.said); size++ {
			var seen collected
			r := seen.reply(t)
			for rest := tt.said; rest != ""; {
				n := min(size, len(rest))
				r.Say(rest[:n])
				rest = rest[n:]
			}
			if tt.text == "" {
				r.Call(0, "a", "look", "{}")
			}
			got := end(t, r)
			assert.Equal(t, tt.text, strings.TrimLeft(got.Text, " "), "%q by %d", tt.said, size)
			assert.Equal(t, tt.thought, strings.Trim(got.Reasoning, " \n"), "%q by %d", tt.said, size)
			assert.Equal(t, got.Text, seen.text.String())
			assert.Equal(t, got.Reasoning, seen.thoughts.String())
			assert.Equal(t, len(tt.said), r.Len())
		}
		r := new(collected).reply(t)
		r.Heed(&provider.Options{Reasoning: provider.ReasoningInText})
		r.Say(tt.said[:1])
		r.Say(tt.said[1:])
		assert.Equal(t, tt.said, end(t, r).Text)
	}
}

// Thoughts that stand in their field and in the text are thought once. can1357/oh-my-pi#2434 (2026-06-13) reports them.
func TestThoughtsInTheFieldAndInTheText(t *testing.T) {
	r := new(collected).reply(t)
	r.Think("One.")
	r.Say("<think>One.</think>Yes.<think>")
	assert.Equal(t, "Yes.<think>", end(t, r).Text)
	r.Say("<think>Two.</think>")
	assert.Equal(t, "One.\n\nTwo.", end(t, r).Reasoning)
	for _, tt := range []struct{ field, text, want string }{
		{"Hmm, 1 < 2.\n\nSo be it.", "<think>\nHmm, 1 < 2.\n\nSo be it.\n</think>\nYes.", "Hmm, 1 < 2.\n\nSo be it."},
		{"One.\nTwo.", "<think>One.</think><think>Two.</think>Yes.", "One.\nTwo."},
		{"One.", "<think>One. Two.</think>Yes.", "One."},
		{"One.", "<think>Two.</think>Yes.", "One.Two."},
		{"Okay, the user", "<think>Okay, so trams. Okay, the user</think>Yes.", "Okay, the userOkay, so trams. Okay, the user"},
	} {
		for size := 1; size <= len(tt.text); size++ {
			var seen collected
			r := seen.reply(t)
			r.ThinkTagged(tt.field)
			for rest := tt.text; rest != ""; {
				n := min(size, len(rest))
				r.Say(rest[:n])
				rest = rest[n:]
			}
			got := end(t, r)
			assert.Equal(t, "Yes.", got.Text)
			assert.True(t, strings.HasPrefix(got.Reasoning, tt.want), "%q by %d: %q", tt.text, size, got.Reasoning)
			if !strings.Contains(tt.text, "One. Two.") {
				assert.Equal(t, tt.want, got.Reasoning, "%q by %d", tt.text, size)
			}
		}
	}
}

// However many blanks stand in the field, a piece of a thought in the text costs no more than itself.
func TestThoughtsInTheTextAreNotSearched(t *testing.T) {
	var seen collected
	r := seen.reply(t)
	r.Think(strings.Repeat(" ", 1<<20))
	r.Say("<think>")
	for range 1 << 16 {
		r.Say("x")
	}
	r.Say("</think>Yes.")
	assert.Equal(t, "Yes.", end(t, r).Text)
}

// What an end without a beginning recalls shows no key either, and sources lose their places with it.
func TestRecalledTextShowsNoKey(t *testing.T) {
	for _, way := range []provider.ReasoningText{provider.ReasoningShow, provider.ReasoningHide} {
		var seen collected
		r := seen.reply(t)
		r.Heed(&provider.Options{Reasoning: way})
		r.Think("First.")
		r.Say("The key is " + secret[:20])
		r.Say(secret[20:] + ".\n</think>\n\nYes.")
		r.Cite(provider.Citation{URL: "https://example.test/a", Start: 0, End: 4})
		got := end(t, r)
		assert.Equal(t, "Yes.", got.Text)
		assert.Equal(t, "Yes.", seen.text.String())
		assert.Equal(t, []provider.Citation{{URL: "https://example.test/a"}}, got.Citations)
		if way == provider.ReasoningHide {
			assert.Empty(t, got.Reasoning)
			assert.Empty(t, seen.thoughts.String())
			continue
		}
		assert.Regexp(t, `^First\.\n\nThe key is .*\[redacted\]\.$`, got.Reasoning)
		assert.Equal(t, got.Reasoning, seen.thoughts.String())
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
