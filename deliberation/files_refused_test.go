package deliberation_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// putting counts the blobs that are put.
type putting struct {
	*store.Memory

	puts int
}

func (p *putting) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	p.puts++
	return p.Memory.PutBlob(ctx, id, hash, data)
}

// An answer that is refused is neither fetched nor stored.
func TestARefusedAnswerStoresNoFile(t *testing.T) {
	config := three()
	config.ID, config.Clarification = "asking", deliberation.Clarification{On: true, Iterations: 1}
	engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How does it look?"}}))
	kept := &putting{Memory: &store.Memory{}}
	engine.Store = kept
	fetched := 0
	engine.Fetch = func(context.Context, string) (debate.Fetched, error) {
		fetched++
		return debate.Fetched{Body: io.NopCloser(bytes.NewReader(pixels))}, nil
	}
	s := stage.Started(t, engine, config)
	stage.AwaitsInput(t, s)
	const inquiry = "question.1.ada.1"
	file := func(size int) []flow.File {
		return []flow.File{{Name: "x.txt", Type: "text/plain", Data: bytes.Repeat([]byte{'a'}, size)}}
	}
	url := []flow.File{{Name: "x.png", URL: "https://example.com/x.png"}}
	refused := func(why, inquiry, text string, attachments []flow.File) {
		t.Helper()
		for _, answer := range []func() error{
			func() error {
				return s.Answer(t.Context(), flow.Answer{Inquiry: inquiry, Text: text, Attachments: attachments})
			},
			func() error {
				return engine.Control(t.Context(), "asking", flow.Answer{Inquiry: inquiry, Text: text, Attachments: attachments})
			},
		} {
			require.ErrorContains(t, answer(), why)
		}
		assert.Zero(t, kept.puts)
		assert.Zero(t, fetched)
	}
	refused("no inquiry", "nothing", "Look.", file(10))
	refused("no inquiry", "nothing", "Look.", url)
	refused("is empty", inquiry, " ", url)
	refused("are allowed", inquiry, "Look.", append(file(9<<20), file(8<<20)...))
	require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: inquiry, Text: "Look.", Attachments: url}))
	assert.Equal(t, 1, kept.puts)
	assert.Equal(t, 1, fetched)
	stage.Ended(t, s)
	require.ErrorContains(t, engine.Control(t.Context(), "asking", flow.Answer{Inquiry: inquiry, Text: "Look.", Attachments: file(20)}), "was answered by a person")
	assert.Equal(t, 1, kept.puts)
}
