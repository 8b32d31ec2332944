package debate

import (
	"fmt"
	"iter"
)

// validation checks the config of a debate.
type validation struct {
	findings

	known   Registry
	formats map[string]Format
	terms   Terms
	frozen  *Format // the format that a log holds; nil: it is a new debate
}

// check checks a config by itself, and the names in it.
func (v *validation) check(c *Config) {
	v.numbers(c)
	if !v.lists(c) {
		return // nothing works through a list that is too long
	}
	format := v.checkFormat(c)
	v.checkParticipants(c, format)
	v.checkJudging(c)
	v.checkAudience(c, format)
	v.checkAssign(c)
	v.people(c)
	if len(c.Tools) > 0 {
		v.addf("tools", "the flow %q lets nobody use tools", FlowName)
	}
	v.add(CheckDetectors("watch", c.Watch)...)
	v.add(CheckDetectors("stopOn", c.StopOn)...)
}

// lists checks the lengths of a config's lists.
func (v *validation) lists(c *Config) bool {
	before := len(v.findings)
	v.atMost("participants", len(c.Participants), mostParticipants)
	v.atMost("watch", len(c.Watch), mostDetectors)
	v.atMost("stopOn", len(c.StopOn), mostDetectors)
	if j := c.Judging; j != nil {
		v.atMost("judging.judges", len(j.Judges), mostJudges)
		v.atMost("judging.criteria", len(j.Criteria), mostCriteria)
		if j.Rubric != nil {
			v.atMost("judging.rubric.criteria", len(j.Rubric.Criteria), mostCriteria)
		}
	}
	if c.Audience != nil {
		v.atMost("audience.members", len(c.Audience.Members), mostMembers)
	}
	if len(v.findings) == before {
		for _, a := range c.askers() {
			v.atMost(a.field+".fallbacks", len(a.fallbacks), mostFallbacks)
		}
	}
	return len(v.findings) == before
}

// numbers checks what only a debate's config has; its Terms have the others.
func (v *validation) numbers(c *Config) {
	if c.JudgeTimeout < 0 {
		v.addf("judgeTimeout", "is negative")
	}
	v.temperature("temperature", c.Temperature)
	if c.Mode != Sequential && c.Mode != Simultaneous {
		v.addf("mode", "no mode %q is known: it is %q or %q", oneLine(string(c.Mode), 40), Sequential, Simultaneous)
	}
}

func (v *validation) checkParticipants(c *Config, format *Format) {
	if format != nil {
		if least, most := format.participants(); len(c.Participants) < least || len(c.Participants) > most {
			v.addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), format.Name, least, most)
		}
	}
	for i, p := range c.Participants {
		at := fmt.Sprintf("participants[%d]", i)
		v.name(at+".name", p.Name)
		v.add(CheckSide(at+".side", p.Side)...)
		v.text(at+".position", p.Position, mostText)
		v.text(at+".persona", p.Persona, mostText)
		v.text(at+".instructions", p.Instructions, mostInstructions)
		v.temperature(at+".temperature", p.Temperature)
		if p.MaxTokens < 0 {
			v.addf(at+".maxTokens", "is negative")
		}
		v.models(at, p.Model, p.Fallbacks)
	}
}

func (v *validation) checkFormat(c *Config) *Format {
	format, ok := formatOf(v.formats, c)
	if v.frozen != nil {
		if wrong := v.frozen.Check("frozen"); len(wrong) > 0 {
			v.add(wrong...)
			return nil
		}
		v.add(v.frozen.Fits(c.cast())...)
		return v.frozen
	}
	if !ok {
		v.addf("format", "no format %q is known", oneLine(c.Format, 40))
		return nil
	}
	if c.CustomFormat != nil {
		if c.Format != format.Name {
			v.addf("format", "is %q, but customFormat is named %q", oneLine(c.Format, 40), oneLine(format.Name, 40))
		}
		if wrong := format.Check("customFormat"); len(wrong) > 0 {
			v.add(wrong...)
			return nil
		}
	}
	if format.Rounds > 0 && c.Rounds != format.Rounds {
		v.addf("rounds", "is %d: format %s has %d rounds", c.Rounds, format.Name, format.Rounds)
	}
	v.add(format.Fits(c.cast())...)
	return format
}

// models checks that a model can be asked, and its fallbacks.
func (v *validation) models(at, model string, fallbacks []string) {
	v.model(at+".model", model)
	for i, name := range fallbacks {
		v.model(fmt.Sprintf("%s.fallbacks[%d]", at, i), name)
	}
}

func (v *validation) model(field, name string) {
	if err := v.known.Model(&v.terms, name); err != nil {
		v.addf(field, "%w", err)
	}
}

// asker is somebody who asks models.
type asker struct {
	field     string
	model     string
	fallbacks []string
}

// askers yields all who do.
func (c *Config) askers() []asker {
	var all []asker
	for i, p := range c.Participants {
		all = append(all, asker{fmt.Sprintf("participants[%d]", i), p.Model, p.Fallbacks})
	}
	if c.Judging != nil {
		for i, j := range c.Judging.Judges {
			all = append(all, asker{fmt.Sprintf("judging.judges[%d]", i), j.Model, j.Fallbacks})
		}
	}
	if c.Audience != nil {
		for i, m := range c.Audience.Members {
			all = append(all, asker{fmt.Sprintf("audience.members[%d]", i), m.Model, m.Fallbacks})
		}
	}
	if c.Assign != nil {
		all = append(all, asker{"assign", c.Assign.Model, c.Assign.Fallbacks})
	}
	return all
}

// modelFields yields every field that names a model.
func (c *Config) modelFields() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for _, a := range c.askers() {
			if !yield(a.field+".model", a.model) {
				return
			}
			for i, name := range a.fallbacks {
				if !yield(fmt.Sprintf("%s.fallbacks[%d]", a.field, i), name) {
					return
				}
			}
		}
		yield("summarizer", c.Summarizer)
	}
}
