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
