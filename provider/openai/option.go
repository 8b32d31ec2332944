package openai

import (
	"errors"
	"strings"

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
func effort(req *provider.Request) (string, error) {
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
	return step, nil
}

// ownName returns the name of a model without what fine-tuning and routers add, in lower case.
func ownName(model string) string {
	name := strings.ToLower(strings.TrimPrefix(model, "ft:"))
	return name[strings.LastIndexByte(name, '/')+1:]
}

// write writes a request, or fails because the API has no words for it.
func (p *Provider) write(req *provider.Request, t *wire.Terms) (*request, error) {
	if err := p.vet(req); err != nil {
		return nil, err
	}
	req, err := form(req, t)
	if err != nil {
		return nil, err
	}
	w := newRequest(req, p.owner(req.Model), t)
	if req.Options == nil {
		return w, nil
	}
	o := req.Options
	step, err := effort(req)
	if err != nil {
		return nil, err
	}
	w.Reasoning.Effort = step
	if o.Reasoning == provider.ReasoningAsk {
		w.Reasoning.Summary = "auto"
	}
	w.TopP, w.ServiceTier, w.Text.Verbosity = o.TopP, o.ServiceTier, string(o.Verbosity)
	return w, nil
}

// body returns the JSON of a request, with the fields that its config adds.
func (p *Provider) body(req *provider.Request, t *wire.Terms) ([]byte, error) {
	w, err := p.write(req, t)
	if err != nil {
		return nil, err
	}
	data, err := wire.Body(w)
	if err != nil || req.Options == nil {
		return data, err
	}
	return wire.Extend(data, req.Options.Extra, "background")
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
	return p.VetHeader(req.Options.Header)
}

// search returns the vendor's own search, if the request asks for it.
func search(req *provider.Request) []tool {
	if req.Options == nil || !req.Options.Search {
		return nil
	}
	return []tool{{Type: "web_search"}}
}
