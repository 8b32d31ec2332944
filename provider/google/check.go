package google

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Check asks for the description of the model, which costs nothing. It fails with kind authentication if
// the key is refused, and with kind validation if the vendor does not know the model.
func (p *Provider) Check(ctx context.Context, model string) error {
	path, err := modelPath(model)
	if err != nil {
		return err
	}
	path = version + "/" + path
	if p.Vertex != "" { // models are described outside of projects
		path = versionVertex + "/publishers/google/" + strings.TrimPrefix(path, version+"/")
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err = x.Send(http.MethodGet, path, nil); err == nil {
		var m struct {
			Name string `json:"name"`
		}
		return whole(x, &m, func() bool { return m.Name != "" })
	}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Status == http.StatusNotFound && e.Code != wire.CodeEndpoint {
		return &provider.Error{
			Kind: provider.KindValidation, Status: e.Status, Code: "model_not_found", RequestID: e.RequestID,
			Message: "the Gemini API does not know the model " + wire.Clip(model),
		}
	}
	return err
}

// whole reads an answer that is not streamed. It fails if the answer is an error in spite of its status,
// or if sound reports false.
func whole(x *wire.Exchange, answer any, sound func() bool) error {
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	if json.Unmarshal(data, answer) != nil || !sound() {
		return x.Unexpected(data, "malformed", "the answer does not follow the API")
	}
	return nil
}
