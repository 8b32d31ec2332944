package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// searchName is the name of the vendor's search. No tool of a request can have it beside the search.
const searchName = "web_search"

// leastTopP is the least top_p that the API takes together with thinking.
const leastTopP = 0.95

// ownHeaders are those that the SDK writes.
//
//nolint:gochecknoglobals // read only
var ownHeaders = []string{
	"Anthropic-Version", "X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-Os", "X-Stainless-Arch", "X-Stainless-Runtime",
	"X-Stainless-Runtime-Version", "X-Stainless-Retry-Count", "X-Stainless-Timeout",
}

// lacks returns what the API has no field for with a model.
func lacks(model string) []provider.Ability {
	lacking := []provider.Ability{provider.AbilitySeed, provider.AbilityVerbosity}
	if t, _ := traitsOf(model); !t.adaptive && !t.budget {
		lacking = append(lacking, provider.AbilityEffort, provider.AbilityReasoning)
	}
	return lacking
}

// write writes a request in the SDK's types, or fails because the API has no words for it.
func (p *Provider) write(req *provider.Request, t *wire.Terms) (sdk.MessageNewParams, error) {
	if err := p.vet(req); err != nil {
		return sdk.MessageNewParams{}, err
	}
	req, err := form(req, t)
	if err != nil {
		return sdk.MessageNewParams{}, err
	}
	w := p.params(req, t)
	o := req.Options
	if o == nil {
		return w, nil
	}
	if o.TopP != nil {
		if w.Thinking.OfEnabled != nil || w.Thinking.OfAdaptive != nil {
			if *o.TopP < leastTopP {
				return w, wire.Unwritable("topP", "a model that thinks takes no top_p below 0.95")
			}
		}
		w.TopP = param.NewOpt(*o.TopP)
	}
	w.StopSequences = slices.Clone(o.Stop)
	w.ServiceTier = sdk.MessageNewParamsServiceTier(o.ServiceTier)
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
	return p.VetHeader(o.Header, ownHeaders...)
}

// body returns the JSON of a request, with the fields that its config adds.
func (p *Provider) body(req *provider.Request, w *sdk.MessageNewParams) (json.RawMessage, error) {
	more := map[string]any{"stream": true}
	if p.Vertex != "" { // the model is part of the path
		more["model"] = param.Omit
	}
	w.SetExtraFields(more)
	data, err := json.Marshal(w)
	if err != nil {
		return nil, wire.Unwritable("request", "the request cannot be written as JSON")
	}
	if p.Vertex != "" { // here, because the SDK writes several fields in any order
		data, _ = wire.Extend(data, map[string]json.RawMessage{"anthropic_version": json.RawMessage(`"` + versionVertex + `"`)})
	}
	if req.Options == nil {
		return data, nil
	}
	return wire.Extend(data, req.Options.Extra)
}
