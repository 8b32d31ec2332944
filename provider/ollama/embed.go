package ollama

import (
	"context"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Embed asks for the vectors of texts in one request. A text that is longer than the model's window is
// not cut: it fails with kind context_overflow. An answer that does not hold one vector for each text,
// all of the same length, fails with kind invalid_response. The server does not limit the number of
// texts.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	if len(texts) == 0 {
		return &provider.Embedding{}, nil
	}
	body := map[string]any{"model": model, "input": texts, "truncate": false}
	if o := p.options(); len(o) > 0 {
		body["options"] = o
	}
	if k := p.keepAlive(); k != "" {
		body["keep_alive"] = k
	}
	var answer struct {
		Model      string     `json:"model"`
		Embeddings vectors    `json:"embeddings"`
		Input      wire.Count `json:"prompt_eval_count"`
	}
	answer.Embeddings.texts = len(texts)
	x, err := p.ask(ctx, "api/embed", model, body, &answer)
	if err != nil {
		return nil, err
	}
	got := answer.Embeddings.list
	if len(got) != len(texts) {
		return nil, x.Invalid("malformed", "the answer does not hold one vector for each text")
	}
	out := &provider.Embedding{
		Vectors: make([][]float32, len(got)), Usage: provider.Usage{Input: int(answer.Input)}, Model: x.Redact(answer.Model),
	}
	for i, v := range got {
		if len(v) != len(got[0]) || len(v) == 0 {
			return nil, x.Invalid("malformed", "a vector is empty, or has another length than the others")
		}
		out.Vectors[i] = v
	}
	return out, nil
}
