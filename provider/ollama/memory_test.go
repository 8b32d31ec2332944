package ollama_test

import (
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// Whatever an answer is made of, reading it takes little more than its bytes.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	const maxBody = 4 << 20
	play := func(_ *testing.T, body string) provider.Provider {
		p := played(answer(body))
		p.MaxBody = maxBody
		return p
	}
	adaptertest.TakesLittleMemory(t, 6*maxBody, play, request(), map[string]adaptertest.Hostile{
		"calls": {First: `{"message":{"tool_calls":[`, Part: `{},`, Last: `{}]}}`, Size: 1<<20 - 1<<10, Want: provider.KindInvalidResponse},
		"capabilities": {
			First: `{"capabilities":[`, Part: `"",`, Last: `""]}`, Size: maxBody - 1<<10, Check: true, Want: provider.KindInvalidResponse,
		},
	})
}
