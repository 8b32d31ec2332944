package tool_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/tool"
)

// Of a flood the beginning and the end are kept.
func TestFloods(t *testing.T) {
	root := folder(t, nil)
	run := runner(t, root, tool.Commands{Output: 100})
	text := answer(t, run, child("flood", "1000000"))
	assert.True(t, strings.HasPrefix(text, "Exit code 0.\n\nbegin\n0123456789abcde\n0123456789abcde\n0123456789ab\n[… 15999910 bytes are left out]\n"), text)
	assert.True(t, strings.HasSuffix(text, "\n0123456789abcde\nend\n"), text)

	const short = 100 * time.Millisecond
	run = clocked(t, root, tool.Commands{Timeout: short, Output: 24 << 10}, func(d time.Duration) bool {
		if d == short {
			<-time.After(short) // it prints meanwhile; how much does not matter
		}
		return d == short
	})
	text = answer(t, run, child("flood", "forever"))
	assert.Contains(t, text, "because it ran for more than 100ms")
	assert.Less(t, len(text), 25<<10)

	run = runner(t, root, tool.Commands{Output: 24 << 10})
	text = answer(t, run, child("garbage"))
	assert.True(t, utf8.ValidString(text))
	assert.Contains(t, text, "\n\na??a??a??")
	assert.Contains(t, text, "[… 275424 bytes are left out]")
	assert.Less(t, len(text), 25<<10)
}

// FuzzOutput has a program print anything in pieces: of what is short nothing is lost, and of what is long neither the
// beginning nor the end.
func FuzzOutput(f *testing.F) {
	f.Add("abc", "déf", 2, 3)
	f.Add(strings.Repeat("x", 100), "é\xff\x00", 4, 50)
	f.Fuzz(func(t *testing.T, first, second string, half, times int) {
		half, times = 1+abs(half)%64, abs(times)%20
		printed := strings.Repeat(first+second, times)
		pieces := make([]string, 0, 2*times)
		for range times {
			pieces = append(pieces, first, second)
		}
		kept := tool.Kept(half, pieces)
		plain := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?") }
		if len(printed) <= 2*half {
			assert.Equal(t, plain(printed), kept)
			return
		}
		assert.True(t, strings.HasPrefix(kept, plain(printed[:half])))
		assert.True(t, strings.HasSuffix(kept, plain(printed[len(printed)-half:])))
		assert.LessOrEqual(t, len(kept), 2*half+60)
		assert.True(t, utf8.ValidString(kept))
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
