package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/redact"
)

// streamed returns the pieces that a Stream lets pass, and what it held back to the end.
func streamed(set *redact.Set, pieces ...string) []string {
	s := redact.NewStream(set)
	var out []string
	for _, piece := range pieces {
		out = append(out, s.Next(piece))
	}
	return append(out, s.End())
}

// A key that is divided between pieces never passes, wherever and however it is divided.
func TestDividedKeys(t *testing.T) {
	longform.Lone(t)
	key := drawn(random(), "sk-proj-", 40)
	set, strict := redact.NewSet(redact.KeyInReplies(key)), redact.NewSet(redact.Key(key))
	divided := 0
	for name, code := range codings() {
		text := "It is " + code(key) + ", as I said."
		for i := range len(text) {
			out := strings.Join(streamed(set, text[:i], text[i:]), "")
			require.Contains(t, out, redact.Mark, "%s, divided at %d", name, i)
			require.Empty(t, strict.Find(out), "%s, divided at %d: %s", name, i, out)
			require.True(t, strings.HasPrefix(out, "It is ") && strings.HasSuffix(out, ", as I said."), out)
			divided++
		}
		for _, n := range []int{1, 2, 3, 7, 16} {
			var pieces []string
			for at := 0; at < len(text); at += n {
				pieces = append(pieces, text[at:min(at+n, len(text))])
			}
			out := strings.Join(streamed(set, pieces...), "")
			require.Contains(t, out, redact.Mark, "%s by %d", name, n)
			require.Empty(t, strict.Find(out), "%s by %d: %s", name, n, out)
		}
	}
	t.Logf("%d divisions: 0 leaks", divided)
}

// Words pass at once, also those that begin as the key does.
func TestPiecesPassAtOnce(t *testing.T) {
	key := drawn(random(), "sk-proj-", 40)
	set := redact.NewSet(redact.KeyInReplies(key))
	pieces := []string{"A key ", "begins with", " sk-proj", "-… or sk", "-", " and 50% of it, ", "says A", "&", "B \\", "u00", "e9", " é", "\xc3", "\xa9.", ""}
	assert.Equal(t, append(pieces, ""), streamed(set, pieces...))
	assert.Equal(t, append(pieces, ""), streamed(nil, pieces...))
}

// What could be a key and turns out to be none is held back until then.
func TestHeldBack(t *testing.T) {
	key := "sk-0123456789abcdefghijklmnop"
	set := redact.NewSet(redact.KeyInReplies(key))
	assert.Equal(t, []string{"It is ", "", "sk-0123456789abcd or so", ""}, streamed(set, "It is sk-01234", "56789abcd", " or so"))
	assert.Equal(t, []string{"It is ", "", "", "[redacted].", ""}, streamed(set, "It is sk-01234", "56789abcdefghi", "jk", "lmnop."))
}

// A Stream that has ended begins anew.
func TestStreamsEnd(t *testing.T) {
	key := "sk-0123456789abcdefghijklmnop"
	s := redact.NewStream(redact.NewSet(redact.KeyInReplies(key)))
	for range 2 {
		assert.Equal(t, "It is ", s.Next("It is sk-0123456789a"))
		assert.Equal(t, "sk-0123456789a", s.End())
		assert.Empty(t, s.End())
	}
	assert.Empty(t, s.Next(key[:20]))
	assert.Equal(t, redact.Mark, s.End())
	assert.Empty(t, new(redact.Stream).End())
	assert.Equal(t, key, new(redact.Stream).Next(key))
}

// A stream may get further secrets on its way. A secret that it knew stays one although it is divided by that.
func TestFurtherSecrets(t *testing.T) {
	r := random()
	one, two := drawn(r, "sk-proj-", 24), drawn(r, "sk-ant-", 24)
	for i := range one {
		s := redact.NewStream(redact.NewSet(redact.KeyInReplies(one)))
		shown := s.Next("a " + one[:i])
		s.Also(redact.NewSet(redact.KeyInReplies(two)))
		s.Also(nil)
		for _, piece := range []string{one[i:], " b ", two[:9], two[9:], " c " + one[:20]} {
			shown += s.Next(piece)
		}
		shown += s.End()
		assert.NotContains(t, shown, one[8:])
		assert.NotContains(t, shown, two[:20])
		assert.Regexp(t, `^a .{0,7}\[redacted\] b .{0,7}\[redacted\] c \[redacted\]$`, shown, "divided after %d bytes", i)
		assert.Equal(t, "["+redact.Mark+"]", s.Next("["+two+"]")+s.End(), "it keeps them for the next text")
	}
	var none redact.Stream
	none.Also(redact.NewSet(redact.KeyInReplies(one)))
	assert.Equal(t, redact.Mark, none.Next(one)+none.End())
}

func FuzzStream(f *testing.F) {
	key := drawn(random(), "sk-proj-", 40)
	for _, code := range codings() {
		f.Add("x"+code(key)+"y", byte(3))
	}
	f.Add(strings.Repeat(key[20:], 9), byte(1))
	set, strict := redact.NewSet(redact.KeyInReplies(key)), redact.NewSet(redact.Key(key))
	f.Fuzz(func(t *testing.T, text string, n byte) {
		var pieces []string
		for at := 0; at < len(text); at += int(n) + 1 {
			pieces = append(pieces, text[at:min(at+int(n)+1, len(text))])
		}
		out := strings.Join(streamed(set, pieces...), "")
		require.Empty(t, set.Find(out))
		found := set.Find(text)
		if len(found) == 0 {
			require.Equal(t, text, out)
		} else {
			require.NotEqual(t, text, out)
		}
		for i, s := range found {
			require.Less(t, s.Start, s.End)
			require.LessOrEqual(t, s.End, len(text))
			require.True(t, i == 0 || found[i-1].End <= s.Start)
		}
		require.Empty(t, strict.Find(strict.Redact(text)))
	})
}

// hostile are texts that could take long.
func hostile(key string, n int) map[string]string {
	out := map[string]string{}
	for _, part := range []string{
		"word ", key, key[:7], key[10:18], key[10:17] + " ", "%", "\\", "&", "&#", "&amp;", "%25", `\\\\`, `\u00`, `\u0073`, "aaaaaaaa", "=", "\n", "\u200b", "\xff",
		"sk-", "Bearer ", "://", "http://a@", "?a=", "password=", "cookie:a=", "-----BEGIN PRIVATE KEY-----", "token ",
	} {
		out[part] = strings.Repeat(part, n/len(part))
	}
	return out
}

// If time grew with the square of a text, it would be hours, and the tests' time would be over first.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	longform.Lone(t)
	key := drawn(random(), "sk-proj-", 156)
	for _, key := range []string{key, strings.Repeat("a", 64)} {
		set := redact.NewSet(redact.Key(key))
		for _, text := range hostile(key, 1<<17) {
			_ = set.Redact(text)
			s := redact.NewStream(set)
			for at := 0; at < len(text); at += 16 {
				s.Next(text[at:min(at+16, len(text))])
			}
			s.End()
			redact.Foreign(text)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	key := drawn(random(), "sk-proj-", 156)
	set := redact.NewSet(redact.KeyInReplies(key))
	for name, part := range map[string]string{"words": "The quick brown fox. ", "escapes": `a%2fb\u0041&amp;`, "keys": key} {
		text := strings.Repeat(part, 1<<20/len(part))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				set.Redact(text)
			}
		})
		b.Run(fmt.Sprint(name, " in pieces"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := redact.NewStream(set)
				for at := 0; at < len(text); at += 20 {
					s.Next(text[at:min(at+20, len(text))])
				}
			}
		})
	}
	b.Run("a set", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			redact.NewSet(redact.KeyInReplies(key))
		}
	})
}
