package openaicompat

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Options that the adapter itself writes differently. Each is tried before the next: a strict schema without
// bounds, JSON of any form where the server has no schemas, a schema that is not strict, the schema in words.
const (
	optionStream = "stream"
	optionBounds = "response_format.json_schema.schema.properties"
	optionSchema = "response_format.json_schema"
	optionStrict = "response_format.json_schema.strict"
	optionFormat = "response_format"
)

// effortWords are words by which servers refuse an effort without the name of its field: xAI, and Gemini's endpoint.
//
//nolint:gochecknoglobals // read only
var effortWords = []string{
	"invalid reasoning effort", "thinking level", "thinking_level", "thinking budget", "thinking_budget", "thinking is not", "thinking mode",
}

// options returns the parts of a request that models refuse, as the adapter names them.
func (p *Provider) options(req *provider.Request) []wire.Option {
	limit := wire.Option{Name: "max_tokens", Instead: "max_completion_tokens"}
	if p.MaxCompletionTokens {
		limit.Name, limit.Instead = limit.Instead, limit.Name
	}
	list := []wire.Option{
		{Name: "temperature"},
		limit,
		{Name: "stream_options", Quiet: true},
		{Name: optionStream, Own: true, Quiet: true},
		{Name: optionBounds, Own: true, Quiet: true, Words: wire.BoundWords()},
		{Name: optionSchema, Own: true, Words: []string{
			"response_format type", "response_format.type", "response format `json_schema`", "type `json_schema`", "type 'json_schema'",
			"type json_schema", "structured output", "specified schema",
		}},
		{Name: optionStrict, Own: true, Words: []string{"response_format", "response format", "json schema", "grammar", "schema is too complex"}},
		{Name: optionFormat, Own: true, Words: []string{"response format", "json schema", "grammar", "schema is too complex"}},
	}
	d := p.dialect(req.Model)
	for _, a := range req.Options.Asks() {
		if standard[a] == "" {
			continue
		}
		o := wire.Option{Name: d.name(a)}
		if a == provider.AbilityEffort {
			o.Words = effortWords
		}
		list = append(list, o)
	}
	if !p.JoinRoles {
		list = append(list, wire.RolesOption("messages"))
	}
	if req.System != "" {
		list = append(list, wire.SystemOption("messages"))
	}
	return list
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request, d *Dialect) error {
	for part := range wire.Parts(req) {
		if !taken(part) {
			return wire.Untaken(part, p.String())
		}
	}
	if err := wire.Lacking(req, d.lacks()...); err != nil || req.Options == nil {
		return err
	}
	return p.VetHeader(req.Options.Header)
}

// reserved are fields that the adapter relies on, whether it writes them or not.
//
//nolint:gochecknoglobals // read only
var reserved = []string{
	"messages", "model", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens", "temperature", "response_format", "tools",
}

// extended adds to a request the fields for its options, those of the provider's Extra that the request does not have, and
// those of the config's Extra.
func (p *Provider) extended(w *wireRequest, own map[string]json.RawMessage, o *provider.Options) ([]byte, error) {
	body, err := wire.Body(w)
	if err != nil {
		return nil, err
	}
	var config map[string]json.RawMessage
	if o != nil {
		config = o.Extra
	}
	if body, err = wire.Extend(body, own); err != nil {
		return nil, err
	}
	more := maps.Clone(p.Extra)
	if len(more) > 0 {
		var named map[string]json.RawMessage
		_ = json.Unmarshal(body, &named) // an object, as it was written
		maps.DeleteFunc(more, func(name string, _ any) bool { return named[name] != nil || config[name] != nil })
	}
	extra := make(map[string]json.RawMessage, len(more))
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if extra[name], err = value(more[name]); err != nil {
			return nil, err
		}
	}
	if body, err = wire.Extend(body, extra); err != nil {
		return nil, err
	}
	return wire.Extend(body, config, reserved...)
}

// value returns a value as JSON, without escaping.
func value(v any) (json.RawMessage, error) {
	data, err := wire.Body(v)
	return bytes.TrimSpace(data), err
}
