package google_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
)

// Whatever an answer is made of, reading it takes little more than its bytes: all that is allocated
// on the way, what is freed meanwhile included, stays below six times the bound of a body.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	longform.Lone(t)
	const maxBody = 4 << 20
	generate := func(ctx context.Context, p *google.Provider) error {
		_, err := p.Generate(ctx, request(), func(provider.Chunk) {})
		return err
	}
	check := func(ctx context.Context, p *google.Provider) error { return p.Check(ctx, "x") }
	for name, tt := range map[string]struct {
		begin, part, end string
		size             int
		ask              func(context.Context, *google.Provider) error
		want             provider.Kind
	}{
		"candidates": {`data: {"candidates":[`, `{},`, "{}]}\n\n", 1 << 20, generate, provider.KindInvalidResponse},
		"parts":      {`data: {"candidates":[{"content":{"parts":[`, `{},`, "{}]}}]}\n\n", 1 << 20, generate, provider.KindInvalidResponse},
		"arguments": {
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":[`, `[],`, "[]]}}}]}}]}\n\n",
			1 << 20, generate, provider.KindNetwork,
		},
		"details": {`data: {"usageMetadata":{"promptTokensDetails":[`, `{},`, "{}]}}\n\n", 1 << 20, generate, provider.KindInvalidResponse},
		"model":   {`{"name":"models/x","supportedActions":[`, `"",`, `""]}`, maxBody, check, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := tt.begin + strings.Repeat(tt.part, (tt.size-1<<10)/len(tt.part)) + tt.end
			p, _ := played(body)
			p.MaxBody = maxBody
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := tt.ask(t.Context(), p)
			runtime.ReadMemStats(&after)
			if tt.want != "" {
				failure(t, err, tt.want)
			} else {
				assert.NoError(t, err)
			}
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*maxBody))
		})
	}
}
