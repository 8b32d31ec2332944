package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"

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

// CountTokens asks the vendor how many input tokens a request has. It costs nothing, but has a rate limit
// of its own. Cached tokens count like the rest.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
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
	path, params := "v1/messages/count_tokens", counted(p.params(req, nil))
	if p.Vertex != "" { // a model of its own counts for all
		path = p.vertexPath("count-tokens", "rawPredict")
		params.SetExtraFields(map[string]any{"anthropic_version": versionVertex})
	}
	if err := p.send(x, http.MethodPost, path, params); err != nil {
		return 0, err
	}
	var count struct {
		Tokens *int `json:"input_tokens"`
	}
	err = whole(x, &count, func() bool { return count.Tokens != nil && *count.Tokens >= 0 && *count.Tokens <= math.MaxInt32 })
	if err != nil {
		return 0, err
	}
	return *count.Tokens, nil
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

// counted returns the form of a request that is sent to be counted. It has no options for the output,
// which the vendor would refuse.
func counted(w sdk.MessageNewParams) sdk.MessageCountTokensParams {
	c := sdk.MessageCountTokensParams{
		Model: w.Model, Messages: w.Messages, Thinking: w.Thinking, OutputConfig: w.OutputConfig,
		System: sdk.MessageCountTokensParamsSystemUnion{OfTextBlockArray: w.System},
	}
	for i := range w.Tools {
		c.Tools = append(c.Tools, sdk.MessageCountTokensToolUnionParam{
			OfTool: w.Tools[i].OfTool, OfWebSearchTool20250305: w.Tools[i].OfWebSearchTool20250305,
		})
	}
	return c
}
