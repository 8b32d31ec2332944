package redact_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/redact"
)

// A later step may remove every character that does not print. A key is found with any of them between its bytes, plain and
// escaped.
func TestWhatDoesNotPrintHidesNoKey(t *testing.T) {
	longform.Lone(t)
	key := drawn(random(), "sk-proj-", 24)
	failures, replies := redact.NewSet(redact.Key(key)), redact.NewSet(redact.KeyInReplies(key))
	check := func(r rune) {
		hidden := folded(key, string(r), 1)
		for _, text := range []string{hidden, quoted(hidden)} {
			assert.Equal(t, redact.Mark, failures.Redact(text), "%U", r)
			assert.Equal(t, redact.Mark, replies.Redact(text), "%U", r)
			s := redact.NewStream(replies)
			assert.Equal(t, redact.Mark, s.Next(text[:len(text)/2])+s.Next(text[len(text)/2:])+s.End(), "%U", r)
		}
	}
	for _, r := range "\ue000\u0378\ufdd0\u2028\u00a0\u00ad\u200b\u3164\u2800\ufe0f\U000e0100\U000e0041\U0010ffff\u034f\u115f" {
		check(r)
	}
	tried := 0
	for r := rune(0x80); r <= unicode.MaxRune; r += 611 {
		if (!unicode.IsPrint(r) || unicode.IsSpace(r)) && !unicode.Is(unicode.Cs, r) {
			check(r)
			tried++
		}
	}
	assert.Greater(t, tried, 1000)
	visible := strings.Join(strings.Split(key, ""), "é")
	assert.Equal(t, visible, failures.Redact(visible))
}
