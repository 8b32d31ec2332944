package openaicompat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Abilities tells what a model can do: what the Dialect says and, with OpenRouter and Mistral, what the server's list of
// models says of it. What neither knows is unknown. A failure is a [*provider.Error].
func (p *Provider) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	d := p.dialect(model)
	has := d.abilities()
	var told provider.Abilities
	var err error
	switch p.VendorName {
	case "openrouter":
		told, err = p.listed(ctx, model)
	case "mistral":
		told, err = p.described(ctx, model)
	}
	for a, able := range told {
		if known, ok := has[a]; !ok || known { // what the protocol has no word for, no model has
			has[a] = able
		}
	}
	return has, err
}

// maxSupported is how many parameters or media types a list names for a model.
const maxSupported = 1 << 8

// listed reads what OpenRouter's list says of a model.
func (p *Provider) listed(ctx context.Context, model string) (provider.Abilities, error) {
	data, err := p.fetch(ctx, "models")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	var models []struct {
		ID           string            `json:"id"`
		Parameters   wire.List[string] `json:"supported_parameters"`
		Architecture struct {
			Input wire.List[string] `json:"input_modalities"`
		} `json:"architecture"`
	}
	has := provider.Abilities{}
	if json.Unmarshal(data, &answer) != nil || wire.Longer(answer.Data, maxModels) || json.Unmarshal(answer.Data, &models) != nil {
		return has, nil //nolint:nilerr // a list in another format says nothing
	}
	for i := range models {
		m := &models[i]
		if !sameModel(m.ID, model) {
			continue
		}
		if len(m.Parameters) > 0 && len(m.Parameters) <= maxSupported {
			for a, name := range map[provider.Ability]string{
				provider.AbilityTemperature: "temperature", provider.AbilityTopP: "top_p", provider.AbilityStop: "stop",
				provider.AbilitySeed: "seed", provider.AbilityEffort: "reasoning", provider.AbilityReasoning: "include_reasoning",
				provider.AbilityTools: "tools",
			} {
				has[a] = slices.Contains(m.Parameters, name)
			}
			for a, name := range map[provider.Ability]string{
				provider.AbilitySchema: "structured_outputs", provider.AbilityVerbosity: "verbosity", // not listed for all that take them
			} {
				if slices.Contains(m.Parameters, name) {
					has[a] = true
				}
			}
		}
		if len(m.Architecture.Input) > 0 {
			has[provider.AbilityImage] = slices.Contains(m.Architecture.Input, "image")
		}
		break
	}
	return has, nil
}

// described reads what Mistral says of a model.
func (p *Provider) described(ctx context.Context, model string) (provider.Abilities, error) {
	data, err := p.fetch(ctx, "models/"+url.PathEscape(model))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Capabilities struct {
			Vision *bool `json:"vision"`
			Tools  *bool `json:"function_calling"`
		} `json:"capabilities"`
	}
	has := provider.Abilities{}
	if json.Unmarshal(data, &answer) != nil {
		return has, nil //nolint:nilerr // an answer in another format says nothing
	}
	if can := answer.Capabilities.Vision; can != nil {
		has[provider.AbilityImage] = *can
	}
	if can := answer.Capabilities.Tools; can != nil {
		has[provider.AbilityTools] = *can
	}
	return has, nil
}

// fetch returns the answer to a request without a body.
func (p *Provider) fetch(ctx context.Context, path string) ([]byte, error) {
	x, err := p.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodGet, path, nil); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return nil, x.Cut(err)
	}
	return data, nil
}
