package bedrock

import (
	"context"
	"encoding/json"
	"io"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// counted is the part of a request that can be counted.
type counted struct {
	Messages    []turn          `json:"messages"`
	System      []content       `json:"system,omitempty"`
	ToolConfig  *toolConfig     `json:"toolConfig,omitempty"`
	ModelFields json.RawMessage `json:"additionalModelRequestFields,omitempty"`
}

// CountTokens asks the vendor how many input tokens a request has. It costs nothing. Only some models
// support it; for others it fails with kind validation. Schemas that are sent as outputConfig are not
// counted.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	w, err := p.request(req, nil)
	if err != nil {
		return 0, err
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	body, err := wire.Body(map[string]any{"input": map[string]any{"converse": counted{w.Messages, w.System, w.ToolConfig, w.ModelFields}}})
	if err != nil {
		return 0, err
	}
	// Inference profiles cannot count; the model behind them can.
	if err := p.post(x, baseModel(req.Model), "count-tokens", body); err != nil {
		return 0, err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return 0, x.Cut(err)
	}
	var count struct {
		Tokens int32 `json:"inputTokens"`
	}
	if json.Unmarshal(data, &count) != nil || count.Tokens <= 0 {
		return 0, x.Unexpected(data, "malformed", "the answer does not follow the API")
	}
	return int(count.Tokens), nil
}
