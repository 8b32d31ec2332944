package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// onlyChat reports whether only Chat Completions has words for a request: it has stops and seeds.
func (p *Provider) onlyChat(req *provider.Request) bool {
	_, err := p.write(req, nil)
	e, ok := errors.AsType[*provider.Error](err)
	return ok && (e.Code == string(provider.AbilityStop) || e.Code == string(provider.AbilitySeed))
}

// effort returns the step for an effort. A model whose name says nothing gets the steps that most servers have.
func effort(req *provider.Request) (shared.ReasoningEffort, error) {
	asked := req.Options.Effort
	if asked == "" {
		return "", nil
	}
	steps, known := openaicompat.OpenAIEfforts(req.Model)
	if !known {
		steps = []string{"none", "low", "medium", "high"}
	}
	step, ok := wire.Nearest(asked, steps)
	if !ok {
		return "", wire.Unwritable("effort", "the model "+wire.Clip(req.Model)+" has no reasoning effort "+string(asked))
	}
	return shared.ReasoningEffort(step), nil
}

// ownName returns the name of a model without what fine-tuning and routers add, in lower case.
func ownName(model string) string {
	name := strings.ToLower(strings.TrimPrefix(model, "ft:"))
	return name[strings.LastIndexByte(name, '/')+1:]
}

// ownHeaders are those that the SDK writes.
//
//nolint:gochecknoglobals // read only
var ownHeaders = []string{
	"X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-Os", "X-Stainless-Arch", "X-Stainless-Runtime",
	"X-Stainless-Runtime-Version", "X-Stainless-Retry-Count", "X-Stainless-Timeout",
}

// write writes a request, or fails because the API has no words for it.
func (p *Provider) write(req *provider.Request, t *wire.Terms) (responses.ResponseNewParams, error) {
	if err := p.vet(req); err != nil {
		return responses.ResponseNewParams{}, err
	}
	req, err := form(req, t)
	if err != nil {
		return responses.ResponseNewParams{}, err
	}
	w := newRequest(req, p.owner(req.Model), t)
	if req.Options == nil {
		return w, nil
	}
	o := req.Options
	step, err := effort(req)
	if err != nil {
		return w, err
	}
	w.Reasoning.Effort = step
	if o.Reasoning == provider.ReasoningAsk {
		w.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if o.TopP != nil {
		w.TopP = param.NewOpt(*o.TopP)
	}
	w.ServiceTier = responses.ResponseNewParamsServiceTier(o.ServiceTier)
	w.Text.Verbosity = responses.ResponseTextConfigVerbosity(o.Verbosity)
	if len(o.Extra) == 0 {
		return w, nil
	}
	data, err := json.Marshal(w)
	if err != nil {
		return w, wire.Unwritable("request", "the request cannot be written as JSON")
	}
	if data, err = wire.Extend(data, o.Extra, "stream", "background"); err != nil {
		return w, err
	}
	return param.Override[responses.ResponseNewParams](json.RawMessage(data)), nil
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !taken(part) {
			return wire.Untaken(part, "OpenAI")
		}
	}
	if err := wire.Lacking(req, provider.AbilityStop, provider.AbilitySeed); err != nil || req.Options == nil {
		return err
	}
	return p.VetHeader(req.Options.Header, ownHeaders...)
}

// search returns the vendor's own search, if the request asks for it.
func search(req *provider.Request) []responses.ToolUnionParam {
	if req.Options == nil || !req.Options.Search {
		return nil
	}
	return []responses.ToolUnionParam{{OfWebSearch: &responses.WebSearchToolParam{Type: responses.WebSearchToolTypeWebSearch}}}
}
