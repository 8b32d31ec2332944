package anthropic

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

// Check asks for the description of the model. It fails with kind authentication if the key is refused,
// and with kind validation if the vendor does not know the model. If the server has no descriptions,
// Check finds nothing wrong.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" { // the path would be that of the list
		return &provider.Error{Kind: provider.KindValidation, Code: "model", Message: "the name of the model is missing", NotSent: true}
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	path := "v1/models/"
	if p.Vertex != "" { // models are described outside of projects
		path = "v1beta1/publishers/anthropic/models/"
	}
	err = p.send(x, http.MethodGet, path+url.PathEscape(model), nil)
	if err == nil {
		var m struct {
			ID   string `json:"id"`
			Name string `json:"name"` // on Vertex AI
		}
		return whole(x, &m, func() bool { return m.ID != "" || m.Name != "" })
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status == http.StatusNotFound && (e.Code == "not_found_error" || p.Vertex != "" && e.Code == "NOT_FOUND"):
		return &provider.Error{
			Kind: provider.KindValidation, Status: e.Status, Code: "model_not_found", RequestID: e.RequestID,
			Message: "the vendor does not know the model " + wire.Clip(model),
		}
	case e.Status == http.StatusNotFound, e.Status == http.StatusMethodNotAllowed, e.Status == http.StatusNotImplemented:
		return nil
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
		return explain(x, x.Unexpected(data, "malformed", "the answer does not follow the API"))
	}
	return nil
}
