package openaicompat

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Check looks for the model in the server's list of models. It fails with kind authentication if the key
// is refused. It fails with kind validation if the model is neither in the list nor known to the server
// by its name. If the server has no list, Check finds nothing wrong.
func (p *Provider) Check(ctx context.Context, model string) error {
	known, err := p.lists(ctx, model)
	if err != nil || known {
		return err
	}
	err = p.get(ctx, "models/"+url.PathEscape(model))
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Status {
	case http.StatusNotFound:
		return &provider.Error{
			Kind: provider.KindValidation, Status: e.Status, Code: "model_not_found", RequestID: e.RequestID,
			Message: "the server does not know the model " + wire.Clip(model),
		}
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return nil // the server cannot look up a model, and lists need not hold aliases
	}
	return err
}

// get makes a request whose answer is not needed.
func (p *Provider) get(ctx context.Context, path string) error {
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	return x.Send(http.MethodGet, path, nil)
}

// lists reports whether the server's list of models holds this one. A server without a list counts as
// holding it.
func (p *Provider) lists(ctx context.Context, model string) (bool, error) {
	names, err := p.Models(ctx)
	if err != nil {
		return false, err
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return sameModel(name, model) }), nil
}

// sameModel compares names apart from an optional tag: Ollama's ":latest", OpenRouter's variants
// (":online", ":free"), and from the folder in which Gemini's list has them.
func sameModel(listed, asked string) bool {
	listed = strings.TrimPrefix(listed, "models/")
	asked = strings.TrimPrefix(asked, "models/")
	if listed == asked || listed == asked+":latest" {
		return true
	}
	base, _, tagged := strings.Cut(asked, ":")
	return tagged && listed == base
}
