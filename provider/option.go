package provider

import (
	"encoding/json"
	"maps"
	"slices"
)

// Options are what a request can ask for beyond its text, as data of a config. The zero value of each field is the
// vendor's default. An adapter sends what its vendor has a field for. If the vendor surely has no field for an option, the
// request fails with kind validation and is not sent.
type Options struct {
	// Effort is how much the model thinks before it replies, on one scale for all vendors.
	Effort Effort `json:"effort,omitempty" redact:"-"`
	// TopP limits sampling to the likeliest tokens that have this share of the probability: above 0, at most 1.
	TopP *float64 `json:"topP,omitempty"`
	// Stop are texts before which the reply ends: at most 4 of at most 64 bytes.
	Stop []string `json:"stop,omitempty"`
	// Seed asks for the same reply to the same request. No vendor promises it.
	Seed *int64 `json:"seed,omitempty"`
	// ServiceTier is the vendor's own name of a class of service, such as "flex" or "priority". It can change the price.
	ServiceTier string `json:"serviceTier,omitempty" redact:"-"`
	// Verbosity is how long the model's replies should be.
	Verbosity Verbosity `json:"verbosity,omitempty" redact:"-"`
	// Search lets the model use the vendor's own web search. What it cites is in [Response.Citations].
	Search bool `json:"search,omitempty"`
	// Reasoning says what becomes of the text of the model's thoughts.
	Reasoning ReasoningText `json:"reasoning,omitempty" redact:"-"`
	// Extra are fields of the vendor's own, which are added to the body of the request. A field that the adapter writes
	// itself is a failure of kind validation. They hold no credentials: see [SecretField].
	Extra map[string]json.RawMessage `json:"extra,omitempty" redact:"keys"`
	// Header are further headers of the request. It holds no credentials: see [SecretHeader].
	Header map[string]string `json:"header,omitempty" redact:"keys"`
}

// Clone returns a copy that shares nothing with o. The clone of nil is nil.
func (o *Options) Clone() *Options {
	if o == nil {
		return nil
	}
	c := *o
	if o.TopP != nil {
		c.TopP = new(*o.TopP)
	}
	if o.Seed != nil {
		c.Seed = new(*o.Seed)
	}
	c.Stop, c.Extra, c.Header = slices.Clone(o.Stop), maps.Clone(o.Extra), maps.Clone(o.Header)
	for name, value := range c.Extra {
		c.Extra[name] = slices.Clone(value)
	}
	return &c
}

// Portable returns the options that another vendor can be asked for: all but Extra and Header. If o has neither, it returns o
// itself, otherwise a copy.
func (o *Options) Portable() *Options {
	if o == nil || len(o.Extra)+len(o.Header) == 0 {
		return o
	}
	c := o.Clone()
	c.Extra, c.Header = nil, nil
	return c
}

// Asks returns the abilities that the options need, in the order of the fields. nil asks for none.
func (o *Options) Asks() []Ability {
	if o == nil {
		return nil
	}
	var asked []Ability
	for _, one := range []struct {
		set     bool
		ability Ability
	}{
		{o.Effort != "", AbilityEffort},
		{o.TopP != nil, AbilityTopP},
		{len(o.Stop) > 0, AbilityStop},
		{o.Seed != nil, AbilitySeed},
		{o.ServiceTier != "", AbilityServiceTier},
		{o.Verbosity != "", AbilityVerbosity},
		{o.Search, AbilitySearch},
		{o.Reasoning == ReasoningAsk, AbilityReasoning},
	} {
		if one.set {
			asked = append(asked, one.ability)
		}
	}
	return asked
}

// Without returns the options without those that need one of these abilities. If no option does, it returns o itself,
// otherwise a copy.
func (o *Options) Without(abilities []Ability) *Options {
	if !slices.ContainsFunc(o.Asks(), func(a Ability) bool { return slices.Contains(abilities, a) }) {
		return o
	}
	c := o.Clone()
	for _, ability := range abilities {
		switch ability {
		case AbilityEffort:
			c.Effort = ""
		case AbilityTopP:
			c.TopP = nil
		case AbilityStop:
			c.Stop = nil
		case AbilitySeed:
			c.Seed = nil
		case AbilityServiceTier:
			c.ServiceTier = ""
		case AbilityVerbosity:
			c.Verbosity = ""
		case AbilitySearch:
			c.Search = false
		case AbilityReasoning:
			c.Reasoning = ReasoningShow
		default: // not an option
		}
	}
	return c
}

// Effort is how much a model thinks before it replies.
type Effort string

// The efforts, from the least to the most. An adapter maps them to its vendor's scale; where that has fewer steps, to
// the nearest. EffortNone switches thinking off: a model that always thinks lacks it.
const (
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortMax     Effort = "max"
)

// Efforts returns all efforts, from the least to the most.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortMax}
}

// Verbosity is how long a model's replies should be.
type Verbosity string

// The verbosities.
const (
	VerbosityLow    Verbosity = "low"
	VerbosityMedium Verbosity = "medium"
	VerbosityHigh   Verbosity = "high"
)

// ReasoningText says what becomes of the text of a model's thoughts. It is never part of the reply, and no other model
// reads it, but for what ReasoningInText leaves in the text.
type ReasoningText string

// The ways to treat the text of thoughts.
const (
	ReasoningShow ReasoningText = ""     // it is passed on if the vendor sends it
	ReasoningHide ReasoningText = "hide" // it is dropped
	ReasoningAsk  ReasoningText = "ask"  // the vendor is asked to send it, which some do only for verified accounts
	// ReasoningInText leaves thoughts that a model writes into its text there, with the tags around them: for texts that are
	// about such tags. Thoughts that the vendor sends apart are passed on.
	ReasoningInText ReasoningText = "text"
)
