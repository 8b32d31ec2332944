package anthropic_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
)

// Whatever an answer is made of, reading it takes little more than its bytes: all that is allocated
// on the way, what is freed meanwhile included, stays below six times the bound of a body.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	longform.Lone(t)
	const maxBody = 4 << 20
	generate := func(ctx context.Context, p *anthropic.Provider) error {
		_, err := p.Generate(ctx, request(), func(provider.Chunk) {})
		return err
	}
	check := func(ctx context.Context, p *anthropic.Provider) error { return p.Check(ctx, "x") }
	repeat := func(part string, size int) string { return strings.Repeat(part, size/len(part)) }
	named := func(size int) string { // fields of different names
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(`,"` + strconv.FormatInt(int64(i), 36) + `":0`)
		}
		return b.String()
	}
	const start = `{"type":"message_start"`
	started := func(data string) string { return event("message_start", data) }
	const line, whole = 1<<20 - 1<<10, maxBody - 1<<10
	for name, tt := range map[string]struct {
		body string
		ask  func(context.Context, *anthropic.Provider) error
		want provider.Kind
	}{
		"content":      {started(start + `,"message":{"content":[` + repeat(`{},`, line) + `{}]}}`), generate, provider.KindNetwork},
		"fields":       {started(start + named(line) + `}`), generate, provider.KindNetwork},
		"same fields":  {started(start + repeat(`,"a":{}`, line) + `}`), generate, provider.KindNetwork},
		"input":        {block(0, `{"type":"tool_use","id":"a","name":"f","input":{"a":[`+repeat(`[],`, line)+`[]]}}`), generate, provider.KindNetwork},
		"names":        {`{"id":"x"` + named(whole) + `}`, check, ""},
		"capabilities": {`{"id":"x","capabilities":[` + repeat(`{},`, whole) + `{}]}`, check, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := played(ok + tt.body)
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
