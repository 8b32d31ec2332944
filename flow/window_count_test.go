package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
)

// metered counts with a vocabulary, and how many bytes it has counted.
type metered struct {
	token.Counter
	bytes *int
}

func (m metered) Count(text string) int {
	*m.bytes += len(text)
	return m.Counter.Count(text)
}

// A long text is counted by its paragraphs: the sum is that of the whole text, and a text that has grown is counted where it is new.
func TestALongTextIsCountedByItsParagraphs(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for name, model := range map[string]string{"o200k_base": "gpt-5", "cl100k_base": "gpt-4"} {
		whole := token.ForModel(model)
		bytes, text := 0, strings.Repeat("The bridge is dear. ", 120)
		counter := metered{whole, &bytes}
		core := []string{}
		for _, next := range []string{
			"It is!?\n\n\n\n  indented", "\n\n/slash\n\n", "桥很贵。\n\n桥很长。", "ends.\n \n\n\tTab", "\n\n\u3000wide", "\n\n'll go\r\n\r\n1234567\n\n\n", "--- x ---\n\n```go\n\n\tf()\n```",
		} {
			text += "\n\n" + next + strings.Repeat(" So say I.", 300)
			core = append(core, text)
		}
		sums := flow.Counted(counter, core...)
		for i, text := range core {
			assert.Equal(t, whole.Count(text), sums[i], "%s %d", name, i)
		}
		assert.Less(t, bytes, 3*len(text), name)
	}
}
