package debate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// Bounds of a debate's config; see [Config].
const (
	maxParticipants = 1000
	maxJudges       = 100
	maxMembers      = 1000 // of the audience
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
	frozen    *format.Format           // the format that a log holds; nil for a new debate
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
	v.checkFloor(c, f)
	v.checkAssign(c)
	v.people(c)
	v.quotable(c)
	switch {
	case c.ToolUses < 0:
		v.Addf("toolUses", "is negative")
	case c.ToolUses > 0 && len(c.Tools) == 0:
		v.Addf("toolUses", "%w", flow.WithMend(errors.New("bounds the uses of tools, and there are none"), "leave it out, or name tools"))
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
			v.Addf(fmt.Sprintf("%s[%d]", field, i), "%w", noDetector(string(name), v.detectors))
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
	return len(v.Findings) == before
}

// numbers checks the numbers and the choices that only a debate's config has. Its Settings have the others.
func (v *validation) numbers(c *Config) {
	if c.JudgeTimeout < 0 {
		v.Addf("judgeTimeout", "is negative")
	}
	if c.Mode != Sequential && c.Mode != Simultaneous {
		v.Addf("mode", "%w", flow.Unknown("mode", c.Mode, Sequential, Simultaneous))
	}
	v.Add(format.CheckStance("stance", c.Stance)...)
}

func (v *validation) checkParticipants(c *Config, f *format.Format) {
	if f != nil {
		if least, most := f.Participants(); len(c.Participants) < least || len(c.Participants) > most {
			v.Addf("participants", "there are %d: format %s has %d to %d", len(c.Participants), f.Name, least, most)
		}
	}
	for i := range c.Participants {
		p, at := &c.Participants[i], fmt.Sprintf("participants[%d]", i)
		if f == nil || len(f.Seats) == 0 { // else the format says which sides it has
			v.Add(format.CheckSide(at+".side", p.Side)...)
		}
		v.Add(format.CheckStance(at+".stance", p.Stance)...)
		if f != nil && p.Stance != "" && !f.Judged(p.Side) {
			v.Addf(at+".stance", "is %q, but the chair holds no view: leave it empty", p.Stance)
		}
		v.Text(at+".position", p.Position, flow.MaxText)
		v.Text(at+".persona", p.Persona, flow.MaxText)
		v.Labels(at+".metadata", p.Metadata)
		v.Text(at+".instructions", p.Instructions, maxInstructions)
		seat := p.seat(c, at)
		seat.Check(&v.Findings, v.known)
		if p.Person && p.Model == "" {
			for _, field := range seat.Given() {
				if field != "maxTokens" {
					v.Addf(at+"."+field, "is possible for a model only")
				}
			}
		}
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
		v.Addf("format", "%w", noFormat(c.Format, v.formats))
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
		v.speeches(field, f)
	}
	if f.Rounds > 0 && c.Rounds != f.Rounds {
		v.Addf("rounds", "is %d: format %s has %d rounds", c.Rounds, f.Name, f.Rounds)
	}
	v.Add(f.Fits(c.Cast())...)
	return f
}

// speeches refuses speeches of a new debate that readers would take for something else, and a phase with the name of another's text. A log
// may have them: its debate goes on.
func (v *validation) speeches(field string, f *format.Format) {
	notSpoken := func(at, kind string) {
		own := []flow.CallKind{KindAssessment, KindVerdict, KindBallot, KindAssign, KindAside, KindFloor, flow.KindSummary}
		if slices.Contains(own, flow.CallKind(kind)) {
			v.Addf(at, "is %q, which no speech is: readers would take it for one", kind)
		}
	}
	for i := range f.Phases {
		phase, at := &f.Phases[i], fmt.Sprintf("%s.phases[%d]", field, i)
		if strings.HasSuffix(phase.Name, onlySuffix) {
			v.Addf(at+".name", "ends like the name of what is asked where there is one turn only")
		}
		named := len(phase.Slots) == 0
		for n := range phase.Slots {
			slot := &phase.Slots[n]
			notSpoken(fmt.Sprintf("%s.slots[%d].kind", at, n), string(slot.Kind))
			named = named || slot.Kind == "" && slot.Exchanges == 0
		}
		if named { // the kind of its speeches is its name
			notSpoken(at+".name", phase.Name)
		}
	}
}

// Checks of what a debate has beside its participants: judges, audience, and the models that help.

func (v *validation) checkJudging(c *Config) {
	j := c.Judging
	if j == nil {
		return
	}
	if j.When != EveryRound && j.When != AtEnd {
		v.Addf("judging.when", "%w", flow.Unknown("time", j.When, EveryRound, AtEnd))
	}
	if known := []Protocol{Majority, Plurality, Supermajority, Unanimity, Borda}; !slices.Contains(known, j.Protocol) {
		v.Addf("judging.protocol", "%w", flow.Unknown("protocol", j.Protocol, known...))
	}
	switch {
	case len(j.Judges) == 0:
		v.Addf("judging.judges", "is empty: leave judging out for a debate without a judge")
	case j.Quorum < 1 || j.Quorum > len(j.Judges):
		v.Addf("judging.quorum", "is %d: 1 to %d are possible", j.Quorum, len(j.Judges))
	}
	v.Add(format.CheckAim("judging.aim", j.Aim)...)
	v.Text("judging.instructions", j.Instructions, maxInstructions)
	v.rubric(j)
	for i, text := range j.Criteria {
		v.Name(fmt.Sprintf("judging.criteria[%d]", i), text)
		if slices.Contains(j.Criteria[:i], text) {
			v.Addf(fmt.Sprintf("judging.criteria[%d]", i), "is a duplicate")
		}
	}
	for i := range j.Judges {
		judge, at := &j.Judges[i], fmt.Sprintf("judging.judges[%d]", i)
		v.Text(at+".instructions", judge.Instructions, maxInstructions)
		v.checkAsked(judge.seat(at))
	}
}

// checkAsked checks a seat that a judge of the engine or a person can take. Its temperature and its limit of tokens are written out for
// every judge, because an amendment can give each a model.
func (v *validation) checkAsked(s flow.Seat) {
	s.Check(&v.Findings, v.known)
	if *s.Model != "" || s.Function.Name == "" && !s.Person {
		return
	}
	for _, field := range s.Given() {
		if field == "fallbacks" || field == "options" {
			v.Addf(s.Field+"."+field, "are possible for a model only")
		}
	}
}

// rubric checks a rubric, and that its weights add up.
func (v *validation) rubric(j *Judging) {
	if j.Rubric == nil {
		return
	}
	if len(j.Criteria) > 0 {
		v.Addf("judging.criteria", "cannot be combined with a rubric, which has its own")
	}
	if len(j.Rubric.Criteria) == 0 {
		v.Addf("judging.rubric.criteria", "is empty")
	}
	sum, broken := 0.0, false
	var names []string
	for i, c := range j.Rubric.Criteria {
		at := fmt.Sprintf("judging.rubric.criteria[%d]", i)
		v.Name(at+".name", c.Name)
		v.Text(at+".low", c.Low, maxScale)
		v.Text(at+".high", c.High, maxScale)
		if slices.Contains(names, c.Name) {
			v.Addf(at+".name", "is a duplicate")
		}
		names = append(names, c.Name)
		if math.IsNaN(c.Weight) || c.Weight <= 0 || c.Weight > 100 {
			v.Addf(at+".weight", "must be above 0 and at most 100 percent")
			broken = true
		}
		sum += c.Weight
	}
	if !broken && len(names) > 0 && math.Abs(sum-100) > 0.01 {
		v.Addf("judging.rubric.criteria", "the weights sum to %.4g percent, not to 100", sum)
	}
}

func (v *validation) checkAudience(c *Config, f *format.Format) {
	if c.Audience == nil {
		return
	}
	if len(c.Audience.Members) == 0 {
		v.Addf("audience.members", "is empty: leave audience out for a debate without one")
	}
	v.Text("audience.instructions", c.Audience.Instructions, maxInstructions)
	someone := func(side format.Side) bool { return countSide(c.Participants, side) > 0 }
	if f != nil && f.Decide == format.BySwing && (!someone(format.For) || !someone(format.Against)) {
		v.Addf("participants", "a swing needs participants on both sides, %q and %q", format.For, format.Against)
	}
	for i := range c.Audience.Members {
		m := &c.Audience.Members[i]
		at := fmt.Sprintf("audience.members[%d]", i)
		v.Text(at+".persona", m.Persona, flow.MaxText)
		v.Text(at+".instructions", m.Instructions, maxInstructions)
		v.checkAsked(m.seat(at))
	}
}

func (v *validation) checkAssign(c *Config) {
	a := c.AssignPositions
	if a == nil {
		return
	}
	if known := []Diversity{Binary, Spectrum, MultiPerspective}; !slices.Contains(known, a.Diversity) {
		v.Addf("assignPositions.diversity", "%w", flow.Unknown("diversity", a.Diversity, known...))
	}
	v.Text("assignPositions.instructions", a.Instructions, maxInstructions)
	a.seat().Check(&v.Findings, v.known)
	if a.Model == "" {
		v.Addf("assignPositions.model", "is empty, and no judge has a model to use instead")
	}
}

// people checks the names of the actors, and that none can be mistaken for another.
func (v *validation) people(c *Config) {
	var all []flow.NameField
	for s := range c.seats() {
		if s.Field == fieldAssign { // its name is the library's own
			continue
		}
		field := s.Field + ".name"
		v.Name(field, s.By)
		all = append(all, flow.NameField{Field: field, Name: s.By})
	}
	v.People(all, c.Judging != nil && c.Judging.Anonymous, []string{swappedSuffix, unfinishedSuffix}, []string{assigner})
}
