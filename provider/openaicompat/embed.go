package openaicompat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// These are the limits of one request for vectors. No text has more tokens than bytes. This many vectors
// of a few thousand numbers stay within MaxBody, with decimals of up to twenty characters.
const (
	maxTexts     = 256
	maxTextBytes = 256 << 10
)

// Embed asks for the vectors of texts. It makes as many requests as needed, with up to 256 texts or 256
// KiB each, one after the other; without texts, it makes none. It fails with kind invalid_response if an
// answer does not hold one vector for each text, all of the same length.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	all := &provider.Embedding{Vectors: make([][]float32, 0, len(texts))}
	for some := range wire.Batches(texts, maxTexts, maxTextBytes) {
		if err := p.embed(ctx, model, some, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type vectors struct {
	Model string           `json:"model"`
	Data  wire.List[place] `json:"data"`
	Usage json.RawMessage  `json:"usage"`
	Error json.RawMessage  `json:"error"`
}

// place is a vector with the index of its text.
type place struct {
	Index  int         `json:"index"`
	Vector wire.Vector `json:"embedding"`
}

// embed adds the vectors of one batch.
func (p *Provider) embed(ctx context.Context, model string, texts []string, all *provider.Embedding) error {
	body, err := wire.Body(map[string]any{"model": model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return err
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "embeddings", body); err != nil {
		return err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	var answer vectors
	switch err := json.Unmarshal(data, &answer); {
	case err == nil && wire.Present(answer.Error):
		return x.Fault(data)
	case err != nil && !json.Valid(data):
		return x.Cut(io.ErrUnexpectedEOF)
	case err != nil || len(answer.Data) != len(texts):
		return x.Invalid("malformed", "the answer does not hold one vector for each text")
	}
	answer.Model = x.Redact(answer.Model)
	if !answer.appendTo(all) {
		return x.Invalid("malformed", "a vector has no index, or another length than the others")
	}
	return nil
}

// appendTo adds the vectors in the order of their texts. It reports whether each has an index of its own,
// the length of those before it, and finite numbers only.
func (a *vectors) appendTo(all *provider.Embedding) bool {
	first := len(all.Vectors)
	all.Vectors = append(all.Vectors, make([][]float32, len(a.Data))...)
	length := len(a.Data[0].Vector)
	if first > 0 {
		length = len(all.Vectors[0])
	}
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= len(a.Data) || all.Vectors[first+d.Index] != nil || !sound(d.Vector, length) {
			return false
		}
		all.Vectors[first+d.Index] = d.Vector
	}
	counted, _ := parseUsage(a.Usage, false)
	all.Usage = all.Usage.Add(counted)
	if a.Model != "" {
		all.Model = a.Model
	}
	return true
}

// sound reports whether v is n finite numbers.
func sound(v wire.Vector, n int) bool { return n > 0 && len(v) == n && v.Finite() }
