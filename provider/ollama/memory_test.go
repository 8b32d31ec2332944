package ollama_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
)

// Whatever an answer is made of, reading it takes little more than its bytes: all that is allocated
// on the way, what is freed meanwhile included, stays below six times the bound of a body.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	longform.Lone(t)
	const maxBody = 4 << 20
	generate := func(ctx context.Context, p *ollama.Provider) error {
		_, err := p.Generate(ctx, request(), func(provider.Chunk) {})
		return err
	}
	check := func(ctx context.Context, p *ollama.Provider) error { return p.Check(ctx, "x") }
	for name, tt := range map[string]struct {
		begin, part, end string
		size             int
		ask              func(context.Context, *ollama.Provider) error
	}{
		"calls":        {`{"message":{"tool_calls":[`, `{},`, `{}]}}`, 1 << 20, generate},
		"capabilities": {`{"capabilities":[`, `"",`, `""]}`, maxBody, check},
	} {
		t.Run(name, func(t *testing.T) {
			p := played(answer(tt.begin + strings.Repeat(tt.part, (tt.size-1<<10)/len(tt.part)) + tt.end))
			p.MaxBody = maxBody
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := tt.ask(t.Context(), p)
			runtime.ReadMemStats(&after)
			failure(t, err, provider.KindInvalidResponse)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*maxBody))
		})
	}
}
