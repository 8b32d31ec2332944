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

// Models asks the server for the names of its models, and yields them in its order, as it wrote them. Of a
// server that keeps no list, or answers with something else, there are none, which is no failure. A
// failure is a [*provider.Error]; the key stays with the server, redirected or not.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
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
		return nil, nil // a list of another kind, or a page
	}
	var names []string
	for _, m := range models {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}
