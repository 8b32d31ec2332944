package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Bounds of the options of a request.
const (
	maxStops      = 4 // OpenAI takes no more
	maxStop       = 64
	maxTier       = 64
	maxExtra      = 64 << 10
	maxHeaders    = 32
	maxHeader     = 1024
	maxHeaderName = 128
)

//nolint:gochecknoglobals // read only
var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	tierName   = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	// ownHeaders are written by every adapter, or belong to the connection.
	ownHeaders = []string{
		"host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "accept",
		"accept-encoding", "upgrade", "te", "trailer", "expect", "user-agent",
	}
)

// options refuses options that no vendor accepts, and headers that would carry credentials. nil is valid.
func (f *Findings) options(field string, o *provider.Options) {
	if o == nil {
		return
	}
	if o.Effort != "" && !slices.Contains(provider.Efforts(), o.Effort) {
		f.Addf(field+".effort", "%w", Unknown("effort", o.Effort, provider.Efforts()...))
	}
	if p := o.TopP; p != nil && !(*p > 0 && *p <= 1) {
		f.Addf(field+".topP", "must be above 0 and at most 1")
	}
	if len(o.Stop) > maxStops {
		f.Addf(field+".stop", "has %d texts: at most %d are allowed", len(o.Stop), maxStops)
	}
	for _, stop := range o.Stop[:min(len(o.Stop), maxStops)] {
		if f.Text(field+".stop", stop, maxStop); stop == "" {
			f.Addf(field+".stop", "holds an empty text")
		}
	}
	if o.ServiceTier != "" && (len(o.ServiceTier) > maxTier || !tierName.MatchString(o.ServiceTier)) {
		f.Addf(field+".serviceTier", "is not a word of at most %d letters, digits, \"_\", \".\", \":\" and \"-\"", maxTier)
	}
	switch o.Verbosity {
	case "", provider.VerbosityLow, provider.VerbosityMedium, provider.VerbosityHigh:
	default:
		known := []provider.Verbosity{"", provider.VerbosityLow, provider.VerbosityMedium, provider.VerbosityHigh}
		f.Addf(field+".verbosity", "%w", Unknown("verbosity", o.Verbosity, known...))
	}
	switch o.Reasoning {
	case provider.ReasoningShow, provider.ReasoningHide, provider.ReasoningAsk, provider.ReasoningInText:
	default:
		known := []provider.ReasoningText{provider.ReasoningShow, provider.ReasoningHide, provider.ReasoningAsk, provider.ReasoningInText}
		f.Addf(field+".reasoning", "%w", Unknown("", o.Reasoning, known...))
	}
	f.extra(field+".extra", o.Extra)
	f.headers(field+".header", o.Header)
}

func (f *Findings) extra(field string, extra map[string]json.RawMessage) {
	size := 0
	for name, value := range order.ByKey(extra) {
		size += len(name) + len(value)
		if _, err := json.Marshal(value); name == "" || len(value) == 0 || err != nil || ReadableJSON(value) != nil {
			f.Addf(field, "the value of %q is not JSON without repeated keys, or has no name", text.OneLine(name, 40))
			continue
		}
		var tree any
		if err := json.Unmarshal(value, &tree); err == nil && holdsSecret(name, tree) {
			f.Addf(field, "%q holds what looks like a credential: they belong to the provider's value, because configs are recorded",
				text.OneLine(redact.Foreign(name), 40))
		}
	}
	if size > maxExtra {
		f.Addf(field, "has %d bytes: at most %d are allowed", size, maxExtra)
	}
}

// holdsSecret reports whether a field of a JSON object looks like a credential by its name or its text, or holds one that does.
func holdsSecret(name string, value any) bool {
	if redact.Carries(name) {
		return true
	}
	switch value := value.(type) {
	case string:
		return value != "" && provider.SecretField(name) || redact.Carries(value)
	case []any:
		return slices.ContainsFunc(value, func(one any) bool { return holdsSecret(name, one) })
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if holdsSecret(key, value[key]) {
				return true
			}
		}
	}
	return false
}

func (f *Findings) headers(field string, header map[string]string) {
	if len(header) > maxHeaders {
		f.Addf(field, "has %d headers: at most %d are allowed", len(header), maxHeaders)
		return
	}
	seen := make(map[string]bool, len(header))
	for name, value := range order.ByKey(header) {
		shown, lower := text.OneLine(name, 40), strings.ToLower(name)
		switch {
		case len(name) > maxHeaderName || !headerName.MatchString(name):
			f.Addf(field, "%q is not the name of a header", shown)
		case provider.SecretHeader(name):
			f.Addf(field, "%q carries credentials: they belong to the provider's value, because configs are recorded", shown)
		case redact.Carries(value):
			f.Addf(field, "the value of %q looks like a credential: they belong to the provider's value, because configs are recorded", shown)
		case slices.Contains(ownHeaders, lower):
			f.Addf(field, "%q is written by the provider", shown)
		case seen[lower]:
			f.Addf(field, "%q is a duplicate", shown)
		case len(value) > maxHeader || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' }):
			f.Addf(field, "the value of %q is not at most %d printable ASCII characters", shown, maxHeader)
		}
		seen[lower] = true
	}
}

// This file checks that models can do what is asked of them.

// Models yields the models that the conversation may ask, as "provider/model", with their prices and sizes: those of its
// start, and those that were chosen since.
func (r *Record) Models() iter.Seq2[string, Model] {
	return func(yield func(string, Model) bool) {
		for i := range r.models {
			if !yield(r.models[i].name, r.models[i].Model) {
				return
			}
		}
	}
}

// knows adds the row of a model. If the model is known, its prices and sizes stay, and it lacks what the row lacks too.
func (r *Record) knows(name string, row Model) {
	known := r.model(name)
	switch {
	case known == nil:
		r.models = append(r.models, namedModel{name, row})
	case len(row.Unsupported) > 0:
		all := slices.Concat(known.Unsupported, row.Unsupported)
		slices.Sort(all)
		known.Unsupported = slices.Compact(all)
	}
}

// requirementOf returns what an actor's requests ask for beyond text. "": nobody's.
func (r *Record) requirementOf(by string) Requirement {
	if by == "" {
		return Requirement{}
	}
	for _, d := range Requirements(r.config) {
		if d.by == by {
			return d
		}
	}
	return Requirement{}
}

// able returns why a model is known not to do what is asked of it, by the row that the conversation has and by the one that comes with
// the choice; nil: there is none. A model that takes over, as fallbacks do, is asked without what it lacks: no requirement is given for
// it.
func (r *Record) able(name string, given *Model, d Requirement, files []File) error {
	for _, row := range []*Model{r.model(name), given} {
		if row == nil {
			continue
		}
		if err := modelCannot(*row, d, files); err != nil {
			return fmt.Errorf("%q: %w", text.OneLine(name, 80), err)
		}
	}
	return nil
}

// Unreadable reports models that the rest of the conversation may ask, and that are known to be unable to read its files. A
// fork can have such models. The error joins one error of kind validation for each field of the config. nil: there are none.
func (c *Core) Unreadable() error {
	if c.record.start == nil {
		return nil
	}
	return c.unreadable("config", c.record.Files())
}

// unreadable finds the models that the rest of the conversation may ask and that are known to be unable to read files.
func (c *Core) unreadable(op string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	var found []error
	seen := make(map[string]bool)
	for _, n := range c.mayAsk(c.record.settings, nil) {
		if seen[n.Model] {
			continue
		}
		seen[n.Model] = true
		if err := c.record.able(n.Model, nil, Requirement{}, files); err != nil {
			found = append(found, &Error{Kind: provider.KindValidation, Op: op, Field: c.record.fieldOf(n.Model), Err: err})
		}
	}
	return errors.Join(found...)
}

// fieldOf returns the field of the config that names a model first, or the actor for whom it was chosen, as a field of an
// [Amendment].
func (r *Record) fieldOf(model string) string {
	for field, name := range Models(r.config) {
		if name == model {
			return field
		}
	}
	for i := range r.swaps {
		if swap := &r.swaps[i]; swap.model == model || slices.Contains(swap.fallbacks, model) {
			return "models." + text.OneLine(swap.by, 80)
		}
	}
	return "models"
}
