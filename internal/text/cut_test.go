package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/text"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		text, want string
		most       int
	}{
		{"", "", 5}, {"short", "short", 5}, {"longer", "longe…", 5}, {"ééé", "éé…", 5}, {"é", "…", 1}, {"a\tb", "a b", 5}, {"\xff\xff\xff", "\ufffd…", 1},
	} {
		assert.Equal(t, c.want, text.OneLine(c.text, c.most), "%q", c.text)
	}
}

// TestShown: a text is UTF-8, controls neither the terminal that shows it nor the order in which it is read, and is kept otherwise.
func TestShown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"one\ttwo\nthree\r\n", "one\ttwo\nthree\r\n"},
		{"é 🙂 \u200d שלום", "é 🙂 \u200d שלום"},
		{"\x1b[2J\x1b]0;title\a\x00\x7f\u009b2J", "[2J]0;title2J"},
		{"a\u202eb\u2066c\u2069d\ufeffe", "abcde"},
		{"10%\r20%\r\r\n", "10%\n20%\n\r\n"},
		{"a\xffb", "a\ufffdb"},
		{"\x9b2J", "\ufffd2J"},
		{"\x1b[2J\x9b2J", "[2J\ufffd2J"},
	} {
		assert.Equal(t, c.want, text.Shown(c.text), "%q", c.text)
	}
}
