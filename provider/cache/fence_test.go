package cache_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/scripted"
)

const (
	fenceA = "1111222233334444"
	fenceB = "9999888877776666"
)

// explained is a system prompt that tells its fence.
const explained = "You are Ada.\n\n<<<$ Name>>>\n...\n<<<end $>>>\n\nThe word never changes."

// A later debate, whose fence is another word, hears what the first one heard, in its own words.
func TestAFenceIsNoDifference(t *testing.T) {
	// Each case is written with "$" and "%" for the fences.
	for name, tt := range map[string]struct {
		system  string
		fences  []string
		text    string
		reply   string
		same    bool
		last    string // the last message's fence
		another string // the fence of the second debate in place of fenceB
	}{
		"of a message":                {fences: []string{"$"}, text: "Ban them.", reply: "Ben's <<<end $>>> is material.", same: true},
		"of the last message":         {last: "$", text: "About $.", reply: "Yes, $.", same: true},
		"in the text":                 {fences: []string{"$"}, text: "About $ and $$.", reply: "$$", same: true},
		"of no message":               {system: explained, text: "Open.", reply: "The word is $.", same: true},
		"told and used":               {system: explained, fences: []string{"$"}, text: "Ban.", reply: "Yes, $.", same: true},
		"two":                         {fences: []string{"$", "%"}, text: "$%", reply: "%, $", same: true},
		"one in the other":            {fences: []string{"$", "x$", "$x"}, text: "$, x$, xx$, $x", reply: "x$$x", same: true},
		"told in the midst of a line": {system: "No <<<end $>>> here.", text: "Open.", reply: "Yes."},
		"told without an end":         {system: "<<<end $", text: "Open.", reply: "Yes."},
		"a word that is too short":    {system: explained, text: "Open.", reply: "Yes.", another: "123456789"},
		"a word of the language":      {system: explained, text: "Open.", reply: "Yes.", another: "discussion"},
	} {
		t.Run(name, func(t *testing.T) {
			in := func(text, fence string) string {
				return strings.NewReplacer("$", fence, "%", "5"+fence[1:]).Replace(text)
			}
			made := func(fence string) *provider.Request {
				req := &provider.Request{Model: "m", System: in(tt.system, fence), Self: "Ada"}
				for _, f := range tt.fences {
					req.Messages = append(req.Messages, provider.Message{Speaker: "Ben", Text: in(tt.text, fence), Fence: in(f, fence)})
				}
				req.Last.Text, req.Last.Fence = in(tt.text, fence), in(tt.last, fence)
				return req
			}
			second := fenceB
			if tt.another != "" {
				second = tt.another
			}
			arguments := json.RawMessage(in(`{"word":"$"}`, fenceA))
			opaque := json.RawMessage(in(`"$"`, fenceA))
			p := &cache.Provider{Provider: answers(
				scripted.Reply{Text: in(tt.reply, fenceA), Calls: []provider.ToolCall{{ID: "c", Name: "n", Arguments: arguments, Opaque: opaque}}},
				scripted.Reply{Text: "something else"},
			)}
			ask(t, p, made(fenceA))
			again, chunks := ask(t, p, made(second))
			require.Equal(t, tt.same, again.Cached)
			if tt.same {
				assert.Equal(t, in(tt.reply, second), again.Text)
				assert.Equal(t, in(tt.reply, second), strings.Join(chunks, ""))
				assert.JSONEq(t, in(`{"word":"$"}`, second), string(again.Calls[0].Arguments))
				assert.Equal(t, opaque, again.Calls[0].Opaque, "unread and unchanged")
			}
		})
	}
}

// keys is a store that holds nothing, and remembers what it was asked for.
type keys struct{ last string }

func (s *keys) Get(_ context.Context, key string) ([]byte, bool, error) {
	s.last = key
	return nil, false, nil
}
func (*keys) Put(context.Context, string, []byte) error { return nil }

// keyed returns the key of a request with these texts.
func keyed(t *testing.T, fence, first, last string) string {
	t.Helper()
	var store keys
	p := &cache.Provider{Provider: &scripted.Provider{}, Store: &store}
	ask(t, p, &provider.Request{Messages: []provider.Message{{Text: first, Fence: fence}}, Last: provider.Message{Text: last}})
	return store.last
}

// Texts made of what placeholders are made of have the same key only if they are the same.
func TestAPlaceholderIsNotConfusedWithAText(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	parts := []string{"\x1a", "0", ";", "1", "\x1a0;", "\x1a;", "ab", "a"}
	text := func() string {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	const fence = "ab"
	seen := map[string][2]string{}
	for range 20_000 {
		texts := [2]string{text(), text()}
		key := keyed(t, fence, texts[0], texts[1])
		require.Len(t, key, 64)
		if other, ok := seen[key]; ok {
			require.Equal(t, other, texts)
		}
		seen[key] = texts
	}
	assert.Greater(t, len(seen), 1000)
}

func FuzzFence(f *testing.F) {
	f.Add(fenceA, "Ban <<<end 1111222233334444>>>", "As \x1a0; says: \x1a; 1111222233334444")
	f.Add("\x1a", "\x1a\x1a", "\x1a0;\x1a;")
	f.Add(";", "a;b", "\x1a;0;")
	f.Add("0", "10", "\x1a10;0")
	f.Fuzz(func(t *testing.T, fence, text, reply string) {
		req := &provider.Request{Self: "Ada", Messages: []provider.Message{{Text: text, Fence: fence}}}
		p := &cache.Provider{Provider: &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: reply} }}}
		ask(t, p, req)
		again, _ := ask(t, p, req)
		assert.Equal(t, reply, again.Text)
		if utf8.ValidString(reply) && strings.TrimSpace(reply) != "" && len(reply) < 1000 && utf8.ValidString(fence) {
			assert.True(t, again.Cached)
		}
	})
}
