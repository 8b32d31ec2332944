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
	f := &v.findings
	f.numbers(c)
	if !f.lists(c) {
		return // nothing works through a list that is too long
	}
	format := v.checkFormat(c)
	v.checkParticipants(c, format)
	v.checkJudging(c)
	v.checkAudience(c, format)
	v.checkAssign(c)
	f.people(c)
	if len(c.Tools) > 0 {
		f.addf("tools", "the flow %q lets nobody use tools", FlowName)
	}
	f.detectors("watch", c.Watch)
	f.detectors("stopOn", c.StopOn)
}

// lists checks the lengths of a config's lists.
func (f *findings) lists(c *Config) bool {
	before := len(*f)
	f.atMost("participants", len(c.Participants), mostParticipants)
	f.atMost("watch", len(c.Watch), mostDetectors)
	f.atMost("stopOn", len(c.StopOn), mostDetectors)
	if j := c.Judging; j != nil {
		f.atMost("judging.judges", len(j.Judges), mostJudges)
		f.atMost("judging.criteria", len(j.Criteria), mostCriteria)
		if j.Rubric != nil {
			f.atMost("judging.rubric.criteria", len(j.Rubric.Criteria), mostCriteria)
		}
	}
	if c.Audience != nil {
		f.atMost("audience.members", len(c.Audience.Members), mostMembers)
	}
	if len(*f) == before {
		for _, a := range c.askers() {
			f.atMost(a.field+".fallbacks", len(a.fallbacks), mostFallbacks)
		}
	}
	return len(*f) == before
}

// numbers checks what only a debate's config has; its Terms have the others.
func (f *findings) numbers(c *Config) {
	if c.JudgeTimeout < 0 {
		f.addf("judgeTimeout", "is negative")
	}
	f.temperature("temperature", c.Temperature)
	if c.Mode != Sequential && c.Mode != Simultaneous {
		f.addf("mode", "no mode %q is known: it is %q or %q", oneLine(string(c.Mode), 40), Sequential, Simultaneous)
	}
}

func (v *validation) checkParticipants(c *Config, format *Format) {
	f := &v.findings
	if format != nil {
		if least, most := format.participants(); len(c.Participants) < least || len(c.Participants) > most {
			f.addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), format.Name, least, most)
		}
	}
	for i, p := range c.Participants {
		at := fmt.Sprintf("participants[%d]", i)
		f.name(at+".name", p.Name)
		f.side(at+".side", p.Side)
		f.text(at+".position", p.Position, mostText)
		f.text(at+".persona", p.Persona, mostText)
		f.text(at+".instructions", p.Instructions, mostInstructions)
		f.temperature(at+".temperature", p.Temperature)
		if p.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		v.models(at, p.Model, p.Fallbacks)
	}
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
