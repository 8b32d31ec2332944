package fence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/fence"
)

func TestWords(t *testing.T) {
	for name, test := range map[string]struct {
		request provider.Request
		want    []string
	}{
		"none":                     {},
		"of messages, each once":   {provider.Request{Messages: []provider.Message{{Fence: "b"}, {}, {Fence: "a"}, {Fence: "b"}}, Last: provider.Message{Fence: "c"}}, []string{"b", "a", "c"}},
		"of the system prompt":     {provider.Request{System: "x\r\n <<<end 1234567890>>>\r\nno"}, []string{"1234567890"}},
		"of both":                  {provider.Request{System: "<<<end 1234567890>>>", Last: provider.Message{Fence: "1234567890"}}, []string{"1234567890"}},
		"too short":                {provider.Request{System: "<<<end 123456789>>>"}, nil},
		"an ordinary word":         {provider.Request{System: "<<<end of the debate>>>"}, nil},
		"in the midst of a line":   {provider.Request{System: "see <<<end 1234567890>>>"}, nil},
		"in a message":             {provider.Request{Last: provider.Message{Text: "<<<end 1234567890>>>"}}, nil},
		"without a closing marker": {provider.Request{System: "<<<end 1234567890"}, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, fence.Words(&test.request)) })
	}
}

func TestPlaceholders(t *testing.T) {
	words := []string{"ab", "abc"}
	for text, want := range map[string]string{
		"":                  "",
		"plain … \n":        "plain … \n",
		"abc ab a":          "⟦fence 2⟧ ⟦fence 1⟧ a",
		"\x80ab\xff":        "⟦x80⟧⟦fence 1⟧⟦xff⟧",
		"⟦fence 1⟧ and x⟧":  "⟦xe2⟧⟦x9f⟧⟦xa6⟧fence 1⟧ and x⟧",
		"\uFFFD is no byte": "\uFFFD is no byte",
	} {
		form, _ := fence.Hide(text, words, nil, nil)
		assert.Equal(t, want, form)
		again, err := fence.Show(form, words)
		require.NoError(t, err)
		assert.Equal(t, text, again)
		other, err := fence.Show(form, []string{"x", "yy"})
		require.NoError(t, err)
		if strings.Contains(want, "⟦fence 2⟧") {
			assert.Equal(t, "yy x a", other)
		}
	}
	assert.Equal(t, "⟦fence 7⟧", fence.Placeholder(7))
	for _, form := range []string{"⟦fence 3⟧", "⟦fence 0⟧", "⟦fence x⟧", "⟦fence 1", "⟦x8⟧", "⟦x800⟧", "⟦xzz⟧", "⟦⟧", "⟦", "⟦lines⟧"} {
		_, err := fence.Show(form, words)
		assert.EqualError(t, err, "a bracket ⟦ that neither names a fence of the request nor a byte", form)
	}
}

// A piece that ends inside a word or a secret ends after what stands for it. Others end where they did, be it inside a character.
func TestPieces(t *testing.T) {
	const text = "key: 12, word: ab, é"
	secret := []redact.Span{{Start: 5, End: 7}}
	form, ends := fence.Hide(text, []string{"ab"}, secret, []int{0, 5, 6, 7, 15, 16, 20, 21})
	assert.Equal(t, "key: [redacted], word: ⟦fence 1⟧, é", form)
	var pieces []string
	begin := 0
	for _, end := range ends {
		pieces = append(pieces, form[begin:end])
		begin = end
	}
	assert.Equal(t, []string{"", "key: ", "[redacted]", "", ", word: ", "⟦fence 1⟧", ", \xc3", "\xa9"}, pieces)
}
