package debate

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/detect"
)

// Assign lets a model find positions, personas and key arguments for the participants that have no
// position. Positions that the config gives stay.
type Assign struct {
	// Model is "provider/model": that of the first judge if empty.
	Model string `json:"model,omitempty"`
	// Fallbacks are models that take over, in order, when the one before keeps failing.
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Diversity is the spread of opinion that is wanted: MultiPerspective if empty.
	Diversity Diversity `json:"diversity,omitempty"`
	// Temperature is 0.9 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
}

// Diversity is a spread of opinion.
type Diversity string

// The spreads of opinion.
const (
	Binary           Diversity = "binary"            // two camps
	Spectrum         Diversity = "spectrum"          // from one end to the other
	MultiPerspective Diversity = "multi-perspective" // different angles
)

const defaultAssignTemperature = 0.9

func (a *Assign) defaults(j *Judging) {
	if a.Model == "" && j != nil && len(j.Judges) > 0 {
		a.Model = j.Judges[0].Model
		if len(a.Fallbacks) == 0 {
			a.Fallbacks = append(a.Fallbacks, j.Judges[0].Fallbacks...)
		}
	}
	setIfZero(&a.Diversity, MultiPerspective)
	setIfZero(&a.Temperature, new(defaultAssignTemperature))
}

func (a *Assign) clone() *Assign {
	d := cloneValue(a)
	if d == nil {
		return nil
	}
	d.Fallbacks = append([]string(nil), a.Fallbacks...)
	d.Temperature = cloneValue(a.Temperature)
	return d
}

// PositionPlan is what a model answers with when it finds positions.
type PositionPlan struct {
	Positions []PlannedPosition `json:"positions" jsonschema:"description=one for each speaker without a position"`
	Reasoning string            `json:"reasoning" jsonschema:"description=why these positions make a good debate"`
}

// PlannedPosition is a position with who holds it and on what grounds.
type PlannedPosition struct {
	Position     string   `json:"position"`
	Persona      string   `json:"persona"`
	KeyArguments []string `json:"keyArguments"`
}

// Assignment is what was found for the participants without a position.
type Assignment struct {
	Spend
	Positions []AssignedPosition `json:"positions"`
	Reasoning string             `json:"reasoning"`
}

// AssignedPosition is a participant's position.
type AssignedPosition struct {
	Participant  string   `json:"participant"`
	Position     string   `json:"position"`
	Persona      string   `json:"persona"`
	KeyArguments []string `json:"keyArguments"`
}

// alike is the overlap of word 3-grams from which two positions count as one. A sentence that differs
// from another by one word of ten has about 0.5.
const alike = 0.5

// mostAssigned bounds a text that a model writes into other models' system prompts, in bytes.
const mostAssigned = 2000

// checkPlan finds what no schema can say: as many positions as are missing, none blank, none like
// another.
func checkPlan(r *Record, p *PositionPlan) []string {
	d := of(r)
	open := d.unplaced()
	var problems []string
	if len(p.Positions) != len(open) {
		problems = append(problems, fmt.Sprintf("positions: there are %d, but %d are to be found", len(p.Positions), len(open)))
	}
	var known []detect.Shingles
	for _, taken := range d.config.Participants {
		if taken.Position != "" {
			known = append(known, detect.Shingle(taken.Position))
		}
	}
	for i, position := range p.Positions {
		at := fmt.Sprintf("positions[%d]", i)
		problems = append(problems, blank(at+".position", position.Position)...)
		problems = append(problems, blank(at+".persona", position.Persona)...)
		if len(position.KeyArguments) == 0 {
			problems = append(problems, at+".keyArguments: is empty")
		}
		for k, argument := range position.KeyArguments {
			problems = append(problems, blank(fmt.Sprintf("%s.keyArguments[%d]", at, k), argument)...)
			if len(argument) > mostAssigned {
				problems = append(problems, fmt.Sprintf("%s.keyArguments[%d]: is too long", at, k))
			}
		}
		if len(position.Position) > mostAssigned || len(position.Persona) > mostAssigned || len(position.KeyArguments) > 20 {
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
	return append(problems, blank("reasoning", p.Reasoning)...)
}

// unplaced yields the seats of the participants that were configured without a position.
func (d *Debate) unplaced() []int {
	var open []int
	for i := range d.config.Participants {
		if d.config.Participants[i].Position == "" && d.format.Judged(d.config.Participants[i].Side) {
			open = append(open, i)
		}
	}
	return open
}

// placed yields the participant in a seat with what was found for it.
func (d *Debate) placed(seat int) Participant {
	p := d.config.Participants[seat]
	if d.Assignment == nil {
		return p
	}
	for _, found := range d.Assignment.Positions {
		if found.Participant == p.Name {
			p.Position = found.Position
			setIfZero(&p.Persona, found.Persona)
		}
	}
	return p
}

// assigned matches a plan with the participants.
func (d *Debate) assigned(spend Spend, p *PositionPlan) *Assignment {
	a := &Assignment{Spend: spend, Reasoning: p.Reasoning}
	for i, seat := range d.unplaced() {
		found := p.Positions[i]
		a.Positions = append(a.Positions, AssignedPosition{
			Participant: d.config.Participants[seat].Name, Position: found.Position, Persona: found.Persona, KeyArguments: found.KeyArguments,
		})
	}
	return a
}

// foldAssignment writes what was found into the prompts.
func (d *Debate) foldAssignment(a *Assignment) {
	d.Assignment = a
	var pairs []string
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
		pairs = append(pairs, positionHole(seat), line(found.Position), personaHole(seat), line(found.Persona),
			argumentsHole(seat), strings.Join(arguments, "\n- "))
	}
	fill := strings.NewReplacer(pairs...)
	hidden := fill
	if len(d.drawn.Labels) > 0 {
		for i := 1; i < len(pairs); i += 2 {
			pairs[i] = d.Hide(pairs[i])
		}
		hidden = strings.NewReplacer(pairs...)
	}
	texts := make(map[string]string, len(d.texts))
	for name, text := range d.texts {
		if who, ok := strings.CutPrefix(name, "system."); ok && d.seatOfJudge(who) >= 0 {
			texts[name] = hidden.Replace(text)
			continue
		}
		texts[name] = fill.Replace(text)
	}
	d.texts = texts
	d.readSystems()
}
