package token_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/internal/longform"
)

func ExampleForModel() {
	counter := token.ForModel("gpt-5-mini")
	fmt.Println(counter.Count("Cities should ban cars from their centres."))
	// Output: 8
}

func ExampleBytes() {
	fmt.Println(token.Bytes{}.Count("Cities should ban cars from their centres."))
	// Output: 42
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "é": 2, "中": 3, "😀": 4, "\x00": 1, "\ufffd": 3,
		"\xff": 3, "a\xffb\xfe": 8, "\xed\xa0\x80": 9, "\xf0\x9f\x98": 9,
	} {
		assert.Equal(t, want, token.Bytes{}.Count(text), "%q", text)
	}
}

// The counts of the first four texts in each vocabulary are those of OpenAI's cookbook (How to count
// tokens with tiktoken).
func TestForModelCounts(t *testing.T) {
	longform.Lone(t)
	models := []string{"text-davinci-001", "text-davinci-003", "gpt-4", "gpt-4o"}
	for _, c := range []struct {
		text string
		want [4]int // r50k, p50k, cl100k, o200k
	}{
		{"antidisestablishmentarianism", [4]int{5, 5, 6, 6}},
		{"2 + 2 = 4", [4]int{5, 5, 7, 7}},
		{"お誕生日おめでとう", [4]int{14, 14, 9, 8}},
		{"tiktoken is great!", [4]int{6, 6, 6, 6}},
		{"", [4]int{}},
		{"\x00", [4]int{1, 1, 1, 1}},
	} {
		for i, m := range models {
			assert.Equal(t, c.want[i], token.ForModel(m).Count(c.text), "%s: %q", m, c.text)
		}
	}
}

func TestForModelNames(t *testing.T) {
	longform.Lone(t)
	const text = "お誕生日おめでとう"                  // 14 in the two oldest, 9 in cl100k, 8 in o200k
	indented := strings.Repeat(" ", 24) + "x" // p50k has tokens for an indent, r50k none
	for _, tt := range []struct {
		names           string
		count, indented int
	}{
		{
			"gpt-4o gpt-4o-mini-2024-07-18 gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5-mini gpt-5.1 o1 o1-pro o3 o4-mini chatgpt-4o-latest " +
				"claude-haiku-4-5 gemini-2.5-pro openai/gpt-5 mistralai/codestral-2501 ft:gpt-4o-mini:acme::1", 8, 2,
		},
		{
			"gpt-4 gpt-4-turbo gpt-4-0613 gpt-4-32k gpt-3.5-turbo gpt-3.5-turbo-instruct gpt-35-turbo text-embedding-3-small davinci-002 " +
				"babbage-002 openai/gpt-4-turbo ft:gpt-3.5-turbo:acme", 9, 2,
		},
		{"text-davinci-002 text-davinci-003 code-davinci-002 code-cushman-001", 14, 2},
		{
			"text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada davinci:ft-acme " +
				"gpt2 gpt2-xl gpt-2 gpt-2-medium", 14, 24,
		},
	} {
		for name := range strings.FieldsSeq(tt.names) {
			assert.Equal(t, tt.count, token.ForModel(name).Count(text), name)
			assert.Equal(t, tt.indented, token.ForModel(name).Count(indented), name)
		}
	}
	assert.Equal(t, 8, token.ForModel("").Count(text))
	assert.Equal(t, 8, token.ForModel("x/").Count(text))
}

func TestWithoutVocabularyBytesCount(t *testing.T) {
	assert.Equal(t, 5, token.Broken().Count("hello"))
	assert.Equal(t, 5, token.Unreadable().Count("hello"))
}

var models = []string{"text-davinci-001", "text-davinci-003", "gpt-4", "gpt-5"}

// prose returns text made of all that the patterns treat differently.
func prose(r *rand.Rand, parts int) string {
	pool := []string{
		"word", "Word", "WORD", "it's", "they'LL", "o'clock", " ", "  ", "\n", "\r\n", "\n\n", "\t", " \n ", "1", "23", "4567", "3.14",
		"!", "...", " ?", "//", "\n/", "a/b/c", "'", "''", "'s", "\"", "é", "é", "\u0301", "\u200d", "नमस्ते", "中文，很好。", "ภาษาไทย", "😀", "👨‍👩‍👧",
		"x1y2", "²", "Ⅷ", "\u00a0", "\u2028", "\x00", "\xff", "<|endoftext|>", "{\"a\":1}", "ſ", "K",
	}
	var b strings.Builder
	for range parts {
		b.WriteString(pool[r.IntN(len(pool))])
	}
	return b.String()
}

// Counting in portions gives the count of the whole, exactly.
func TestPortionsAddUp(t *testing.T) {
	longform.Lone(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		text := prose(r, 1+i*i*8)
		for _, m := range models {
			require.Equal(t, token.Whole(m, text), token.ForModel(m).Count(text), "%s: %q", m, text)
		}
	}
}

// A portion may end at any border, so each must be harmless.
func TestBordersAddNothing(t *testing.T) {
	longform.Lone(t)
	r := rand.New(rand.NewPCG(5, 6))
	texts := []string{"it's", "it's2", "don'T they'll", "a\u0301b", "e\u0301!\u0301x", "x\u0301\n/y", "12'34", "9\u0301 9"}
	for range 300 {
		texts = append(texts, prose(r, 12))
	}
	for _, m := range models {
		for _, text := range texts {
			sum := 0
			for _, s := range token.Stretches(text) {
				sum += token.Whole(m, s)
			}
			require.Equal(t, token.Whole(m, text), sum, "%s: %q", m, token.Stretches(text))
		}
	}
}

// A long stretch counts by its bytes: merging it in pieces could yield less than the whole has.
func TestLongStretches(t *testing.T) {
	longform.Lone(t)
	counter := token.ForModel("gpt-5")
	hello := counter.Count("hello")
	for _, run := range []string{"a", "=", " ", "\n", "中", "\n/", "'", "\u0301", "9", "\xff", "-\n", "a'"} {
		long := strings.Repeat(run, 2000)
		bound := token.Bytes{}.Count(long)
		assert.LessOrEqual(t, counter.Count(long), bound, "%q", run)
		assert.GreaterOrEqual(t, counter.Count(long), token.Whole("gpt-5", long), "%q", run)
		assert.GreaterOrEqual(t, counter.Count("hello"+long+"hello"), token.Whole("gpt-5", "hello"+long+"hello"), "%q", run)
		assert.LessOrEqual(t, counter.Count("hello "+long+" hello"), bound+2*hello+12, "%q", run)
	}
	short := strings.Repeat("a", 512)
	assert.Equal(t, token.Whole("gpt-5", short), counter.Count(short))
	assert.Equal(t, 513, counter.Count(short+"a"))
}

// Merging takes quadratic time, so what cannot be divided is not merged: it counts as its bytes. What can be is merged in parts.
func TestHostileTextIsQuick(t *testing.T) {
	longform.Lone(t)
	counter := token.ForModel("gpt-5")
	for name, test := range map[string]struct {
		text   string
		merged bool
	}{
		"one letter":       {strings.Repeat("a", 1<<20), false},
		"slashed lines":    {"!" + strings.Repeat("\n/", 1<<18), false},
		"white space":      {strings.Repeat(" ", 1<<20), false},
		"just not cut":     {strings.Repeat(strings.Repeat("a", 511)+" ", 1<<7), true},
		"special tokens":   {strings.Repeat("<|endoftext|>", 1<<11), true},
		"not UTF-8 at all": {strings.Repeat("\xff\xfe", 1<<19), false},
	} {
		n, most := counter.Count(test.text), token.Bytes{}.Count(test.text)
		if test.merged {
			assert.Positive(t, n, name)
			assert.Less(t, n, most, name)
		} else {
			assert.Equal(t, most, n, name)
		}
	}
}

func TestSpecialTokensAreText(t *testing.T) {
	longform.Lone(t)
	for _, m := range models {
		assert.Greater(t, token.ForModel(m).Count("<|endoftext|>"), 3, m)
	}
}

func TestCountConcurrently(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := prose(r, 300)
	want := token.ForModel("gpt-4").Count(text)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 5 {
				assert.Equal(t, want, token.ForModel("gpt-4").Count(text))
			}
		})
	}
	wait.Wait()
}

func FuzzCount(f *testing.F) {
	longform.Lone(f)
	f.Add("hello, it's 12 o'clock\r\n\n  and  that\u0301 is 中文 <|endoftext|>\xff\x00")
	f.Add(strings.Repeat("a", 600) + "'s " + strings.Repeat("\n/", 300))
	f.Add("'S1'll ʼs²³\u0301\u0301 Ⅷ")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		bound := token.Bytes{}.Count(text)
		for _, m := range []string{"text-davinci-001", "gpt-4", "gpt-5"} {
			n := token.ForModel(m).Count(text)
			require.LessOrEqual(t, n, bound, m)
			require.GreaterOrEqual(t, n, token.Whole(m, text), m)
			if len(text) > 512 {
				continue
			}
			require.Equal(t, token.Whole(m, text), n, m)
			for _, s := range token.Stretches(text) {
				n -= token.Whole(m, s)
			}
			require.Zero(t, n, "%s: %q", m, token.Stretches(text))
		}
	})
}

func BenchmarkForModel(b *testing.B) {
	text := strings.Repeat("Cities should ban cars from their centres, because 40 % of trips are short. ", 24)
	counter := token.ForModel("gpt-5")
	counter.Count("load")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		counter.Count(text)
	}
}

func BenchmarkBytes(b *testing.B) {
	text := strings.Repeat("Cities should ban cars from their centres, because 40 % of trips are short. ", 24)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		token.Bytes{}.Count(text)
	}
}

func BenchmarkOneLetter(b *testing.B) {
	text := strings.Repeat("a", 1<<20)
	counter := token.ForModel("gpt-5")
	counter.Count("load")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		counter.Count(text)
	}
}

// Only the vocabularies of OpenAI's chat models are published, and not those of models that are newer than the list.
func TestThePublishedVocabulariesAreKnown(t *testing.T) {
	for name := range strings.FieldsSeq("gpt-4 gpt-4o gpt-4o-mini-2024-07-18 gpt-4.1-nano gpt-4-turbo gpt-5 gpt-5-mini o1 o3-mini o4-mini " +
		"gpt-3.5-turbo gpt-35-turbo-16k chatgpt-4o-latest openai/gpt-4.1 ft:gpt-4o-mini:acme::1") {
		counter, ok := token.Named(token.Published(name))
		assert.True(t, ok, name)
		assert.Equal(t, token.ForModel(name), counter, name)
	}
	for name := range strings.FieldsSeq("gpt-5.1 gpt-4.9 claude-haiku-4-5 gemini-2.5-pro gpt-oss-20b gpt-40b gpt-neo gpt4all o1x o30 mistral-large ada debater x/") {
		assert.Empty(t, token.Published(name), name)
	}
}
