package ollama

import (
	"context"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Embed asks for the vectors of texts in one request. A text that is longer than the model's window fails
// with kind context_overflow; it is not cut. An answer that does not hold one vector of one length for each
// text is of kind invalid_response. The server puts no limit on the number of texts.
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
		Model      string      `json:"model"`
		Embeddings [][]float32 `json:"embeddings"`
		Input      wire.Count  `json:"prompt_eval_count"`
	}
	x, err := p.ask(ctx, "api/embed", model, body, &answer)
	if err != nil {
		return nil, err
	}
	if len(answer.Embeddings) != len(texts) {
		return nil, x.Invalid("malformed", "the answer does not hold one vector for each text")
	}
	size := len(answer.Embeddings[0])
	for _, v := range answer.Embeddings {
		if len(v) != size || size == 0 {
			return nil, x.Invalid("malformed", "a vector is empty, or not as long as the others")
		}
	}
	return &provider.Embedding{Vectors: answer.Embeddings, Usage: provider.Usage{Input: int(answer.Input)}, Model: answer.Model}, nil
}
