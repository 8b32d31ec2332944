package openaicompat

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// mostTexts is how many texts one request for vectors may have, which is OpenAI's limit.
const mostTexts = 2048

// Embed asks for the vectors of texts in one request. It fails with kind validation for more than 2,048
// of them, and with kind invalid_response if the answer does not hold one vector of one length for each.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	if len(texts) > mostTexts {
		return nil, &provider.Error{
			Kind: provider.KindValidation, Code: "request", NotSent: true,
			Message: "more than " + strconv.Itoa(mostTexts) + " texts in one request",
		}
	}
	if len(texts) == 0 {
		return &provider.Embedding{}, nil
	}
	body, err := encode(map[string]any{"model": model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, &provider.Error{Kind: provider.KindValidation, Code: "request", NotSent: true, Message: wire.Clip(err.Error())}
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "embeddings", body); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return nil, x.Cut(err)
	}
	var answer struct {
		Model string `json:"model"`
		Data  []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(data, &answer); {
	case err == nil && wire.Present(answer.Error):
		return nil, x.Fault(data)
	case err != nil && !json.Valid(data):
		return nil, x.Cut(io.ErrUnexpectedEOF)
	case err != nil || len(answer.Data) != len(texts):
		return nil, x.Invalid("malformed", "the answer does not hold one vector for each text")
	}
	out := &provider.Embedding{Vectors: make([][]float32, len(texts)), Usage: parseUsage(answer.Usage), Model: answer.Model}
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(texts) || out.Vectors[d.Index] != nil || !vector(d.Embedding, len(answer.Data[0].Embedding)) {
			return nil, x.Invalid("malformed", "a vector without a place, or not as long as the others")
		}
		out.Vectors[d.Index] = d.Embedding
	}
	return out, nil
}

// vector reports whether v is n finite numbers.
func vector(v []float32, n int) bool {
	return n > 0 && len(v) == n && !slices.ContainsFunc(v, func(f float32) bool {
		return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0)
	})
}
