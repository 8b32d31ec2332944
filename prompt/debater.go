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

// Debater is what a speaker is told for the whole debate: one who argues, or with Chair the one who
// leads the talk. Empty fields are left out of the text.
type Debater struct {
	Topic          string
	Name           string
	Side           string // "for", "against", "neutral" or a format's own word
	Position       string // what is argued; "": the side, the role or the debater decides
	Persona        string
	KeyArguments   []string // what the case is built on, one line each
	Instructions   string   // the host's own, after all others
	Format         string
	FormatGuidance string
	Role           string   // what the format asks of this speaker over the whole debate
	Chair          bool     // leads the talk and is neutral: has no Side, Position or KeyArguments, whatever they hold
	Others         []Person // everybody else, in the order in which they are shown
	Rounds         int      // planned; 0: open
	Fence          string   // the word of the markers around other speakers' words; "": "word" stands for it
}

// Debater yields the system prompt of a speaker. It is constant over a debate, so that prompt caches
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
	d.KeyArguments = entries(d.KeyArguments)
	d.Instructions = block(d.Instructions)
	d.Format = entry(d.Format)
	d.FormatGuidance = block(d.FormatGuidance)
	d.Role = block(d.Role)
	if d.Chair {
		d.Side, d.Position, d.KeyArguments = "", "", nil
	}
	d.Others = people(d.Others)
	d.Fence = fence(d.Fence)
	return d
}

// Turn is what a speaker, or somebody of the audience, is asked in one phase of a debate. A turn that
// asks or answers is told so in place of what Opening, Closing and Chair say.
type Turn struct {
	Phase       string // as it is shown: "opening", "rebuttal", …; "": none
	Instruction string // what the format asks; stands alone in a phase that neither opens nor closes
	Target      string // to whom the turn is addressed; "": to all
	Opening     bool   // the speakers' first turns: lay out the case
	Closing     bool   // the speakers' last turns: sum up
	Question    bool   // put one short question to Target
	Answer      bool   // answer Target's last question and ask nothing back; comes before Question
	Chair       bool   // the turn of one who leads the talk and argues no case
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
	t.Target = entry(t.Target)
	return s.render("turn", t)
}
