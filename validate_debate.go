package debate

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// Bounds of a debate's config; see [Config].
const (
	maxParticipants = 1000
	maxJudges       = 100
	maxMembers      = 1000 // of the audience
	maxFallbacks    = 16   // of each caller of models: participant, judge, member, …
	maxCriteria     = 50   // of judging, or of its rubric
	maxDetectors    = 16   // of each list
	maxScale        = 1000 // bytes of the text at one end of a rubric's scale
	maxInstructions = 100_000
)

// validation checks the config of a debate.
type validation struct {
	flow.Findings

	known     flow.Registry
	formats   map[string]format.Format
	own       map[string]format.Format // those of formats that are not built in
	detectors map[string]Detector      // of the host program
	terms     flow.Terms
	frozen    *format.Format // the format that a log holds; nil for a new debate
}

// check checks a config by itself, and the names in it.
func (v *validation) check(c *Config) {
	v.numbers(c)
	if !v.lists(c) {
		return // a list that is too long is not worked through
	}
	f := v.checkFormat(c)
	v.checkParticipants(c, f)
	v.checkJudging(c)
	v.checkAudience(c, f)
	v.checkAssign(c)
	v.people(c)
	if len(c.Tools) > 0 {
		v.Addf("tools", "the flow %q lets nobody use tools", FlowName)
	}
	v.checkDetectors("watch", c.Watch)
	v.checkDetectors("stopOn", c.StopOn)
}

// checkDetectors reports detectors that are neither built in nor registered. A log that was made elsewhere may name any.
func (v *validation) checkDetectors(field string, all []format.Detector) {
	elsewhere, ok := v.known.(interface{ Elsewhere() bool })
	for i, name := range all {
		switch {
		case builtin(name) || v.detectors[string(name)] != nil && flow.Registrable(string(name)):
		case ok && elsewhere.Elsewhere() && flow.Registrable(string(name)):
		default:
			v.Addf(fmt.Sprintf("%s[%d]", field, i), "no detector %.40q is known: register it in Engine.Detectors", string(name))
		}
	}
}

// lists checks the lengths of a config's lists, and reports whether all are within their bounds.
func (v *validation) lists(c *Config) bool {
	before := len(v.Findings)
	v.AtMost("participants", len(c.Participants), maxParticipants)
	v.AtMost("watch", len(c.Watch), maxDetectors)
	v.AtMost("stopOn", len(c.StopOn), maxDetectors)
	if j := c.Judging; j != nil {
		v.AtMost("judging.judges", len(j.Judges), maxJudges)
		v.AtMost("judging.criteria", len(j.Criteria), maxCriteria)
		if j.Rubric != nil {
			v.AtMost("judging.rubric.criteria", len(j.Rubric.Criteria), maxCriteria)
		}
	}
	if c.Audience != nil {
		v.AtMost("audience.members", len(c.Audience.Members), maxMembers)
	}
	if len(v.Findings) == before {
		for a := range c.askers() {
			v.AtMost(a.field+".fallbacks", len(a.fallbacks), maxFallbacks)
		}
	}
	return len(v.Findings) == before
}

// numbers checks the numbers that only a debate's config has. Its Terms have the others.
func (v *validation) numbers(c *Config) {
	if c.JudgeTimeout < 0 {
		v.Addf("judgeTimeout", "is negative")
	}
	v.Temperature("temperature", c.Temperature)
	if c.Mode != Sequential && c.Mode != Simultaneous {
		v.Addf("mode", "no mode %.40q is known: it is %q or %q", c.Mode, Sequential, Simultaneous)
	}
}

func (v *validation) checkParticipants(c *Config, f *format.Format) {
	if f != nil {
		if least, most := f.Participants(); len(c.Participants) < least || len(c.Participants) > most {
			v.Addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), f.Name, least, most)
		}
	}
	for i, p := range c.Participants {
		at := fmt.Sprintf("participants[%d]", i)
		v.Name(at+".name", p.Name)
		v.Add(format.CheckSide(at+".side", p.Side)...)
		v.Text(at+".position", p.Position, flow.MaxText)
		v.Text(at+".persona", p.Persona, flow.MaxText)
		v.Labels(at+".metadata", p.Metadata)
		v.Text(at+".instructions", p.Instructions, maxInstructions)
		v.Temperature(at+".temperature", p.Temperature)
		v.Options(at+".options", p.Options)
		if p.MaxTokens < 0 {
			v.Addf(at+".maxTokens", "is negative")
		}
		v.models(at, p.Model, p.Fallbacks)
	}
}

func (v *validation) checkFormat(c *Config) *format.Format {
	f, ok := formatOf(v.formats, c)
	if v.frozen != nil {
		if wrong := v.frozen.Check("frozen"); len(wrong) > 0 {
			v.Add(wrong...)
			return nil
		}
		v.Add(v.frozen.Fits(c.Cast())...)
		return v.frozen
	}
	if !ok {
		v.Addf("format", "no format %.40q is known", c.Format)
		return nil
	}
	if c.CustomFormat != nil && c.Format != f.Name {
		v.Addf("format", "is %.40q, but customFormat is named %.40q", c.Format, f.Name)
	}
	field := "format"
	if c.CustomFormat != nil {
		field = "customFormat"
	}
	if _, own := v.own[f.Name]; own || c.CustomFormat != nil {
		if wrong := f.Check(field); len(wrong) > 0 {
			v.Add(wrong...)
			return nil
		}
	}
	if f.Rounds > 0 && c.Rounds != f.Rounds {
		v.Addf("rounds", "allows %d: format %s has %d rounds", c.Rounds, f.Name, f.Rounds)
	}
	v.Add(f.Fits(c.Cast())...)
	return f
}

// models checks that a model and its fallbacks can be asked.
func (v *validation) models(at, model string, fallbacks []string) {
	v.model(at+".model", model)
	for i, name := range fallbacks {
		v.model(fmt.Sprintf("%s.fallbacks[%d]", at, i), name)
	}
}

func (v *validation) model(field, name string) {
	if err := v.known.Model(&v.terms, name); err != nil {
		v.Addf(field, "%w", err)
	}
}

// asker is a part of the config that asks models: a participant, a judge, a member of the audience, and so on.
type asker struct {
	field     string
	by        string // as calls name it
	model     string
	fallbacks []string
	options   *provider.Options

	heated     bool // has a temperature of its own
	structured bool // its replies must match a schema
}

// given reports whether a config holds another temperature than the default, which a settled config has written out.
func given(t *float64, usual float64) bool { return t != nil && *t != usual }

// askers yields every part of the config that asks models.
func (c *Config) askers() iter.Seq[asker] {
	at := func(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
	return func(yield func(asker) bool) {
		for i, p := range c.Participants {
			if !yield(asker{at("participants", i), p.Name, p.Model, p.Fallbacks, p.Options, p.Temperature != nil, false}) {
				return
			}
		}
		if c.Judging != nil {
			for i, j := range c.Judging.Judges {
				heated := given(j.Temperature, defaultJudgeTemperature)
				if !yield(asker{at("judging.judges", i), j.Name, j.Model, j.Fallbacks, j.Options, heated, true}) {
					return
				}
			}
		}
		if c.Audience != nil {
			for i, m := range c.Audience.Members {
				if !yield(asker{at("audience.members", i), m.Name, m.Model, m.Fallbacks, m.Options, false, true}) {
					return
				}
			}
		}
		if a := c.Assign; a != nil {
			yield(asker{"assign", assigner, a.Model, a.Fallbacks, a.Options, given(a.Temperature, defaultAssignTemperature), true})
		}
	}
}

// modelFields yields every field that names a model, with the name.
func (c *Config) modelFields() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for a := range c.askers() {
			if !yield(a.field+".model", a.model) {
				return
			}
			for i, name := range a.fallbacks {
				if !yield(a.field+".fallbacks["+strconv.Itoa(i)+"]", name) {
					return
				}
			}
		}
		if c.Summarizer != flow.NoSummarizer {
			yield("summarizer", c.Summarizer)
		}
	}
}
