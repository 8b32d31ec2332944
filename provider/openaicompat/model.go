package openaicompat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxModels = 1 << 16 // in a server's list

// Models asks the server for the names of its models, and first whether it accepts the key, if KeyPath is set. It
// returns them unchanged, in the server's order. If the server has no list, or answers with something else, the
// result is empty and no error. A failure is a [*provider.Error]. The key is sent to this server only, even after a
// redirect.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if p.KeyPath != "" {
		if err := p.get(ctx, p.KeyPath); err != nil {
			return nil, err
		}
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodGet, "models", nil); err != nil {
		if e, ok := errors.AsType[*provider.Error](err); ok {
			switch e.Status {
			case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
				return nil, nil
			}
		}
		return nil, err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return nil, x.Cut(err)
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	var models []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, &answer) != nil || wire.Longer(answer.Data, maxModels) || json.Unmarshal(answer.Data, &models) != nil {
		return nil, nil // a list in another format, or a page
	}
	var names []string
	for _, m := range models {
		if m.ID != "" {
			names = append(names, x.Redact(m.ID))
		}
	}
	return names, nil
}
