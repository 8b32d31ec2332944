package debate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a format, so that one that was made by mistake, or in bad faith, is refused rather than run.
const (
	mostPhases    = 100
	mostSlots     = 100
	mostExchanges = 20
	mostSpeeches  = 1000
	mostMinutes   = 120
	mostSeats     = 4
)

func (v *validation) checkFormat(c *Config) *Format {
	f := &v.findings
	format, ok := formatOf(v.formats, c)
	if v.frozen != nil {
		before := len(*f)
		if f.format("frozen", v.frozen); len(*f) > before {
			return nil
		}
		f.stage(v.frozen, c)
		return v.frozen
	}
	if !ok {
		f.addf("format", "no format %q is known", oneLine(c.Format, 40))
		return nil
	}
	if c.CustomFormat != nil {
		if c.Format != format.Name {
			f.addf("format", "is %q, but customFormat is named %q", oneLine(c.Format, 40), oneLine(format.Name, 40))
		}
		before := len(*f)
		f.format("customFormat", format)
		if len(*f) > before {
			return nil
		}
	}
	if format.Rounds > 0 && c.Rounds != format.Rounds {
		f.addf("rounds", "is %d: format %s has %d rounds", c.Rounds, format.Name, format.Rounds)
	}
	f.stage(format, c)
	return format
}

// format checks a format by itself.
func (f *findings) format(field string, format *Format) {
	f.name(field+".name", format.Name)
	f.text(field+".guidance", format.Guidance, mostText)
	if len(format.Phases) == 0 {
		f.addf(field+".phases", "is empty")
	}
	if len(format.Phases) > mostPhases {
		f.addf(field+".phases", "there are %d: at most %d are allowed", len(format.Phases), mostPhases)
		return
	}
	for i := range format.Phases {
		f.phase(fmt.Sprintf("%s.phases[%d]", field, i), format, i)
	}
	f.rules(field, format)
	if least, most := format.participants(); format.MinParticipants < 0 || format.MaxParticipants < 0 || least > most {
		f.addf(field+".minParticipants", "or maxParticipants is negative, or the least is above the most")
	}
	if format.Rounds < 0 {
		f.addf(field+".rounds", "is negative")
	}
	if len(format.Seats) > mostSeats {
		f.addf(field+".seats", "there are %d: there are %d sides", len(format.Seats), mostSeats)
		return
	}
	for i, seats := range format.Seats {
		at := fmt.Sprintf("%s.seats[%d]", field, i)
		f.side(at+".side", seats.Side)
		f.text(at+".role", seats.Role, mostText)
		if seats.Min < 0 || seats.Max < 0 || seats.Max > 0 && seats.Min > seats.Max {
			f.addf(at, "min or max is negative, or the least is above the most")
		}
		for k := range i {
			if format.Seats[k].Side == seats.Side {
				f.addf(at+".side", "is the side of seats[%d] too", k)
			}
		}
	}
}

// rules checks what a format names.
func (f *findings) rules(field string, format *Format) {
	if !slices.Contains([]End{EndByJudge, EndByRounds, EndByConvergence}, format.End) {
		f.addf(field+".end", "no rule %q is known", oneLine(string(format.End), 40))
	}
	if !slices.Contains([]Decision{"", ByJudges, BySwing, NoWinner}, format.Decide) {
		f.addf(field+".decide", "no way %q to find a winner is known", oneLine(string(format.Decide), 40))
	}
	if !slices.Contains([]Graph{"", AllRead, Ring, SideGroups, GivenEdges}, format.Reads.Graph) {
		f.addf(field+".reads.graph", "no graph %q is known", oneLine(string(format.Reads.Graph), 40))
	}
	if (format.Reads.Graph == GivenEdges) != (len(format.Reads.Edges) > 0) {
		f.addf(field+".reads.edges", "are given if, and only if, the graph is %q", GivenEdges)
	}
	f.side(field+".chair", format.Chair)
	for name, all := range ordered(map[string][]Detector{field + ".watch": format.Watch, field + ".stopOn": format.StopOn}) {
		if f.atMost(name, len(all), mostDetectors); len(all) <= mostDetectors {
			f.detectors(name, all)
		}
	}
	f.atMost(field+".reads.edges", len(format.Reads.Edges), mostParticipants)
	for _, speakers := range ordered(format.Reads.Edges) {
		f.atMost(field+".reads.edges", len(speakers), mostParticipants)
	}
}

func (f *findings) side(field string, side Side) {
	if !slices.Contains([]Side{"", For, Against, Neutral}, side) {
		f.addf(field, "no side %q is known: it is %q, %q, %q or empty", oneLine(string(side), 40), For, Against, Neutral)
	}
}

func (f *findings) phase(at string, format *Format, i int) {
	phase := &format.Phases[i]
	f.name(at+".name", phase.Name)
	f.text(at+".instruction", phase.Instruction, mostText)
	if kind, _, _ := strings.Cut(phase.Name, "."); kind == string(KindAssessment) {
		f.addf(at+".name", "begins like the ids of assessments")
	}
	if phase.First == 0 || phase.Last == 0 {
		f.addf(at, "first and last are rounds from 1, or from the end with -1")
	}
	if phase.Back < 0 {
		f.addf(at+".back", "is negative")
	}
	for k := range i {
		if format.Phases[k].Name == phase.Name {
			f.addf(at+".name", "is the name of an earlier phase")
		}
	}
	if len(phase.Slots) > mostSlots {
		f.addf(at+".slots", "there are %d: at most %d are allowed", len(phase.Slots), mostSlots)
		return
	}
	for n := range phase.Slots {
		f.slot(fmt.Sprintf("%s.slots[%d]", at, n), &phase.Slots[n])
	}
}

func (f *findings) slot(at string, s *Slot) {
	f.who(at+".who", s.Who)
	if s.To != "" {
		f.who(at+".to", s.To)
	}
	if s.Who == Others {
		f.addf(at+".who", "is %q, which only to can be", Others)
	}
	f.text(at+".instruction", s.Instruction, mostText)
	f.text(at+".answer", s.Answer, mostText)
	if s.Kind != "" {
		f.name(at+".kind", string(s.Kind))
	}
	switch {
	case s.Exchanges < 0 || s.Exchanges > mostExchanges:
		f.addf(at+".exchanges", "is %d: 0 to %d are possible", s.Exchanges, mostExchanges)
	case s.Exchanges > 0 && s.To == "":
		f.addf(at+".to", "is empty: a cross-examination has somebody who answers")
	case s.Exchanges > 0 && s.Group != 0:
		f.addf(at+".group", "is set: who asks and who answers do not speak at once")
	}
	if math.IsNaN(s.Minutes) || s.Minutes < 0 || s.Minutes > mostMinutes {
		f.addf(at+".minutes", "is not between 0 and %d", mostMinutes)
	}
	for name, n := range ordered(map[string]int{"words": s.Words, "maxTokens": s.MaxTokens, "group": s.Group}) {
		if n < 0 {
			f.addf(at+"."+name, "is negative")
		}
	}
}

// who checks how speakers are named.
func (f *findings) who(at string, who Who) {
	kind, rest, placed := strings.Cut(string(who), ":")
	n, err := strconv.Atoi(rest)
	switch {
	case slices.Contains([]Who{Everyone, BothSides, TheChair, Others}, who):
	case kind == "name" && placed && rest != "":
	case !slices.Contains([]string{string(For), string(Against), string(Neutral), "audience"}, kind):
		f.addf(at, "nobody is meant by %q", oneLine(string(who), 40))
	case placed && (err != nil || n < 1):
		f.addf(at, "%q: places are numbers from 1", oneLine(string(who), 40))
	}
}

// stage checks a format with those who are to take part.
func (f *findings) stage(format *Format, c *Config) {
	known := make(map[string]bool, len(c.Participants))
	for i := range c.Participants {
		known[c.Participants[i].Name] = true
	}
	for i := range format.Phases {
		for n := range format.Phases[i].Slots {
			slot := &format.Phases[i].Slots[n]
			for key, who := range ordered(map[string]Who{"who": slot.Who, "to": slot.To}) {
				if name, ok := strings.CutPrefix(string(who), "name:"); ok && !known[name] {
					f.addf(fmt.Sprintf("format.phases[%d].slots[%d].%s", i, n, key), "no participant is named %q", oneLine(name, 64))
				}
			}
		}
		cast := cast{format, c.Cast()}
		switch n := cast.count(&format.Phases[i], mostSpeeches); {
		case n > mostSpeeches:
			f.addf(fmt.Sprintf("format.phases[%d]", i), "has more than %d speeches to a round", mostSpeeches)
		case n == 0 && len(c.Participants) > 0:
			f.addf(fmt.Sprintf("format.phases[%d].slots", i), "fit nobody who takes part")
		}
	}
	for reader, speakers := range ordered(format.Reads.Edges) {
		for _, name := range append([]string{reader}, speakers...) {
			if !known[name] {
				f.addf("format.reads.edges", "no participant is named %q", oneLine(name, 64))
			}
		}
	}
	if format.Decide == BySwing && c.Audience == nil {
		f.addf("audience", "is missing: format %s is decided by how the audience swings", format.Name)
	}
	f.seats(format, c)
}

// seats checks that the sides are as the format wants them.
func (f *findings) seats(format *Format, c *Config) {
	if len(format.Seats) == 0 {
		return
	}
	for _, seats := range format.Seats {
		n := countSide(c.Participants, seats.Side)
		if n < seats.Min || seats.Max > 0 && n > seats.Max {
			wants := fmt.Sprintf("%d to %d", seats.Min, seats.Max)
			if seats.Max == 0 {
				wants = fmt.Sprintf("%d or more", seats.Min)
			}
			f.addf("participants", "of side %q there are %d: format %s has %s", seats.Side, n, format.Name, wants)
		}
	}
	for i, p := range c.Participants {
		if !slices.ContainsFunc(format.Seats, func(s Seats) bool { return s.Side == p.Side }) {
			f.addf(fmt.Sprintf("participants[%d].side", i), "is %q: format %s has no such side", oneLine(string(p.Side), 40), format.Name)
		}
	}
}
