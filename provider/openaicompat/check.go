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

// Check asks the server for its models. It fails with kind authentication if the key is refused and
// with kind validation if the server lists its models without this one and does not know it by name
// either. A server that has no list cannot tell, which is no failure.
func (p *Provider) Check(ctx context.Context, model string) error {
	if p.KeyPath != "" {
		if err := p.get(ctx, p.KeyPath); err != nil {
			return err
		}
	}
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
		return nil // it cannot look one up, and lists need not hold aliases
	}
	return err
}

// get asks for something whose contents do not matter.
func (p *Provider) get(ctx context.Context, path string) error {
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	return x.Send(http.MethodGet, path, nil)
}

// lists reports whether the server's list of models has this one, or does not tell.
func (p *Provider) lists(ctx context.Context, model string) (bool, error) {
	names, err := p.Models(ctx)
	if err != nil {
		return false, err
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return sameModel(name, model) }), nil
}

// sameModel compares names without a tag that may be left out: Ollama's ":latest", OpenRouter's
// variants (":online", ":free").
func sameModel(listed, asked string) bool {
	if listed == asked || listed == asked+":latest" {
		return true
	}
	base, _, tagged := strings.Cut(asked, ":")
	return tagged && listed == base
}
