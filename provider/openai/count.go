package openai

import (
	"context"
	"encoding/json"
	"io"
	"math"

	"github.com/openai/openai-go/v3/responses"

	"github.com/agonist-dev/debate/provider"
)

// CountTokens asks at /responses/input_tokens how many input tokens the request has. It fails with kind
// validation and code "unsupported" if the server has no such endpoint. If API is ChatCompletions, which
// has no way to count, it fails in the same way without a request.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	switch p.API {
	case Auto, Responses:
	case ChatCompletions:
		return 0, &provider.Error{
			Kind: provider.KindValidation, Code: codeUnsupported, Message: "Chat Completions cannot count tokens", NotSent: true,
		}
	default:
		return 0, unknownAPI(p.API)
	}
	if err := p.vet(req); err != nil {
		return 0, err
	}
	req, err := form(req, nil)
	if err != nil {
		return 0, err
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	service := responses.NewInputTokenService(p.options(x)...)
	_, err = service.Count(x.Context(), newCount(req, p.owner(req.Model)))
	if err = x.Answered(err); err != nil {
		return 0, uncounted(err, req.Model)
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return 0, x.Cut(err)
	}
	var answer struct { // the SDK's type keeps every unknown field
		Tokens *int64 `json:"input_tokens"`
	}
	if json.Unmarshal(data, &answer) == nil && answer.Tokens != nil {
		if n := *answer.Tokens; n >= 0 && n <= math.MaxInt32 {
			return int(n), nil
		}
	}
	return 0, x.Unexpected(data, "no_count", "the answer has no number of tokens in it")
}

const codeUnsupported = "unsupported"

// uncounted replaces err if it means that the server cannot count.
func uncounted(err error, model string) error {
	if !absent(err, model) {
		return err
	}
	return &provider.Error{
		Kind: provider.KindValidation, Code: codeUnsupported,
		Message: "the server cannot count tokens: it has no /responses/input_tokens",
	}
}
