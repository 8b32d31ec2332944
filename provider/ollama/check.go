package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Check asks the server about the model, without loading it. It fails with kind validation if the server
// does not have the model or reports that it cannot chat. It fails with kind authentication if the key is
// refused.
func (p *Provider) Check(ctx context.Context, model string) error {
	var answer struct {
		Capabilities wire.List[string] `json:"capabilities"` // older servers do not report them
	}
	x, err := p.ask(ctx, "api/show", model, map[string]any{"model": model}, &answer)
	known := []string{codeNoModel, wire.CodeEndpoint}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Status == http.StatusNotFound && !slices.Contains(known, e.Code) {
		e.Message = absent(model) + "; or is BaseURL not the URL of the server?"
	}
	if err != nil {
		return err
	}
	if c := answer.Capabilities; len(c) > 0 && !slices.Contains(c, "completion") {
		return &provider.Error{
			Kind: provider.KindValidation, Status: http.StatusOK, Code: "no_chat", RequestID: x.Header("X-Request-Id"),
			Message: "the model " + wire.Clip(model) + " cannot chat",
		}
	}
	return nil
}

// ask makes a request whose answer is one JSON object, and decodes it into answer. It returns the
// exchange closed.
func (p *Provider) ask(ctx context.Context, path, model string, body, answer any) (*wire.Exchange, error) {
	data, err := wire.Body(body)
	if err != nil {
		return nil, err
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, path, data); err != nil {
		return nil, refine(err, model)
	}
	if data, err = io.ReadAll(x); err != nil {
		return nil, x.Cut(err)
	}
	var failure struct {
		Error json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(data, &failure); {
	case err == nil && wire.Present(failure.Error):
		return nil, refine(x.Fault(data), model)
	case err == nil && json.Unmarshal(data, answer) == nil:
		return x, nil
	case !json.Valid(data) && len(data) > 0 && data[0] == '{':
		return nil, x.Cut(io.ErrUnexpectedEOF)
	}
	return nil, x.Unexpected(data, "malformed", "the answer does not follow the API")
}
