package google

import (
	"context"

	"google.golang.org/genai"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxBatch = 100 // texts in one request, the API's limit

// embedRequest is one text of a batch.
type embedRequest struct {
	Model   string         `json:"model"`
	Content *genai.Content `json:"content"`
}

// Embed asks the model for the vectors of texts, a hundred per request. Without texts, it makes no
// request. The vendor reports usage only for newer models. On Vertex AI, it fails with kind validation.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	if p.Vertex != "" {
		return nil, wire.Unwritable("embed", "vectors of Vertex AI are not supported")
	}
	all := &provider.Embedding{Vectors: make([][]float32, 0, len(texts))}
	for some := range wire.Batches(texts, maxBatch, 0) {
		if err := p.embed(ctx, model, some, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// embed asks for one batch.
func (p *Provider) embed(ctx context.Context, model string, texts []string, all *provider.Embedding) error {
	requests := make([]embedRequest, len(texts))
	for i, text := range texts {
		requests[i] = embedRequest{modelName(model), genai.NewContentFromText(text, genai.RoleUser)}
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := p.post(x, model, "batchEmbedContents", map[string]any{"requests": requests}); err != nil {
		return err
	}
	var answer struct {
		Embeddings wire.List[struct {
			Values wire.Vector `json:"values"`
		}] `json:"embeddings"`
		Usage count `json:"usageMetadata"`
	}
	err = whole(x, &answer, func() bool {
		if len(answer.Embeddings) != len(texts) {
			return false
		}
		length := len(answer.Embeddings[0].Values)
		if len(all.Vectors) > 0 {
			length = len(all.Vectors[0])
		}
		for _, e := range answer.Embeddings {
			if len(e.Values) == 0 || len(e.Values) != length {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, e := range answer.Embeddings {
		all.Vectors = append(all.Vectors, e.Values)
	}
	all.Usage = all.Usage.Add(provider.Usage{Input: answer.Usage.tokens().Input})
	return nil
}
