package providertest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// A provider that leaves thoughts in the text fails, and so does one that takes what is none. What streamed before a chunk that
// recalls it is no part of the text.
func TestThoughtsInTheTextAreFound(t *testing.T) {
	faults := providertest.Examine(t, "thoughts in the text", connect(nil))
	require.NotEmpty(t, faults)
	assert.Contains(t, strings.Join(faults, "\n"), "an end alone, in pieces of")

	assert.Empty(t, providertest.Examine(t, "texts about thoughts", connect(nil)))
	faults = providertest.Examine(t, "texts about thoughts", connect(func(m *model) {
		for i := range m.s.Reply {
			m.s.Reply[i] = strings.ReplaceAll(m.s.Reply[i], "<think>", "")
		}
	}))
	require.NotEmpty(t, faults)
	assert.Contains(t, strings.Join(faults, "\n"), "the text is")

	recalling := connect(func(m *model) {
		m.begin = func(emit func(provider.Chunk)) {
			emit(provider.Chunk{Text: "Hm."})
			emit(provider.Chunk{Text: "Hm.", Reasoning: true, Recall: true})
		}
		m.reply = func(r *provider.Response) { r.Reasoning = "Hm." }
	})
	assert.Empty(t, providertest.Examine(t, "plain", recalling))
	faults = providertest.Examine(t, "plain", connect(func(m *model) {
		m.begin = func(emit func(provider.Chunk)) { emit(provider.Chunk{Recall: true}) }
	}))
	require.NotEmpty(t, faults)
	assert.Contains(t, strings.Join(faults, "\n"), "is not one of thoughts")
}
