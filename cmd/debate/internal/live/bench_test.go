package live_test

import (
	"fmt"
	"testing"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// BenchmarkChunk measures one piece of a streaming text of one of 100 agents, and the frame after it.
func BenchmarkChunk(b *testing.B) {
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("agent %d", i+1)
	}
	s := newScreen(true).happen(start(deliberation.FlowName, "A crowd", 2, nil, names...), to(deliberation.StateProposing, 100))
	for _, name := range names {
		s.happen(ask(deliberation.KindProposal, name, ""))
	}
	offsets := make([]int, len(names))
	for i := 0; b.Loop(); i++ {
		n := i % len(names)
		const words = "some more words of it, "
		var body flow.Body = stream(deliberation.KindProposal, names[n], "", offsets[n], words)
		offsets[n] += len(words)
		s.happen(body)
		_ = s.View()
	}
}
