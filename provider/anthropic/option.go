package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
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

// Vet checks whether a request can be written, as Generate does before it sends it.
func (p *Provider) Vet(req *provider.Request) error {
	w, err := p.write(req, nil)
	if err == nil {
		_, err = p.body(req, &w)
	}
	return err
}

// Abilities tells what a model can do: what its name says and, if the vendor describes the model, what the description
// says. Asking for it costs nothing.
func (p *Provider) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	has := abilities(model)
	if model == "" || p.Vertex != "" { // whose descriptions tell no abilities
		return has, nil
	}
	x, err := p.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var told description
	err = p.send(x, http.MethodGet, "v1/models/"+url.PathEscape(model), nil)
	if err == nil {
		err = whole(x, &told, func() bool { return told.ID != "" })
	}
	if ctx.Err() != nil && err != nil {
		return nil, err
	}
	if err == nil {
		told.add(has)
	}
	return has, nil
}

// abilities returns what the protocol and the name of a model say.
func abilities(model string) provider.Abilities {
	has := provider.Abilities{
		provider.AbilitySeed: false, provider.AbilityVerbosity: false, provider.AbilityStop: true, provider.AbilityServiceTier: true,
	}
	t, known := traitsOf(model)
	if !known {
		return has
	}
	has[provider.AbilityEffort] = t.adaptive || t.budget
	has[provider.AbilityReasoning] = t.adaptive || t.budget
	has[provider.AbilityTemperature], has[provider.AbilityTopP] = t.sampled, t.sampled
	has[provider.AbilitySearch] = t.search
	has[provider.AbilityImage] = true
	return has
}

// description is what the vendor says of a model. A capability that is nil was not told.
type description struct {
	ID           string `json:"id"`
	Capabilities struct {
		Effort   *capability `json:"effort"`
		Thinking struct {
			Supported *bool `json:"supported"`
			Types     struct {
				Enabled *capability `json:"enabled"`
			} `json:"types"`
		} `json:"thinking"`
		Image  *capability `json:"image_input"`
		PDF    *capability `json:"pdf_input"`
		Schema *capability `json:"structured_outputs"`
		Server struct {
			Search *capability `json:"web_search"`
		} `json:"server_tools"`
	} `json:"capabilities"`
}

type capability struct {
	Supported *bool `json:"supported"`
}

// add adds what was told.
func (d *description) add(has provider.Abilities) {
	c := &d.Capabilities
	for ability, told := range map[provider.Ability]*capability{
		provider.AbilityImage: c.Image, provider.AbilityPDF: c.PDF, provider.AbilitySchema: c.Schema, provider.AbilitySearch: c.Server.Search,
		provider.AbilityReasoning: {c.Thinking.Supported},
	} {
		if told != nil && told.Supported != nil {
			has[ability] = *told.Supported
		}
	}
	effort, budget := c.Effort, c.Thinking.Types.Enabled
	if effort != nil && effort.Supported != nil && budget != nil && budget.Supported != nil {
		has[provider.AbilityEffort] = *effort.Supported || *budget.Supported
	}
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
	if err := wire.Lacking(req, abilities(req.Model)); err != nil || req.Options == nil {
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
