package ollama

import (
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

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !slices.Contains(images, wire.MediaType(part)) {
			return wire.Untaken(part, "Ollama")
		}
	}
	if err := wire.Lacking(req, lacking...); err != nil || req.Options == nil {
		return err
	}
	return p.VetHeader(req.Options.Header)
}

// lacking is what the API has no field for.
//
//nolint:gochecknoglobals // read only
var lacking = []provider.Ability{
	provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilitySearch, provider.AbilityPDF, provider.AbilityFile,
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
