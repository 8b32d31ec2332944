package bedrock

import (
	"regexp"
	"slices"
	"strings"
)

// family is what differs between the models that Bedrock serves. It is told by a model's name, because
// the API does not tell it: "anthropic.claude-…", "us.anthropic.claude-…", or an ARN that ends in either.
// The ARN of a profile of one's own account names no model, and counts as a model that has nothing.
type family struct {
	cache     bool // marks for the prompt cache
	schema    bool // outputConfig
	choice    bool // a tool that has to be called
	alone     bool // tool results stand alone in their message
	noStatus  bool // tool results have no status
	strictIDs bool // the ids of tool calls have no dots and colons
}

// The names of the models that accept a schema, from the vendor's list. The lists of Anthropic's own
// models and of Bedrock's differ.
//
//nolint:gochecknoglobals // read only
var schemaModels = []string{
	"anthropic.claude-haiku-4-5", "anthropic.claude-sonnet-4-5", "anthropic.claude-sonnet-4-6",
	"anthropic.claude-opus-4-5", "anthropic.claude-opus-4-6",
	"mistral.magistral-small", "mistral.ministral-3", "mistral.mistral-large-3", "mistral.voxtral",
	"qwen.qwen3", "google.gemma-3-12b-it", "google.gemma-3-27b-it", "minimax.minimax-m2", "nvidia.nemotron-nano",
	"moonshot.", "moonshotai.", "zai.", "openai.gpt-oss",
}

// The first models of Claude, which have no prompt cache.
//
//nolint:gochecknoglobals // read only
var uncached = []string{
	"claude-v2", "claude-2", "claude-instant", "claude-3-sonnet", "claude-3-opus", "claude-3-haiku",
	"claude-3-5-sonnet",
}

// regional is the beginning of the name of an inference profile, which spreads requests over regions.
var regional = regexp.MustCompile(`^(global|us|us-gov|eu|apac|ap|jp|au|ca|sa|me|af|il|mx)\.`)

// baseModel returns the name of a model without the region of an inference profile and without an ARN
// around it.
func baseModel(model string) string {
	if strings.HasPrefix(model, "arn:") {
		model = model[strings.LastIndex(model, "/")+1:]
	}
	return regional.ReplaceAllString(model, "")
}

// family returns what is known of a model, or said by the host program.
func (p *Provider) family(model string) family {
	f := familyOf(model)
	if p.CachePoints != nil {
		f.cache = p.CachePoints(model)
	}
	if p.Schemas != nil {
		f.schema = p.Schemas(model)
	}
	return f
}

func familyOf(model string) family {
	name := baseModel(model)
	begins := func(starts ...string) bool {
		return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(name, s) })
	}
	has := func(parts []string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(name, s) })
	}
	claude, nova := begins("anthropic.claude-"), begins("amazon.nova-")
	return family{
		cache:     nova || claude && !has(uncached),
		schema:    begins(schemaModels...),
		choice:    nova || claude && !has(uncached[:3]),
		alone:     begins("meta.", "mistral.", "writer."),
		noStatus:  begins("writer."),
		strictIDs: begins("anthropic.", "amazon."),
	}
}
