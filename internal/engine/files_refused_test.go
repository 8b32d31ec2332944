package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// putting counts the blobs that are put, by conversation.
type putting struct {
	*store.Memory

	mu   sync.Mutex
	puts map[string]int
}

func (p *putting) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.puts[id]++
	return p.Memory.PutBlob(ctx, id, hash, data)
}

// A fork that is refused stores no file: neither under its own id, nor under that of another debate.
func TestARefusedForkStoresNoFile(t *testing.T) {
	engine, _ := stage.Engine(stage.Illustrated())
	kept := &putting{Memory: &store.Memory{}, puts: map[string]int{}}
	engine.Store = kept
	played(t, engine, stage.Illustrated())
	other := stage.Illustrated()
	other.ID, other.Attachments, other.Documents = "other", nil, nil
	played(t, engine, other)
	for name, c := range map[string]struct {
		edit func(*debate.Config)
		want string
	}{
		"an id that exists": {func(c *debate.Config) { c.ID = "other" }, "exists"},
		"another name":      {func(c *debate.Config) { c.ID, c.Participants[0].Name = "fresh", "Zed" }, "participants"},
	} {
		for at, seq := range map[string]int64{"from the start": 0, "from the middle": 8} {
			if seq == 0 && c.want == "participants" {
				continue // anything may change there
			}
			t.Run(name+" "+at, func(t *testing.T) {
				_, err := engine.Fork(t.Context(), "illustrated", seq, debate.Editing(c.edit))
				require.ErrorContains(t, err, c.want)
				assert.Equal(t, map[string]int{"illustrated": 2}, kept.puts)
			})
		}
	}
}
