package prompt

// Person is somebody who takes part, as others are told about it.
type Person struct {
	Name     string
	Side     string // "for", "against", "neutral" or a format's own word; "": none
	Position string // "": not told
}

// String yields the person as an entry of a list: name, side in brackets, position.
func (p Person) String() string {
	s := p.Name
	if p.Side != "" {
		s += " (" + p.Side + ")"
	}
	if p.Position != "" {
		s += ": " + p.Position
	}
	return s
}

// Debater is what a debater is told for the whole debate. Empty fields are left out of the text.
type Debater struct {
	Topic          string
	Name           string
	Side           string // "for", "against", "neutral" or a format's own word
	Position       string // what is argued; "": the debater chooses
	Persona        string
	Instructions   string // the host's own, after all others
	Format         string
	FormatGuidance string
	Others         []Person // everybody else, in the order in which they are shown
	Rounds         int      // planned; 0: open
	Fence          string   // the word of the markers around other speakers' words; "": "word" stands for it
}

// Debater yields the system prompt of a debater. It is constant over a debate, so that prompt caches
// hit. An error comes only from a replaced template.
func (s *Set) Debater(d Debater) (string, error) {
	return s.render("debater", d.clean())
}

func (d Debater) clean() Debater {
	d.Topic = block(d.Topic)
	d.Name = entry(d.Name)
	d.Side = entry(d.Side)
	d.Position = block(d.Position)
	d.Persona = block(d.Persona)
	d.Instructions = block(d.Instructions)
	d.Format = entry(d.Format)
	d.FormatGuidance = block(d.FormatGuidance)
	d.Others = people(d.Others)
	d.Fence = fence(d.Fence)
	return d
}

// Turn is what a debater is asked in one phase of a debate.
type Turn struct {
	Phase       string // as it is shown: "opening", "rebuttal", …; "": none
	Instruction string // what the format asks; stands alone in a phase that neither opens nor closes
	Opening     bool   // the speakers' first turns: lay out the case
	Closing     bool   // the speakers' last turns: sum up
	Words       int    // length to aim for, in words; 0: as in the system prompt
	Rounds      int    // planned; 0: open
}

// Round is what {{.Round}} yields in a template: the placeholder.
func (Turn) Round() string { return Round }

// Turn yields the instruction before a turn, rendered once per phase: [Fill] puts the round in. An
// error comes only from a replaced template.
func (s *Set) Turn(t Turn) (string, error) {
	t.Phase = entry(t.Phase)
	t.Instruction = block(t.Instruction)
	return s.render("turn", t)
}
