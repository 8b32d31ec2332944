package openaicompat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Dialect is how a server takes what [provider.Options] ask for. The zero Dialect is OpenAI's names: reasoning_effort, top_p,
// stop, seed, service_tier, verbosity, with everything unknown but the web search, for which there is no common name.
type Dialect struct {
	// Unsupported are the abilities that the server or the model surely lacks.
	Unsupported []provider.Ability
	// Names are the fields that differ from OpenAI's names. A dot leads into an object: "reasoning.effort".
	Names map[provider.Ability]string
	// Efforts are the steps of the server's scale: some of none, minimal, low, medium, high, xhigh and max. nil: none to
	// high.
	Efforts []string
	// Think are the fields that switch thinking on, sent with each effort but none. NoThink are those that switch it off,
	// for a server that has no step none. Both are JSON objects; "": there are none.
	Think, NoThink string
	// Reasoning are the fields, a JSON object, that ask for the text of thoughts; "": the server shows them unasked, if it
	// shows them at all.
	Reasoning string
	// Search are the fields, a JSON object, that switch the server's own web search on; "": there are none.
	Search string
	// SearchTool is the type of the tool that is the server's own web search; "": there is none.
	SearchTool string
	// Always are fields, a JSON object, of each request, which neither the provider's Extra nor a config can change; "": there
	// are none.
	Always string
	// DocumentURL sends PDFs as document_url instead of file.
	DocumentURL bool
}

// dialect returns the dialect for a model.
func (p *Provider) dialect(model string) Dialect {
	if p.Dialect == nil {
		return Dialect{}
	}
	return p.Dialect(model)
}

// lacks returns what the server has no field for, and what the model surely lacks.
func (d *Dialect) lacks() []provider.Ability {
	lacking := append(slices.Clone(d.Unsupported), provider.AbilityFile)
	if d.Search == "" && d.SearchTool == "" {
		lacking = append(lacking, provider.AbilitySearch)
	}
	return lacking
}

// name returns the field for an ability.
func (d *Dialect) name(a provider.Ability) string {
	if name := d.Names[a]; name != "" {
		return name
	}
	return standard[a]
}

// standard are OpenAI's names.
//
//nolint:gochecknoglobals // read only
var standard = map[provider.Ability]string{
	provider.AbilityEffort: "reasoning_effort", provider.AbilityTopP: "top_p", provider.AbilityStop: "stop", provider.AbilitySeed: "seed",
	provider.AbilityServiceTier: "service_tier", provider.AbilityVerbosity: "verbosity",
}

// fields returns the fields for the options of a request. It fails with [wire.Unwritable] if the server has no step for
// an effort.
func (d *Dialect) fields(o *provider.Options) (map[string]json.RawMessage, error) {
	w := writer{dialect: d, object: []byte("{}")}
	w.add(d.Always)
	if o == nil {
		o = &provider.Options{}
	}
	if o.Effort != "" {
		w.effort(o.Effort)
	}
	if o.TopP != nil {
		w.set(provider.AbilityTopP, *o.TopP)
	}
	if len(o.Stop) > 0 {
		w.set(provider.AbilityStop, o.Stop)
	}
	if o.Seed != nil {
		w.set(provider.AbilitySeed, *o.Seed)
	}
	if o.ServiceTier != "" {
		w.set(provider.AbilityServiceTier, o.ServiceTier)
	}
	if o.Verbosity != "" {
		w.set(provider.AbilityVerbosity, o.Verbosity)
	}
	if o.Search {
		w.add(d.Search)
	}
	if o.Reasoning == provider.ReasoningAsk && o.Effort != provider.EffortNone {
		w.add(d.Reasoning)
	}
	if w.err != nil {
		return nil, w.err
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(w.object, &fields)
	return fields, err
}

// writer collects fields.
type writer struct {
	dialect *Dialect
	object  []byte
	added   []string
	err     error
}

// effort adds the step that is nearest to an effort, or what switches thinking on or off.
func (w *writer) effort(effort provider.Effort) {
	d := w.dialect
	steps := d.Efforts
	if steps == nil {
		steps = strings.Fields("none low medium high")
	}
	step, ok := wire.Nearest(effort, steps)
	switch {
	case effort == provider.EffortNone && d.NoThink != "":
		w.add(d.NoThink)
	case ok:
		w.set(provider.AbilityEffort, step)
		if effort != provider.EffortNone {
			w.add(d.Think)
		}
	case effort != provider.EffortNone && d.Think != "":
		w.add(d.Think)
	default:
		w.err = wire.Unwritable(string(provider.AbilityEffort), "the server has no reasoning effort "+string(effort))
	}
}

// set adds the field for an ability.
func (w *writer) set(a provider.Ability, v any) {
	data, err := value(v)
	if err != nil {
		w.err = wire.Unwritable(string(a), "the value cannot be written as JSON")
		return
	}
	names := strings.Split(w.dialect.name(a), ".")
	slices.Reverse(names)
	for _, name := range names {
		data, _ = value(map[string]json.RawMessage{name: data}) // it is valid
	}
	w.add(string(data))
}

// add adds the fields of a JSON object.
func (w *writer) add(object string) {
	if object == "" || w.err != nil || slices.Contains(w.added, object) {
		return
	}
	w.added = append(w.added, object)
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &fields) != nil {
		w.err = wire.Unwritable("dialect", "the fields of the Dialect are no JSON object")
		return
	}
	w.object, w.err = wire.Extend(w.object, fields)
}
