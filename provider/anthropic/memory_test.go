package anthropic_test

import (
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// Whatever an answer is made of, reading it takes little more than its bytes.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	const maxBody = 4 << 20
	const line, whole = 1<<20 - 1<<10, maxBody - 1<<10
	started := func(content, part, end string) adaptertest.Hostile {
		first, last, _ := strings.Cut(event("message_start", `{"type":"message_start"`+content+"~"+end+`}`), "~")
		return adaptertest.Hostile{First: first, Part: part, Last: last, Size: line, Want: provider.KindNetwork}
	}
	input, end, _ := strings.Cut(block(0, `{"type":"tool_use","id":"a","name":"f","input":{"a":[~[]]}}`), "~")
	play := func(_ *testing.T, body string) provider.Provider {
		p := played(ok + body)
		p.MaxBody = maxBody
		return p
	}
	adaptertest.TakesLittleMemory(t, 6*maxBody, play, request(), map[string]adaptertest.Hostile{
		"content":      started(`,"message":{"content":[`, `{},`, `{}]}`),
		"fields":       started("", `,"#":0`, ""),
		"same fields":  started("", `,"a":{}`, ""),
		"input":        {First: input, Part: `[],`, Last: end, Size: line, Want: provider.KindNetwork},
		"names":        {First: `{"id":"x"`, Part: `,"#":0`, Last: `}`, Size: whole, Check: true},
		"capabilities": {First: `{"id":"x","capabilities":[`, Part: `{},`, Last: `{}]}`, Size: whole, Check: true},
	})
}
