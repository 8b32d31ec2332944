package flow

import (
	"cmp"
	"iter"
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// Seat is where a config says which model is asked, and how. A config has its own structs for that, such as
// debate.Participant and arbiter.Agent, whose fields differ in name and place. Each of these structs lists its fields once, in a
// Seat. Copies, checks, requirements and calls are made from the Seat, so that a new field is added to the structs and here.
//
// A Seat points into the config and is used while the config does not move. It may be copied.
type Seat struct {
	Field string // the place in the config, such as "participants[0]"; "" if neither checks nor requirements need it
	By    string // the actor, as calls name it

	// Model, Fallbacks and Options are never nil. Temperature and MaxTokens are nil if the struct has no such field.
	Model       *string
	Fallbacks   *[]string
	Temperature **float64
	MaxTokens   *int
	Options     **provider.Options

	// Shared is the temperature of the config, for a seat without one of its own. nil: there is none.
	Shared *float64
	// Usual is the temperature that Normalize writes out. It is no requirement. 0: Normalize writes none.
	Usual float64

	Tools bool // that of its Requirement
	// Vacant means that the config has no model here and expects none: the seat requires nothing.
	Vacant bool
}

// Clone replaces what the fields refer to by copies. A config that is copied deeply calls it on the seats of the copy.
func (s Seat) Clone() {
	*s.Fallbacks, *s.Options = slices.Clone(*s.Fallbacks), (*s.Options).Clone()
	if s.Temperature != nil {
		*s.Temperature = CloneValue(*s.Temperature)
	}
}

// Clear empties the fields, so that a copy of the struct does not say which model is asked.
func (s Seat) Clear() {
	*s.Model, *s.Fallbacks, *s.Options = "", nil, nil
	if s.Temperature != nil {
		*s.Temperature = nil
	}
	if s.MaxTokens != nil {
		*s.MaxTokens = 0
	}
}

// Normalize writes out the temperature that is left to the flow.
func (s Seat) Normalize() {
	if s.Usual != 0 && *s.Temperature == nil {
		*s.Temperature = new(s.Usual)
	}
}

// Check refuses what no model accepts: a temperature, options or a limit of tokens that is out of bounds.
func (s Seat) Check(f *Findings) {
	if s.Temperature != nil {
		f.Temperature(s.Field+".temperature", *s.Temperature)
	}
	f.Options(s.Field+".options", *s.Options)
	if s.MaxTokens != nil && *s.MaxTokens < 0 {
		f.Addf(s.Field+".maxTokens", "is negative")
	}
}

// CheckFallbacks refuses more than 16 fallbacks. It reports whether there are at most so many: a longer list should not be
// worked through.
func (s Seat) CheckFallbacks(f *Findings) bool {
	f.AtMost(s.Field+".fallbacks", len(*s.Fallbacks), maxFallbacks)
	return len(*s.Fallbacks) <= maxFallbacks
}

// Given returns the names of the fields that are set beside Model. A flow refuses them where no model is asked.
func (s Seat) Given() []string {
	var names []string
	for _, one := range []struct {
		name string
		set  bool
	}{
		{"fallbacks", len(*s.Fallbacks) > 0},
		{"temperature", s.Temperature != nil && *s.Temperature != nil},
		{"maxTokens", s.MaxTokens != nil && *s.MaxTokens != 0},
		{"options", *s.Options != nil},
	} {
		if one.set {
			names = append(names, one.name)
		}
	}
	return names
}

// Models yields the fields that name the model and its fallbacks, with the names.
func (s Seat) Models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) { EachModel(yield, s.Field, *s.Model, *s.Fallbacks) }
}

// Requirement returns what the seat's requests ask of a model beyond text.
func (s Seat) Requirement() Requirement {
	d := Requirement{By: s.By, Model: *s.Model, Options: *s.Options, Tools: s.Tools}
	if s.Temperature != nil && *s.Temperature != nil {
		d.Temperature = s.Usual == 0 || **s.Temperature != s.Usual
	}
	return d
}

// Ask writes into a call who is asked, which model, and how.
func (s Seat) Ask(call *Call) {
	call.By, call.Model, call.Fallbacks, call.Options = s.By, *s.Model, *s.Fallbacks, *s.Options
	if call.Temperature = s.Shared; s.Temperature != nil {
		call.Temperature = cmp.Or(*s.Temperature, s.Shared)
	}
	if s.MaxTokens != nil {
		call.MaxTokens = *s.MaxTokens
	}
}

// Seats yields the seats of a config, in its order.
type Seats iter.Seq[Seat]

// Models yields every field that names a model, with the name: those of the seats, then the summarizer; see [Config].Models. A
// config whose flow knows no summarizer passes [NoSummarizer], and none is yielded.
func (all Seats) Models(summarizer string) iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for s := range all {
			if !EachModel(yield, s.Field, *s.Model, *s.Fallbacks) {
				return
			}
		}
		if summarizer != NoSummarizer {
			yield("summarizer", summarizer)
		}
	}
}

// Requirements yields what each seat requires, with the field of its options; see [Requiring].
func (all Seats) Requirements() iter.Seq2[string, Requirement] {
	return func(yield func(field string, required Requirement) bool) {
		for s := range all {
			if !s.Vacant && !yield(s.Field+".options", s.Requirement()) {
				return
			}
		}
	}
}

// maxFallbacks bounds the fallbacks of one seat.
const maxFallbacks = 16
