package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
)

// Bounds of a format. A format that exceeds them, by mistake or in bad faith, is refused.
const (
	maxPhases    = 100
	maxAsides    = 50 // of a round
	maxSlots     = 100
	maxExchanges = 20
	maxSpeeches  = 1000
	maxMinutes   = 120
	maxSeats     = 4
	maxNames     = 1000 // in a graph of readers
	maxDetectors = 16   // in each list
)

// Check reports what is wrong with a format by itself. The names of the fields begin with field.
func (f *Format) Check(field string) []error {
	c := &check{}
	c.format(field, f)
	return c.Findings
}

// Fits reports why a format does not fit a cast.
func (f *Format) Fits(cast Cast) []error {
	c := &check{}
	c.fits(f, cast)
	return c.Findings
}

// CheckSide reports an unknown side, as an error about this field of a config. An empty side is valid: it means no side.
func CheckSide(field string, side Side) []error {
	c := &check{}
	c.side(field, side)
	return c.Findings
}

// CheckDetectors reports unknown detectors, each as an error about an item of this field of a config.
func CheckDetectors(field string, all []Detector) []error {
	c := &check{}
	c.detectors(field, all)
	return c.Findings
}

// reserved is how the ids of judges' calls begin.
const reserved = "assessment"

// check gathers what is wrong with a format.
type check struct{ flow.Findings }

// format checks a format by itself.
func (c *check) format(field string, format *Format) {
	c.Name(field+".name", format.Name)
	c.Text(field+".guidance", format.Guidance, flow.MaxText)
	if len(format.Phases) == 0 {
		c.Addf(field+".phases", "is empty")
	}
	if len(format.Phases) > maxPhases {
		c.Addf(field+".phases", "there are %d: at most %d are allowed", len(format.Phases), maxPhases)
		return
	}
	for i := range format.Phases {
		c.phase(fmt.Sprintf("%s.phases[%d]", field, i), format, i)
	}
	c.rules(field, format)
	if least, most := format.Participants(); format.MinParticipants < 0 || format.MaxParticipants < 0 || least > most {
		c.Addf(field+".minParticipants", "is above maxParticipants, or one of the two is negative")
	}
	if format.Rounds < 0 {
		c.Addf(field+".rounds", "is negative")
	}
	if format.Asides < 0 || format.Asides > maxAsides {
		c.Addf(field+".asides", "is not between 0 and %d", maxAsides)
	}
	if len(format.Seats) > maxSeats {
		c.Addf(field+".seats", "there are %d: there are %d sides", len(format.Seats), maxSeats)
		return
	}
	for i, seats := range format.Seats {
		at := fmt.Sprintf("%s.seats[%d]", field, i)
		c.side(at+".side", seats.Side)
		c.Text(at+".role", seats.Role, flow.MaxText)
		c.stance(at+".stance", seats.Stance)
		if seats.Min < 0 || seats.Max < 0 || seats.Max > 0 && seats.Min > seats.Max {
			c.Addf(at, "min is above max, or one of the two is negative")
		}
		for k := range i {
			if format.Seats[k].Side == seats.Side {
				c.Addf(at+".side", "is the side of seats[%d] too", k)
			}
		}
	}
}

// rules checks the names in a format: rules, graphs and detectors.
func (c *check) rules(field string, format *Format) {
	oneOf(c, field+".end", "rule", format.End, EndByJudge, EndByRounds, EndByConvergence)
	oneOf(c, field+".decide", "way to find a winner", format.Decide, "", ByJudges, BySwing, NoWinner)
	c.stance(field+".stance", format.Stance)
	c.aim(field+".aim", format.Aim)
	oneOf(c, field+".reads.graph", "graph", format.Reads.Graph, "", AllRead, Ring, SideGroups, GivenEdges)
	if (format.Reads.Graph == GivenEdges) != (len(format.Reads.Edges) > 0) {
		c.Addf(field+".reads.edges", "are given if, and only if, the graph is %q", GivenEdges)
	}
	c.side(field+".chair", format.Chair)
	for name, all := range order.ByKey(map[string][]Detector{field + ".watch": format.Watch, field + ".stopOn": format.StopOn}) {
		if c.AtMost(name, len(all), maxDetectors); len(all) <= maxDetectors {
			c.detectors(name, all)
		}
	}
	c.AtMost(field+".reads.edges", len(format.Reads.Edges), maxNames)
	for _, speakers := range order.ByKey(format.Reads.Edges) {
		c.AtMost(field+".reads.edges", len(speakers), maxNames)
	}
}

// oneOf refuses a name that is none of those that are known.
func oneOf[S ~string](c *check, field, what string, name S, known ...S) {
	if !slices.Contains(known, name) {
		c.Addf(field, "%w", flow.Unknown(what, name, known...))
	}
}

func (c *check) side(field string, side Side) {
	oneOf(c, field, "side", side, "", For, Against, Neutral)
}

func (c *check) phase(at string, format *Format, i int) {
	phase := &format.Phases[i]
	c.Name(at+".name", phase.Name)
	c.Text(at+".instruction", phase.Instruction, flow.MaxText)
	if kind, _, _ := strings.Cut(phase.Name, "."); kind == reserved {
		c.Addf(at+".name", "begins like the ids of assessments")
	}
	if phase.First == 0 || phase.Last == 0 {
		c.Addf(at, "first and last are rounds from 1, or from the end with -1")
	}
	if phase.Back < 0 {
		c.Addf(at+".back", "is negative")
	}
	for k := range i {
		if format.Phases[k].Name == phase.Name {
			c.Addf(at+".name", "is the name of an earlier phase")
		}
	}
	if len(phase.Slots) > maxSlots {
		c.Addf(at+".slots", "there are %d: at most %d are allowed", len(phase.Slots), maxSlots)
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
		c.Addf(at+".who", "is %q, which is possible in \"to\" only", Others)
	}
	c.Text(at+".instruction", s.Instruction, flow.MaxText)
	c.Text(at+".answer", s.Answer, flow.MaxText)
	if s.Kind != "" {
		c.Name(at+".kind", string(s.Kind))
	}
	switch {
	case s.Exchanges < 0 || s.Exchanges > maxExchanges:
		c.Addf(at+".exchanges", "is %d: 0 to %d are possible", s.Exchanges, maxExchanges)
	case s.Exchanges > 0 && s.To == "":
		c.Addf(at+".to", "is empty: a cross-examination needs a participant who answers")
	case s.Exchanges > 0 && s.Group != 0:
		c.Addf(at+".group", "is set: the speakers of a cross-examination take turns")
	}
	if math.IsNaN(s.Minutes) || s.Minutes < 0 || s.Minutes > maxMinutes {
		c.Addf(at+".minutes", "is not between 0 and %d", maxMinutes)
	}
	for name, n := range order.ByKey(map[string]int{"words": s.Words, "maxTokens": s.MaxTokens, "group": s.Group}) {
		if n < 0 {
			c.Addf(at+"."+name, "is negative")
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
		known := []Who{Everyone, BothSides, TheChair, Others, Who(For), Who(Against), Who(Neutral), "audience", "name:"}
		c.Addf(at, "%w", flow.Unknown("speaker", who, known...))
	case placed && (err != nil || n < 1):
		c.Addf(at, "%q: places are numbers from 1", text.OneLine(string(who), 40))
	}
}

func (c *check) detectors(field string, all []Detector) {
	for i, d := range all {
		oneOf(c, fmt.Sprintf("%s[%d]", field, i), "detector", d, DetectRepetition, DetectDiminishing, DetectDrift)
	}
}

// fits checks a format against a cast.
func (c *check) fits(format *Format, in Cast) {
	seated := c.seats(format, in)
	names := make([]string, len(in.Seats))
	known := make(map[string]bool, len(in.Seats))
	for i, seat := range in.Seats {
		names[i], known[seat.Name] = seat.Name, true
	}
	for i := range format.Phases {
		for n := range format.Phases[i].Slots {
			slot := &format.Phases[i].Slots[n]
			for key, who := range order.ByKey(map[string]Who{"who": slot.Who, "to": slot.To}) {
				if name, ok := strings.CutPrefix(string(who), "name:"); ok && !known[name] {
					c.Addf(fmt.Sprintf("format.phases[%d].slots[%d].%s", i, n, key), "%w", flow.Unknown("participant", name, names...))
				}
			}
		}
		cast := cast{format, in}
		switch n := cast.countSpeeches(&format.Phases[i], maxSpeeches); {
		case n > maxSpeeches:
			c.Addf(fmt.Sprintf("format.phases[%d]", i), "has more than %d speeches to a round", maxSpeeches)
		case n == 0 && len(in.Seats) > 0 && seated: // else that is why
			c.Addf(fmt.Sprintf("format.phases[%d].slots", i), "fit nobody who takes part")
		}
	}
	for reader, speakers := range order.ByKey(format.Reads.Edges) {
		for _, name := range append([]string{reader}, speakers...) {
			if !known[name] {
				c.Addf("format.reads.edges", "%w", flow.Unknown("participant", name, names...))
			}
		}
	}
}

// seats checks that the sides are as the format requires, and reports whether they are.
func (c *check) seats(format *Format, in Cast) bool {
	if len(format.Seats) == 0 {
		return true
	}
	before := len(c.Findings)
	for i, seat := range in.Seats {
		field := fmt.Sprintf("participants[%d].side", i)
		if format.seatsOf(seat.Side) == nil {
			c.Addf(field, "%w", text.Absent("side", "known to format "+format.Name, seat.Side, format.sides()...))
		} else {
			c.side(field, seat.Side) // a seat may be free for any side
		}
	}
	if len(c.Findings) > before { // that other sides lack somebody follows from it
		return false
	}
	for _, seats := range format.Seats {
		n := format.seated(in, seats.Side)
		if n < seats.Min || seats.Max > 0 && n > seats.Max {
			wants := fmt.Sprintf("%d to %d", seats.Min, seats.Max)
			switch seats.Max {
			case 0:
				wants = fmt.Sprintf("%d or more", seats.Min)
			case seats.Min:
				wants = strconv.Itoa(seats.Min)
			}
			c.Addf("participants", "of side %q there are %d: format %s has %s", seats.Side, n, format.Name, wants)
		}
	}
	return len(c.Findings) == before
}

// sides returns the sides that have seats.
func (f *Format) sides() (all []Side) {
	for _, seats := range f.Seats {
		all = append(all, seats.Side)
	}
	return all
}

// seated returns how many participants take the seats of a side.
func (f *Format) seated(in Cast, side Side) int {
	n := 0
	for _, seat := range in.Seats {
		if seats := f.seatsOf(seat.Side); seats != nil && seats.Side == side {
			n++
		}
	}
	return n
}
