package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Check looks up the model at /models. It fails with kind authentication if the key is refused. It fails
// with kind validation if the server does not know the model, or does not allow it for this key. If the
// server cannot look up a model, Check reads its list of models, as [openaicompat.Provider.Check] does.
func (p *Provider) Check(ctx context.Context, model string) error {
	err := p.lookUp(ctx, model)
	if absent(err, model) {
		return p.chat().Check(ctx, model)
	}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Status == http.StatusNotFound {
		e.Kind, e.Code = provider.KindValidation, "model_not_found"
		e.Message = "the server does not know the model " + wire.Clip(model)
	}
	return err
}

// Models asks the server for the names of its models, as [openaicompat.Provider.Models] does.
func (p *Provider) Models(ctx context.Context) ([]string, error) { return p.chat().Models(ctx) }

func (p *Provider) lookUp(ctx context.Context, model string) error {
	if model == "" { // the path would be that of the list
		return wire.Unwritable("model", "the name of the model is missing")
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Send(http.MethodGet, "models/"+url.PathEscape(model), nil); err != nil {
		return err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	var found struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, &found) == nil && found.ID != "" {
		return nil
	}
	return x.Unexpected(data, "not_a_model", "the answer is not a model")
}
