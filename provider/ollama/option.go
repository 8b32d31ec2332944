package ollama

import (
	"context"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// images are the media types of images that the server reads.
//
//nolint:gochecknoglobals // read only
var images = []string{"image/png", "image/jpeg", "image/webp"}

// reserved are fields that the adapter relies on, whether it writes them or not.
//
//nolint:gochecknoglobals // read only
var reserved = []string{
	"model", "messages", "stream", "truncate", "shift", "format", "tools", "think", "keep_alive",
	"options.num_predict", "options.temperature", "options.num_ctx",
}

// Vet checks whether a request can be written, as Generate does before it sends it.
func (p *Provider) Vet(req *provider.Request) error {
	_, err := p.encode(req, nil)
	return err
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !slices.Contains(images, wire.MediaType(part)) {
			return wire.Untaken(part, "Ollama")
		}
	}
	if err := wire.Lacking(req, known()); err != nil || req.Options == nil {
		return err
	}
	return p.VetHeader(req.Options.Header)
}

// known is what the API has and lacks for all models.
func known() provider.Abilities {
	return provider.Abilities{
		provider.AbilityTemperature: true, provider.AbilityTopP: true, provider.AbilityStop: true, provider.AbilitySeed: true,
		provider.AbilitySchema: true, provider.AbilityServiceTier: false, provider.AbilityVerbosity: false, provider.AbilitySearch: false,
		provider.AbilityPDF: false, provider.AbilityFile: false,
	}
}

// Abilities tells what a model can do: what the API has words for, and what the server says of the model, without
// loading it. Older servers say nothing. A failure is a [*provider.Error].
func (p *Provider) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	has := known()
	var answer struct {
		Capabilities wire.List[string] `json:"capabilities"`
	}
	if _, err := p.ask(ctx, "api/show", model, map[string]any{"model": model}, &answer); err != nil {
		return has, err
	}
	can := func(name string) bool { return slices.Contains(answer.Capabilities, name) }
	if len(answer.Capabilities) > 0 {
		has[provider.AbilityImage], has[provider.AbilityTools] = can("vision"), can("tools")
		has[provider.AbilityEffort], has[provider.AbilityReasoning] = can("thinking"), can("thinking")
	}
	return has, nil
}

// ask writes what the request asks for.
func (w *wireRequest) ask(req *provider.Request) error {
	o := req.Options
	if o == nil {
		return nil
	}
	switch {
	case o.Effort == provider.EffortNone && strings.Contains(strings.ToLower(req.Model), "gpt-oss"):
		return wire.Unwritable(string(provider.AbilityEffort), "the model "+wire.Clip(req.Model)+" always thinks")
	case o.Effort == provider.EffortNone:
		w.Think = false
	case o.Effort != "":
		step, ok := wire.Nearest(o.Effort, []string{"low", "medium", "high", "max"})
		if !ok {
			return wire.Unwritable(string(provider.AbilityEffort), "the server has no effort "+wire.Clip(string(o.Effort)))
		}
		w.Think = step
	case o.Reasoning == provider.ReasoningAsk && (w.Think == nil || w.Think == false):
		w.Think = true
	}
	if o.TopP != nil {
		w.Options["top_p"] = *o.TopP
	}
	if len(o.Stop) > 0 {
		w.Options["stop"] = o.Stop
	}
	if o.Seed != nil {
		w.Options["seed"] = *o.Seed
	}
	return nil
}
