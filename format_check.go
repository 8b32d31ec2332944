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

// Check reports what is wrong with a format by itself, by fields that begin with the given one.
func (f *Format) Check(field string) []error {
	c := &check{}
	c.format(field, f)
	return c.findings
}

// Fits reports what keeps a format from being that of a cast.
func (f *Format) Fits(cast Cast) []error {
	c := &check{}
	c.fits(f, cast)
	return c.findings
}

// CheckSide and CheckDetectors report names that are not known.
func CheckSide(field string, side Side) []error {
	c := &check{}
	c.side(field, side)
	return c.findings
}

// CheckDetectors reports names of detectors that are not known.
func CheckDetectors(field string, all []Detector) []error {
	c := &check{}
	c.detectors(field, all)
	return c.findings
}

// check gathers what is wrong with a format.
type check struct{ findings }

// format checks a format by itself.
func (c *check) format(field string, format *Format) {
	c.name(field+".name", format.Name)
	c.text(field+".guidance", format.Guidance, mostText)
	if len(format.Phases) == 0 {
		c.addf(field+".phases", "is empty")
	}
	if len(format.Phases) > mostPhases {
		c.addf(field+".phases", "there are %d: at most %d are allowed", len(format.Phases), mostPhases)
		return
	}
	for i := range format.Phases {
		c.phase(fmt.Sprintf("%s.phases[%d]", field, i), format, i)
	}
	c.rules(field, format)
	if least, most := format.participants(); format.MinParticipants < 0 || format.MaxParticipants < 0 || least > most {
		c.addf(field+".minParticipants", "or maxParticipants is negative, or the least is above the most")
	}
	if format.Rounds < 0 {
		c.addf(field+".rounds", "is negative")
	}
	if len(format.Seats) > mostSeats {
		c.addf(field+".seats", "there are %d: there are %d sides", len(format.Seats), mostSeats)
		return
	}
	for i, seats := range format.Seats {
		at := fmt.Sprintf("%s.seats[%d]", field, i)
		c.side(at+".side", seats.Side)
		c.text(at+".role", seats.Role, mostText)
		if seats.Min < 0 || seats.Max < 0 || seats.Max > 0 && seats.Min > seats.Max {
			c.addf(at, "min or max is negative, or the least is above the most")
		}
		for k := range i {
			if format.Seats[k].Side == seats.Side {
				c.addf(at+".side", "is the side of seats[%d] too", k)
			}
		}
	}
}

// rules checks what a format names.
func (c *check) rules(field string, format *Format) {
	if !slices.Contains([]End{EndByJudge, EndByRounds, EndByConvergence}, format.End) {
		c.addf(field+".end", "no rule %q is known", oneLine(string(format.End), 40))
	}
	if !slices.Contains([]Decision{"", ByJudges, BySwing, NoWinner}, format.Decide) {
		c.addf(field+".decide", "no way %q to find a winner is known", oneLine(string(format.Decide), 40))
	}
	if !slices.Contains([]Graph{"", AllRead, Ring, SideGroups, GivenEdges}, format.Reads.Graph) {
		c.addf(field+".reads.graph", "no graph %q is known", oneLine(string(format.Reads.Graph), 40))
	}
	if (format.Reads.Graph == GivenEdges) != (len(format.Reads.Edges) > 0) {
		c.addf(field+".reads.edges", "are given if, and only if, the graph is %q", GivenEdges)
	}
	c.side(field+".chair", format.Chair)
	for name, all := range ordered(map[string][]Detector{field + ".watch": format.Watch, field + ".stopOn": format.StopOn}) {
		if c.atMost(name, len(all), mostDetectors); len(all) <= mostDetectors {
			c.detectors(name, all)
		}
	}
	c.atMost(field+".reads.edges", len(format.Reads.Edges), mostParticipants)
	for _, speakers := range ordered(format.Reads.Edges) {
		c.atMost(field+".reads.edges", len(speakers), mostParticipants)
	}
}

func (c *check) side(field string, side Side) {
	if !slices.Contains([]Side{"", For, Against, Neutral}, side) {
		c.addf(field, "no side %q is known: it is %q, %q, %q or empty", oneLine(string(side), 40), For, Against, Neutral)
	}
}

func (c *check) phase(at string, format *Format, i int) {
	phase := &format.Phases[i]
	c.name(at+".name", phase.Name)
	c.text(at+".instruction", phase.Instruction, mostText)
	if kind, _, _ := strings.Cut(phase.Name, "."); kind == string(KindAssessment) {
		c.addf(at+".name", "begins like the ids of assessments")
	}
	if phase.First == 0 || phase.Last == 0 {
		c.addf(at, "first and last are rounds from 1, or from the end with -1")
	}
	if phase.Back < 0 {
		c.addf(at+".back", "is negative")
	}
	for k := range i {
		if format.Phases[k].Name == phase.Name {
			c.addf(at+".name", "is the name of an earlier phase")
		}
	}
	if len(phase.Slots) > mostSlots {
		c.addf(at+".slots", "there are %d: at most %d are allowed", len(phase.Slots), mostSlots)
		return
	}
	for n := range phase.Slots {
		c.slot(fmt.Sprintf("%s.slots[%d]", at, n), &phase.Slots[n])
	}
}

func (c *check) slot(at string, s *Slot) {
	c.who(at+".who", s.Who)
	if s.To != "" {
		c.who(at+".to", s.To)
	}
	if s.Who == Others {
		c.addf(at+".who", "is %q, which only to can be", Others)
	}
	c.text(at+".instruction", s.Instruction, mostText)
	c.text(at+".answer", s.Answer, mostText)
	if s.Kind != "" {
		c.name(at+".kind", string(s.Kind))
	}
	switch {
	case s.Exchanges < 0 || s.Exchanges > mostExchanges:
		c.addf(at+".exchanges", "is %d: 0 to %d are possible", s.Exchanges, mostExchanges)
	case s.Exchanges > 0 && s.To == "":
		c.addf(at+".to", "is empty: a cross-examination has somebody who answers")
	case s.Exchanges > 0 && s.Group != 0:
		c.addf(at+".group", "is set: who asks and who answers do not speak at once")
	}
	if math.IsNaN(s.Minutes) || s.Minutes < 0 || s.Minutes > mostMinutes {
		c.addf(at+".minutes", "is not between 0 and %d", mostMinutes)
	}
	for name, n := range ordered(map[string]int{"words": s.Words, "maxTokens": s.MaxTokens, "group": s.Group}) {
		if n < 0 {
			c.addf(at+"."+name, "is negative")
		}
	}
}

// who checks how speakers are named.
func (c *check) who(at string, who Who) {
	kind, rest, placed := strings.Cut(string(who), ":")
	n, err := strconv.Atoi(rest)
	switch {
	case slices.Contains([]Who{Everyone, BothSides, TheChair, Others}, who):
	case kind == "name" && placed && rest != "":
	case !slices.Contains([]string{string(For), string(Against), string(Neutral), "audience"}, kind):
		c.addf(at, "nobody is meant by %q", oneLine(string(who), 40))
	case placed && (err != nil || n < 1):
		c.addf(at, "%q: places are numbers from 1", oneLine(string(who), 40))
	}
}

func (c *check) detectors(field string, all []Detector) {
	for i, d := range all {
		if !slices.Contains([]Detector{DetectRepetition, DetectDiminishing, DetectDrift}, d) {
			c.addf(fmt.Sprintf("%s[%d]", field, i), "no detector %q is known", oneLine(string(d), 40))
		}
	}
}

// fits checks a format with those who are to take part.
func (c *check) fits(format *Format, in Cast) {
	known := make(map[string]bool, len(in.Seats))
	for _, seat := range in.Seats {
		known[seat.Name] = true
	}
	for i := range format.Phases {
		for n := range format.Phases[i].Slots {
			slot := &format.Phases[i].Slots[n]
			for key, who := range ordered(map[string]Who{"who": slot.Who, "to": slot.To}) {
				if name, ok := strings.CutPrefix(string(who), "name:"); ok && !known[name] {
					c.addf(fmt.Sprintf("format.phases[%d].slots[%d].%s", i, n, key), "no participant is named %q", oneLine(name, 64))
				}
			}
		}
		cast := cast{format, in}
		switch n := cast.count(&format.Phases[i], mostSpeeches); {
		case n > mostSpeeches:
			c.addf(fmt.Sprintf("format.phases[%d]", i), "has more than %d speeches to a round", mostSpeeches)
		case n == 0 && len(in.Seats) > 0:
			c.addf(fmt.Sprintf("format.phases[%d].slots", i), "fit nobody who takes part")
		}
	}
	for reader, speakers := range ordered(format.Reads.Edges) {
		for _, name := range append([]string{reader}, speakers...) {
			if !known[name] {
				c.addf("format.reads.edges", "no participant is named %q", oneLine(name, 64))
			}
		}
	}
	if format.Decide == BySwing && in.Audience == nil {
		c.addf("audience", "is missing: format %s is decided by how the audience swings", format.Name)
	}
	c.seats(format, in)
}

// seats checks that the sides are as the format wants them.
func (c *check) seats(format *Format, in Cast) {
	if len(format.Seats) == 0 {
		return
	}
	for _, seats := range format.Seats {
		n := in.count(seats.Side)
		if n < seats.Min || seats.Max > 0 && n > seats.Max {
			wants := fmt.Sprintf("%d to %d", seats.Min, seats.Max)
			if seats.Max == 0 {
				wants = fmt.Sprintf("%d or more", seats.Min)
			}
			c.addf("participants", "of side %q there are %d: format %s has %s", seats.Side, n, format.Name, wants)
		}
	}
	for i, seat := range in.Seats {
		if !slices.ContainsFunc(format.Seats, func(s Seats) bool { return s.Side == seat.Side }) {
			c.addf(fmt.Sprintf("participants[%d].side", i), "is %q: format %s has no such side", oneLine(string(seat.Side), 40), format.Name)
		}
	}
}

// count is how many participants are of a side.
func (c Cast) count(side Side) int {
	n := 0
	for _, seat := range c.Seats {
		if seat.Side == side {
			n++
		}
	}
	return n
}
