package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Check asks for the model's description. It fails with kind authentication if the key is refused and
// with kind validation if the vendor does not know the model. A server that has no descriptions cannot
// tell, which is no failure.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" { // the path would be that of the list
		return &provider.Error{Kind: provider.KindValidation, Code: "model", Message: "no model is named", NotSent: true}
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	err = p.send(x, http.MethodGet, "v1/models/"+url.PathEscape(model), nil)
	if err == nil {
		if _, err = io.Copy(io.Discard, x); err != nil {
			return x.Cut(err)
		}
		return nil
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Status == http.StatusNotFound && e.Code == "not_found_error":
		return &provider.Error{
			Kind: provider.KindValidation, Status: e.Status, Code: "model_not_found", RequestID: e.RequestID,
			Message: "Anthropic does not know the model " + wire.Clip(model),
		}
	case e.Status == http.StatusNotFound, e.Status == http.StatusMethodNotAllowed, e.Status == http.StatusNotImplemented:
		return nil
	}
	return err
}

// CountTokens asks the vendor how many input tokens a request is. It costs nothing, but has a rate limit
// of its own. What is cached counts like the rest.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	if err := p.send(x, http.MethodPost, "v1/messages/count_tokens", counted(p.params(req))); err != nil {
		return 0, err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return 0, x.Cut(err)
	}
	var count sdk.MessageTokensCount
	if json.Unmarshal(data, &count) != nil || !count.JSON.InputTokens.Valid() || int64(tokens(count.InputTokens)) != count.InputTokens {
		return 0, x.Invalid("malformed", "the answer is no count of tokens")
	}
	return tokens(count.InputTokens), nil
}

// counted is a request as it is sent to be counted: without what concerns the output alone, which the
// vendor would refuse.
func counted(w sdk.MessageNewParams) sdk.MessageCountTokensParams {
	c := sdk.MessageCountTokensParams{
		Model: w.Model, Messages: w.Messages, Thinking: w.Thinking, OutputConfig: w.OutputConfig,
		System: sdk.MessageCountTokensParamsSystemUnion{OfTextBlockArray: w.System},
	}
	for i := range w.Tools {
		c.Tools = append(c.Tools, sdk.MessageCountTokensToolUnionParam{OfTool: w.Tools[i].OfTool})
	}
	return c
}
