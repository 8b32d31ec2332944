package flow

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/provider"
)

// Seat is where a config says which model is asked, and how. A config has its own structs for that, such as
// debate.Participant and arbiter.Agent, whose fields differ in name and place. Each of these structs lists its fields once, in a
// Seat. Copies, checks, requirements, calls and amendments are made from the Seat, so that a new field is added to the structs and here.
//
// A Seat points into the config and is used while the config does not move. It may be copied.
type Seat struct {
	Field string // the place in the config, such as "participants[0]"; "": the config itself
	// By is the actor, as calls name it. An amendment gives another model to it by this name. Several seats may share the fields of a
	// config, if one model plays several actors.
	By string

	// Model is never nil. The others are nil if the struct has no such field.
	Model       *string
	Fallbacks   *[]string
	Temperature **float64
	MaxTokens   *int
	Options     **provider.Options

	// Shared is the temperature of the config, in its field "temperature", for seats without one of their own. nil: there is none.
	Shared **float64
	// Usual is the temperature that Normalize writes out: into Shared, if there is one, and else into Temperature. The latter is no
	// requirement. 0: Normalize writes none.
	Usual float64

	// Function names what stands in place of a model in Engine.Functions, and the field that names it. Person means that a person does.
	Function NameField
	Person   bool
	// Term is how long the person has, and who stands in. nil: the struct has no such fields.
	Term *Term

	Tools bool // that of its Requirement
	// Vacant means that nobody need take the seat: Check accepts that it names no model.
	Vacant bool
	// Replaceable means that an amendment may give the actor a model though the config names none. An actor with a model can always be
	// given another one.
	Replaceable bool
	// Anew means that the calls of the actor leave out what tells of an earlier conclusion; see [View].Anew.
	Anew bool
}

// at returns the place of a field of the seat.
func (s Seat) at(name string) string { return strings.TrimPrefix(s.Field+"."+name, ".") }

// Clear empties the fields, so that a copy of the struct does not say which model is asked.
func (s Seat) Clear() {
	*s.Model = ""
	clearField(s.Fallbacks)
	clearField(s.Options)
	clearField(s.Temperature)
	clearField(s.MaxTokens)
	clearField(s.Term)
}

func clearField[T any](field *T) {
	if field != nil {
		*field = *new(T)
	}
}

// value returns what a field holds; the zero value if the struct has no such field.
func value[T any](field *T) (v T) {
	if field != nil {
		v = *field
	}
	return v
}

// Check refuses a seat unless exactly one of a model, a function and a person takes it. It also refuses names that the registry does not
// know, and a temperature, options or a limit of tokens that no model accepts. It is for Flow.Check, and known is what that is given. If
// known is nil, only the form of names is checked.
func (s Seat) Check(f *Findings, known Registry) {
	taken := 0
	for _, is := range []bool{*s.Model != "", s.Function.Name != "", s.Person} {
		if is {
			taken++
		}
	}
	if taken > 1 {
		f.Addf(s.Field, "names %d of a model, a function and a person: only one is possible", taken)
	}
	if s.Function.Name != "" && known != nil {
		if err := known.Function(s.Function.Name); err != nil {
			f.Addf(s.Function.Field, "%w", err)
		}
	}
	if *s.Model != "" || taken == 0 && !s.Vacant || s.Person && value(s.Term).StandIn != "" {
		s.checkModels(f, known)
	}
	s.checkTerm(f)
	const beyond = "is not between 0 and 2"
	if !temperate(value(s.Shared)) && !f.about(sharedTemperature) {
		f.Addf(sharedTemperature, beyond)
	}
	if !temperate(value(s.Temperature)) {
		f.Addf(s.at("temperature"), beyond)
	}
	if o := value(s.Options); o != nil {
		f.options(s.at("options"), o)
	}
	if value(s.MaxTokens) < 0 {
		f.Addf(s.at("maxTokens"), "is negative")
	}
}

// sharedTemperature is the field of a config that Seat.Shared points to.
const sharedTemperature = "temperature"

// maxFallbacks bounds the fallbacks of one seat.
const maxFallbacks = 16

// checkModels refuses models that cannot be asked, and more than 16 fallbacks: a longer list is not worked through.
func (s Seat) checkModels(f *Findings, known Registry) {
	if n := len(value(s.Fallbacks)); n > maxFallbacks {
		f.AtMost(s.at("fallbacks"), n, maxFallbacks)
		s.Fallbacks = nil
	}
	for field, name := range s.models() {
		if name == "" && (s.Person || s.Function.Name != "") {
			continue // only the stand-in is named
		}
		err := modelForm(name)
		if known != nil {
			err = known.Model(name)
		}
		if err != nil {
			f.Addf(field, "%w", err)
		}
	}
}

// modelForm returns why a text is not the name of a model.
func modelForm(name string) error {
	switch _, _, ok := SplitModel(name); {
	case name == "":
		return errors.New("is empty: it must be \"provider/model\"")
	case !ok:
		return fmt.Errorf("%.80q is not \"provider/model\"", name)
	default:
		return nil
	}
}

// temperate reports whether a temperature is from 0 to 2: no vendor accepts another one. nil is the default.
func temperate(t *float64) bool { return t == nil || *t >= 0 && *t <= 2 }

// Given returns the names of the fields that are set beside Model. A flow refuses them where no model is asked.
func (s Seat) Given() []string {
	var names []string
	for _, one := range []struct {
		name string
		set  bool
	}{
		{"fallbacks", len(value(s.Fallbacks)) > 0},
		{"temperature", value(s.Temperature) != nil},
		{"maxTokens", value(s.MaxTokens) != 0},
		{"options", value(s.Options) != nil},
	} {
		if one.set {
			names = append(names, one.name)
		}
	}
	return names
}

// models yields the fields that name the model, its fallbacks and the model that stands in, with the names.
func (s Seat) models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		if !yield(s.at("model"), *s.Model) {
			return
		}
		for i, name := range value(s.Fallbacks) {
			if !yield(fmt.Sprintf("%s[%d]", s.at("fallbacks"), i), name) {
				return
			}
		}
		if name := value(s.Term).StandIn; name != "" {
			yield(s.at("standIn"), name)
		}
	}
}

// Requirement is what the requests of one actor ask of a model beyond text.
type Requirement struct {
	by      string // the actor, as calls name it
	Model   string // "provider/model", of the model that is asked first
	options *provider.Options
	// temperature reports that the config gives this actor a temperature. A flow's default temperature is no requirement: a model
	// that takes no temperature is sent none.
	temperature bool
	// tools reports that its requests offer tools.
	tools bool
}

// Asks returns the abilities that the requests need, those of the options first.
func (d Requirement) Asks() []provider.Ability {
	asks := d.options.Asks()
	if d.temperature {
		asks = append(asks, provider.AbilityTemperature)
	}
	if d.tools {
		asks = append(asks, provider.AbilityTools)
	}
	return asks
}

// requirement returns what the seat's requests ask of a model beyond text.
func (s Seat) requirement() Requirement {
	d := Requirement{by: s.By, Model: *s.Model, options: value(s.Options), tools: s.Tools}
	if own := value(s.Temperature); own != nil {
		d.temperature = s.Shared != nil || s.Usual == 0 || *own != s.Usual
	}
	return d
}

// Ask writes into a call who is asked, what performs it, and how.
func (s Seat) Ask(call *Call) {
	call.By, call.Model, call.Fallbacks, call.Options = s.By, *s.Model, value(s.Fallbacks), value(s.Options)
	call.Temperature, call.MaxTokens = cmp.Or(value(s.Temperature), value(s.Shared)), value(s.MaxTokens)
	switch {
	case s.Function.Name != "":
		call.Performer, call.Function = ByFunction, s.Function.Name
	case s.Person:
		call.Performer = ByPerson
		call.Person = &ForPerson{Term: value(s.Term)}
	}
}

// Seats yields the seats of a config, in its order.
type Seats iter.Seq[Seat]

// Clone replaces what the fields refer to by copies. A config that is copied deeply calls it on the seats of the copy.
func (all Seats) Clone() {
	var shared **float64
	for s := range all {
		if s.Fallbacks != nil {
			*s.Fallbacks = slices.Clone(*s.Fallbacks)
		}
		if s.Options != nil {
			*s.Options = (*s.Options).Clone()
		}
		if s.Temperature != nil {
			*s.Temperature = CloneValue(*s.Temperature)
		}
		if s.Shared != nil && s.Shared != shared {
			shared, *s.Shared = s.Shared, CloneValue(*s.Shared)
		}
	}
}

// Normalize writes out the temperatures that are left to the flow.
func (all Seats) Normalize() {
	for s := range all {
		to := s.Temperature
		switch {
		case s.Usual == 0:
			continue
		case s.Shared != nil:
			to = s.Shared
		case *s.Model == "" && !s.Replaceable:
			continue // no model is asked
		}
		if *to == nil {
			*to = new(s.Usual)
		}
	}
}

// Models yields every model that a conversation of a config may ask, with the field that names it: those of the seats, then, as fields of
// its settings, the summarizer and the models of the rules for failures. A model may come twice, and a seat may name none.
func Models(c Config) iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for s := range c.Seats() {
			for field, name := range s.models() {
				if !yield(field, name) {
					return
				}
			}
		}
		t := c.Settings()
		if t.Summarizer != "" && t.Summarizer != NoSummarizer && !yield("summarizer", t.Summarizer) {
			return
		}
		for i := range t.OnFailure {
			if name := t.OnFailure[i].Model; name != "" && !yield(fmt.Sprintf("onFailure[%d].model", i), name) {
				return
			}
		}
	}
}

// Requirements yields what each actor of a config asks of its model beyond text, with the field of its options, such as
// "participants[0].options": those of the seats, then the options of the summarizer. A config that asks the model for what it is known
// to lack ([Model].Unsupported) is invalid. Fallbacks are asked without what they lack.
func Requirements(c Config) iter.Seq2[string, Requirement] {
	return func(yield func(string, Requirement) bool) {
		for s := range c.Seats() {
			if !yield(s.at("options"), s.requirement()) {
				return
			}
		}
		if t := c.Settings(); t.SummarizerOptions != nil && t.Summarizer != NoSummarizer {
			yield(fieldSummarizer, Requirement{by: fieldname.Summarizer, Model: t.Summarizer, options: t.SummarizerOptions})
		}
	}
}

// fieldSummarizer is the field of the options of a summarizer.
const fieldSummarizer = "summarizerOptions"
