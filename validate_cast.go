package debate

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Checks of those who take part beside the participants: judges, audience, and the models that help.

func (v *validation) checkJudging(c *Config) {
	j := c.Judging
	if j == nil {
		return
	}
	if j.When != EveryRound && j.When != AtEnd {
		v.addf("judging.when", "no time %q is known: it is %q or %q", oneLine(string(j.When), 40), EveryRound, AtEnd)
	}
	if !slices.Contains([]Protocol{Majority, Plurality, Supermajority, Unanimity, Borda}, j.Protocol) {
		v.addf("judging.protocol", "no protocol %q is known", oneLine(string(j.Protocol), 40))
	}
	switch {
	case len(j.Judges) == 0:
		v.addf("judging.judges", "is empty: leave judging out for a debate without a judge")
	case j.Quorum < 1 || j.Quorum > len(j.Judges):
		v.addf("judging.quorum", "is %d of %d judges", j.Quorum, len(j.Judges))
	}
	v.rubric(j)
	for i, text := range j.Criteria {
		v.name(fmt.Sprintf("judging.criteria[%d]", i), text)
		if slices.Contains(j.Criteria[:i], text) {
			v.addf(fmt.Sprintf("judging.criteria[%d]", i), "stands there twice")
		}
	}
	for i := range j.Judges {
		judge := &j.Judges[i]
		at := fmt.Sprintf("judging.judges[%d]", i)
		v.temperature(at+".temperature", judge.Temperature)
		if judge.MaxTokens < 0 {
			v.addf(at+".maxTokens", "is negative")
		}
		v.checkAsked(at, judge.Model, judge.Judge, judge.Person, judge.Fallbacks)
	}
}

// checkAsked checks that one is a model, a judge of the engine or a person.
func (v *validation) checkAsked(at, model, judge string, person bool, fallbacks []string) {
	switch {
	case judge != "" && model != "":
		v.addf(at, "names both a model and a judge")
	case person && (judge != "" || model != ""):
		v.addf(at, "is a person, and names a model or a judge")
	case (judge != "" || person) && len(fallbacks) > 0:
		v.addf(at+".fallbacks", "stand beside one that is no model")
	case judge != "":
		if !v.known.Judge(judge) {
			v.addf(at+".judge", "no judge %q is registered", oneLine(judge, 40))
		}
	case !person:
		v.models(at, model, fallbacks)
	}
}

// rubric checks that the weights add up.
func (v *validation) rubric(j *Judging) {
	if j.Rubric == nil {
		return
	}
	if len(j.Criteria) > 0 {
		v.addf("judging.criteria", "stand beside a rubric, which has its own")
	}
	if len(j.Rubric.Criteria) == 0 {
		v.addf("judging.rubric.criteria", "is empty")
	}
	sum, broken := 0.0, false
	var names []string
	for i, c := range j.Rubric.Criteria {
		at := fmt.Sprintf("judging.rubric.criteria[%d]", i)
		v.name(at+".name", c.Name)
		v.text(at+".low", c.Low, mostScale)
		v.text(at+".high", c.High, mostScale)
		if slices.Contains(names, c.Name) {
			v.addf(at+".name", "stands there twice")
		}
		names = append(names, c.Name)
		if math.IsNaN(c.Weight) || c.Weight <= 0 || c.Weight > 100 {
			v.addf(at+".weight", "is not above 0 and at most 100 percent")
			broken = true
		}
		sum += c.Weight
	}
	if !broken && len(names) > 0 && math.Abs(sum-100) > 0.01 {
		v.addf("judging.rubric.criteria", "the weights sum to %.4g percent, not to 100", sum)
	}
}

func (v *validation) checkAudience(c *Config, format *Format) {
	if c.Audience == nil {
		return
	}
	if len(c.Audience.Members) == 0 {
		v.addf("audience.members", "is empty: leave audience out for a debate without one")
	}
	if format != nil && format.Decide == BySwing && (countSide(c.Participants, For) == 0 || countSide(c.Participants, Against) == 0) {
		v.addf("participants", "a swing is between the sides %q and %q: somebody is of each", For, Against)
	}
	for i := range c.Audience.Members {
		m := &c.Audience.Members[i]
		at := fmt.Sprintf("audience.members[%d]", i)
		v.text(at+".persona", m.Persona, mostText)
		v.checkAsked(at, m.Model, m.Judge, m.Person, m.Fallbacks)
	}
}

func (v *validation) checkAssign(c *Config) {
	a := c.Assign
	if a == nil {
		return
	}
	if !slices.Contains([]Diversity{Binary, Spectrum, MultiPerspective}, a.Diversity) {
		v.addf("assign.diversity", "no diversity %q is known", oneLine(string(a.Diversity), 40))
	}
	v.temperature("assign.temperature", a.Temperature)
	if a.Model == "" {
		v.addf("assign.model", "is empty, and no judge is a model that could stand in")
		return
	}
	v.models("assign", a.Model, a.Fallbacks)
}

// people checks that nobody's name can be taken for another's.
func (v *validation) people(c *Config) {
	seen := map[string]string{fold(summarizer): "a name of the library's own", fold(assigner): "a name of the library's own"}
	check := func(at, name string, named bool) {
		if named {
			v.name(at, name)
		}
		for _, suffix := range []string{againSuffix, swappedSuffix, unfinishedSuffix} {
			if strings.HasSuffix(name, suffix) {
				v.addf(at, "ends with %q, which the ids of calls end with", suffix)
			}
		}
		if strings.Contains(name, toolInfix) {
			v.addf(at, "holds %q, which the ids of calls hold", toolInfix)
		}
		key := fold(name)
		if c.Judging != nil && c.Judging.Anonymous && isLabel(key) {
			v.addf(at, "looks like a neutral label")
		}
		if other, taken := seen[key]; taken && key != "" {
			v.addf(at, "cannot be told from the name of %s", other)
			return
		}
		seen[key] = strings.TrimSuffix(at, ".name")
	}
	for i := range c.Participants {
		check(fmt.Sprintf("participants[%d].name", i), c.Participants[i].Name, false)
	}
	if c.Judging != nil {
		for i := range c.Judging.Judges {
			check(fmt.Sprintf("judging.judges[%d].name", i), c.Judging.Judges[i].Name, true)
		}
	}
	if c.Audience != nil {
		for i := range c.Audience.Members {
			check(fmt.Sprintf("audience.members[%d].name", i), c.Audience.Members[i].Name, true)
		}
	}
}

// isLabel reports whether the fold of a name is that of a neutral label.
func isLabel(folded string) bool {
	rest, ok := strings.CutPrefix(folded, fold(labelPrefix))
	return ok && len(rest) > 0 && len(rest) <= 2 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz") == ""
}
