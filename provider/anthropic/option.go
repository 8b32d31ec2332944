package anthropic

import (
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// searchName is the name of the vendor's search. No tool of a request can have it beside the search.
const searchName = "web_search"

// leastTopP is the least top_p that the API takes together with thinking.
const leastTopP = 0.95

// lacks returns what the API has no field for with a model.
func lacks(model string) []provider.Ability {
	lacking := []provider.Ability{provider.AbilitySeed, provider.AbilityVerbosity}
	if t, _ := traitsOf(model); !t.adaptive && !t.budget {
		lacking = append(lacking, provider.AbilityEffort, provider.AbilityReasoning)
	}
	return lacking
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
	w := p.request(req, t)
	o := req.Options
	if o == nil {
		return w, nil
	}
	if o.TopP != nil && *o.TopP < leastTopP && w.Thinking.thinks() {
		return nil, wire.Unwritable("topP", "a model that thinks takes no top_p below 0.95")
	}
	w.TopP, w.StopSequences, w.ServiceTier = o.TopP, o.Stop, o.ServiceTier
	return w, nil
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !taken(part) {
			return wire.Untaken(part, "Anthropic")
		}
	}
	if err := wire.Lacking(req, lacks(req.Model)...); err != nil || req.Options == nil {
		return err
	}
	o := req.Options
	if t, known := traitsOf(req.Model); known && o.Effort == provider.EffortNone && t.adaptive && t.off == "" {
		return wire.Unwritable(string(provider.AbilityEffort), "the model "+wire.Clip(req.Model)+" always thinks")
	}
	if slices.ContainsFunc(o.Stop, blank) {
		return wire.Unwritable(string(provider.AbilityStop), "the API takes no text of white space to stop at")
	}
	if o.Search && slices.ContainsFunc(req.Tools, func(t provider.Tool) bool { return t.Name == searchName }) {
		return wire.Unwritable(string(provider.AbilitySearch), "a tool has the name of the vendor's search, "+searchName)
	}
	return p.VetHeader(o.Header, headerVersion)
}

// body returns the JSON of a request, with the fields that its config adds.
func body(req *provider.Request, w *request) ([]byte, error) {
	data, err := wire.Body(w)
	if err != nil || req.Options == nil {
		return data, err
	}
	return wire.Extend(data, req.Options.Extra)
}
