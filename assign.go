package debate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// AssignPositions lets a model find positions, personas and key arguments for the participants that have no position. The model is told
// the format, the sides, the positions that are taken and the personas. Positions and personas in the config stay.
type AssignPositions struct {
	// Model is "provider/model": the model of the first judge if empty.
	Model string `json:"model,omitempty" redact:"-"`
	// Fallbacks are models that take over, in this order, when the model before keeps failing.
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Diversity is the desired spread of opinion: MultiPerspective if empty.
	Diversity Diversity `json:"diversity,omitempty" redact:"-"`
	// Instructions are added to the prompt unchanged. They are trusted: do not fill them from a user's input.
	Instructions string `json:"instructions,omitempty"`
	// Temperature is 0.9 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
}

// Diversity is a spread of opinion.
type Diversity string

// The spreads of opinion.
const (
	Binary           Diversity = "binary"            // two camps
	Spectrum         Diversity = "spectrum"          // from one end to the other
	MultiPerspective Diversity = "multi-perspective" // different angles
)

const (
	defaultAssignTemperature = 0.9
	fieldAssign              = "assignPositions"
)

func (a *AssignPositions) seat() flow.Seat {
	return flow.Seat{
		Field: fieldAssign, By: assigner, Model: &a.Model, Fallbacks: &a.Fallbacks, Temperature: &a.Temperature, Options: &a.Options,
		Usual: defaultAssignTemperature, Vacant: true,
	}
}

func (a *AssignPositions) defaults(j *Judging) {
	if a.Model == "" && j != nil && len(j.Judges) > 0 {
		a.Model = j.Judges[0].Model
		if len(a.Fallbacks) == 0 {
			a.Fallbacks = append(a.Fallbacks, j.Judges[0].Fallbacks...)
		}
	}
	a.Diversity = cmp.Or(a.Diversity, MultiPerspective)
}

// PositionPlan is the answer of a model that finds positions.
type PositionPlan struct {
	Positions []PlannedPosition `json:"positions" jsonschema:"description=one for each speaker without a position"`
	Reasoning string            `json:"reasoning" jsonschema:"description=why these positions make a good debate"`
}

// PlannedPosition is a position with a persona and key arguments, for a participant.
type PlannedPosition struct {
	Participant string `json:"participant" jsonschema:"enum=participant's name" redact:"-"`
	// Side is the side that the position takes. It must be the participant's own side, or "none" if the participant has no
	// side.
	Side         string   `json:"side" jsonschema:"enum=for,enum=against,enum=neutral,enum=none" redact:"-"`
	Position     string   `json:"position"`
	Persona      string   `json:"persona"`
	KeyArguments []string `json:"keyArguments"`
}

// Assignment is what was found for the participants without a position.
type Assignment struct {
	flow.Spend
	Positions []AssignedPosition `json:"positions"`
	Reasoning string             `json:"reasoning"`
}

// AssignedPosition is a participant's position.
type AssignedPosition struct {
	Participant  string   `json:"participant" redact:"-"`
	Position     string   `json:"position"`
	Persona      string   `json:"persona"`
	KeyArguments []string `json:"keyArguments"`
}

// alike is the overlap of word 3-grams from which on two positions count as one. Two sentences that differ by one
// word in ten have about 0.5.
const alike = 0.5

// mostAssigned bounds a text that a model writes into the system prompts of other models, in bytes. usualAssigned is what a usual one has.
const (
	mostAssigned  = 2000
	usualAssigned = 100
)

// checkPlan finds what no schema can express: each participant without a position has one, for its side, none is blank, and
// none is like another.
func checkPlan(r *flow.Record, p *PositionPlan) []string {
	d := of(r)
	open := d.unplaced()
	var problems []string
	if len(p.Positions) != len(open) {
		problems = append(problems, fmt.Sprintf("positions: %s, but %d to be found", prompt.There(len(p.Positions)), len(open)))
	}
	var known []detect.Shingles
	for _, taken := range d.config.Participants {
		if taken.Position != "" {
			known = append(known, detect.Shingle(taken.Position))
		}
	}
	for i, position := range p.Positions {
		at := fmt.Sprintf("positions[%d]", i)
		problems = append(problems, d.misplaced(at, p.Positions[:i], &p.Positions[i])...)
		problems = append(problems, blank(at+".position", position.Position)...)
		problems = append(problems, d.checkPersona(at, &p.Positions[i])...)
		if len(position.KeyArguments) == 0 {
			problems = append(problems, at+".keyArguments: is empty")
		}
		for k, argument := range position.KeyArguments {
			problems = append(problems, blank(fmt.Sprintf("%s.keyArguments[%d]", at, k), argument)...)
			if len(argument) > mostAssigned {
				problems = append(problems, fmt.Sprintf("%s.keyArguments[%d]: is too long", at, k))
			}
		}
		if len(position.Position) > mostAssigned || len(position.KeyArguments) > 20 {
			problems = append(problems, at+": is too long: a position is a sentence")
		}
		shingles := detect.Shingle(position.Position)
		for _, other := range known {
			if shingles.Jaccard(other) >= alike {
				problems = append(problems, at+".position: says the same as another one")
				break
			}
		}
		known = append(known, shingles)
	}
	problems = append(problems, blank("reasoning", p.Reasoning)...)
	if len(problems) == 0 && !d.fits(d.assigned(flow.Spend{}, p)) {
		problems = append(problems, "positions: are too long together, since everybody is told all of them: shorten each")
	}
	return problems
}

// checkPersona finds what is wrong with a persona. If the config gives one, that one stays, whatever the answer says.
func (d *Debate) checkPersona(at string, p *PlannedPosition) []string {
	seat := d.Seat(p.Participant)
	switch {
	case seat >= 0 && d.config.Participants[seat].Persona != "":
		return nil
	case len(p.Persona) > mostAssigned:
		return []string{at + ": is too long: a persona is at most two sentences"}
	default:
		return blank(at+".persona", p.Persona)
	}
}

// noSide is the side of a planned position for a participant without a side.
const noSide = "none"

// misplaced finds what is wrong with whom a position is for. before are the positions before it.
func (d *Debate) misplaced(at string, before []PlannedPosition, p *PlannedPosition) []string {
	seat := d.Seat(p.Participant)
	if !slices.Contains(d.unplaced(), seat) {
		return []string{at + ".participant: is no speaker without a position; write the names exactly as given"}
	}
	if slices.ContainsFunc(before, func(other PlannedPosition) bool { return other.Participant == p.Participant }) {
		return []string{fmt.Sprintf("%s.participant: %s has a position already", at, p.Participant)}
	}
	if side := cmp.Or(string(d.config.Participants[seat].Side), noSide); p.Side != side {
		return []string{fmt.Sprintf("%s.side: the side of %s is %q, and the position takes %q", at, p.Participant, side, p.Side)}
	}
	return nil
}

// unplaced returns the seats of the participants that the config gives no position.
func (d *Debate) unplaced() []int {
	var open []int
	for i := range d.config.Participants {
		if d.config.Participants[i].Position == "" && d.format.Judged(d.config.Participants[i].Side) {
			open = append(open, i)
		}
	}
	return open
}

// placed returns the participant in a seat, with what was found for it.
func (d *Debate) placed(seat int) Participant {
	p := d.config.Participants[seat]
	if d.Assignment == nil {
		return p
	}
	for _, found := range d.Assignment.Positions {
		if found.Participant == p.Name {
			p.Position = found.Position
			p.Persona = cmp.Or(p.Persona, found.Persona)
		}
	}
	return p
}

// assigned gives the positions of a plan to the participants.
func (d *Debate) assigned(spend flow.Spend, p *PositionPlan) *Assignment {
	a := &Assignment{Spend: spend, Reasoning: p.Reasoning}
	for _, seat := range d.unplaced() {
		who := &d.config.Participants[seat]
		for _, found := range p.Positions {
			if found.Participant == who.Name {
				persona := cmp.Or(who.Persona, found.Persona)
				a.Positions = append(a.Positions, AssignedPosition{who.Name, found.Position, persona, found.KeyArguments})
			}
		}
	}
	return a
}

// foldAssignment writes what was found into the prompts. checkPlan has seen that it fits. A log that was written elsewhere may hold very
// many holes: what does not fit then stays as it is, the same texts in every process.
func (d *Debate) foldAssignment(a *Assignment) {
	d.Assignment = a
	texts, room, in := maps.Clone(d.texts), mostTexts, d.fillings(a)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fill := in(name)
		if room -= fill.size(texts[name]); room < 0 {
			break
		}
		texts[name] = fill.in(texts[name])
	}
	d.texts = texts
	d.readSystems()
}

// fits reports whether the prompts stay within their bound with what was found.
func (d *Debate) fits(a *Assignment) bool {
	room, in := mostTexts, d.fillings(a)
	for name, text := range d.texts {
		room -= in(name).size(text)
	}
	return room >= 0
}

// fillings returns what fills the holes of a prompt, by its name. In what judges are told who know labels, names are replaced by these.
func (d *Debate) fillings(a *Assignment) func(name string) filling {
	all := d.filling(a)
	hidden := all
	if len(d.drawn.Labels) > 0 {
		hidden = make(filling, len(all))
		for hole, text := range all {
			hidden[hole] = d.Hide(text)
		}
	}
	return func(name string) filling {
		if who, ok := strings.CutPrefix(name, textSystem.of("")); ok && d.seatOfJudge(who) >= 0 {
			return hidden
		}
		return all
	}
}

// filling is what takes the place of holes, by hole.
type filling map[string]string

func (d *Debate) filling(a *Assignment) filling {
	f := make(filling, 3*len(a.Positions))
	line := func(text string) string { return d.Line(text, mostAssigned) }
	for _, found := range a.Positions {
		seat := d.Seat(found.Participant)
		if seat < 0 {
			continue
		}
		arguments := make([]string, len(found.KeyArguments))
		for i := range arguments {
			arguments[i] = line(found.KeyArguments[i])
		}
		f[positionHole(seat)], f[personaHole(seat)] = line(found.Position), line(found.Persona)
		f[argumentsHole(seat)] = strings.Join(arguments, "\n- ")
	}
	return f
}

// size returns how many bytes a text has when its holes are filled.
func (f filling) size(text string) int {
	size := 0
	f.pieces(text, func(piece string) { size += len(piece) })
	return size
}

// in returns a text with its holes filled.
func (f filling) in(text string) string {
	if !strings.Contains(text, seatMark) {
		return text
	}
	var b strings.Builder
	b.Grow(f.size(text))
	f.pieces(text, func(piece string) { b.WriteString(piece) })
	return b.String()
}

// pieces hands out a text with its holes filled, from its beginning to its end.
func (f filling) pieces(text string, add func(string)) {
	for {
		begin := strings.Index(text, seatMark)
		if begin < 0 {
			add(text)
			return
		}
		add(text[:begin])
		text = text[begin:]
		hole := text[:len(seatMark)]
		if end := strings.Index(text[len(hole):], seatMark); end >= 0 {
			hole = text[:end+2*len(hole)]
		}
		with, ok := f[hole]
		if !ok { // a mark alone
			hole, with = seatMark, seatMark
		}
		add(with)
		text = text[len(hole):]
	}
}

// assignCalls returns the call that finds positions, if it is still missing.
func assignCalls(d *Debate) []*flow.Call {
	a := d.config.AssignPositions
	const id = "assign"
	if a == nil || d.Assignment != nil || len(d.unplaced()) == 0 {
		return nil
	}
	call := &flow.Call{
		ID: id, Kind: KindAssign, View: flow.View{None: true}, Schema: string(KindAssign),
		Last: func(*flow.Record) string { return d.Text("assign") }, Timeout: d.config.JudgeTimeout,
	}
	a.seat().Ask(call)
	return []*flow.Call{call}
}

// assigner is the name under which the search for positions is accounted.
const assigner = "assigner"
