package prompt

// Person describes a participant for other participants.
type Person struct {
	Name     string
	Side     string // "for", "against" or "neutral"; "": none
	Position string // "": not shown
	Persona  string // "": not shown
}

// String returns the person as an entry of a list: name, side in brackets, position, persona.
func (p Person) String() string {
	s := p.Name
	if p.Side != "" {
		s += " (" + p.Side + ")"
	}
	if p.Position != "" {
		s += ": " + p.Position
	}
	if p.Persona != "" {
		s += " – persona: " + p.Persona
	}
	return s
}

// Debater holds the values of a speaker's system prompt: one who argues or, with Chair, the one who leads
// the talk. Empty fields leave no trace in the text.
type Debater struct {
	Topic    string
	Name     string
	Side     string // "for", "against" or "neutral"; "": none
	Means    string // what the side means for the topic, said to its speaker: "you say yes to the topic"; "": the role says it
	Position string // what is argued; "": the side, the role or the debater decides
	// Stance is how the speaker stands to what is argued: "advocate", "open", "shared", "examined", "proposal" or "critic". "":
	// "advocate".
	Stance         string
	Place          string // among those to whom nothing else gives a view of their own, such as "number 1 of 2"; "": not told
	Released       bool   // a phase frees speakers from what was assigned: see Turn.Released
	Sources        bool   // the speaker can look something up: by a search, by tools or in files
	Persona        string
	KeyArguments   []string // the basis of the case, one line each
	Instructions   string   // the host program's own, after all others
	Format         string   // its name, for replaced templates: the embedded one does not show it
	FormatGuidance string   // what kind of discussion it is
	Role           string   // what the format demands of this speaker over the whole debate: "to open the talk"
	Chair          bool     // leads the talk and is neutral; Side, Means, Position, KeyArguments and Place are ignored
	Others         []Person // everybody else, in the order in which they are shown
	Rounds         int      // planned, for replaced templates; 0: open
	Language       string   // in which the speaker writes; "": that of the topic
	Fence          string   // the fence word around other speakers' texts; "": "word" stands for it
}

// Debater returns the system prompt of a speaker. It is constant over a debate, so that prompt caches
// hit. It fails only if a replaced template fails.
func (s *Set) Debater(d Debater) (string, error) {
	return s.render("debater", d.clean())
}

func (d Debater) clean() Debater {
	d.Topic = quoted(d.Topic)
	d.Name = entry(d.Name)
	d.Side = entry(d.Side)
	d.Means = entry(d.Means)
	d.Stance = entry(d.Stance)
	d.Place = entry(d.Place)
	d.Language = entry(d.Language)
	d.Position = quoted(d.Position)
	d.Persona = quoted(d.Persona)
	d.KeyArguments = entries(d.KeyArguments)
	d.Instructions = block(d.Instructions)
	d.Format = entry(d.Format)
	d.FormatGuidance = block(d.FormatGuidance)
	d.Role = block(d.Role)
	if d.Chair {
		d.Side, d.Means, d.Position, d.Place, d.KeyArguments = "", "", "", "", nil
	}
	d.Others = people(d.Others)
	d.Fence = fence(d.Fence)
	return d
}

// Turn holds the values of the instruction for a speaker, or a member of the audience, in one phase of a
// debate. If Answer or Question is set, the instruction says so, and ignores Opening, Closing and Chair. Otherwise Instruction, if there
// is one, says all that is asked.
type Turn struct {
	Phase       string // its name: "opening", "rebuttal", …; "": none. The embedded template does not show it
	Instruction string // what the format demands; to a question or an answer it adds that
	Target      string // to whom the turn is addressed; "": to everybody
	First       bool   // nobody has spoken before this turn
	Opening     bool   // the speakers' first turns: lay out the case
	Closing     bool   // the speakers' last turns: sum up
	Question    bool   // put one short question to Target
	Answer      bool   // answer Target's last question and ask nothing back; takes precedence over Question
	// Released is what binds the speaker no longer from this turn on: "side", "position", "both" of these, "view" for a view that the
	// speaker has taken, or "critic" for the part of a critic and all that was assigned beside it. "": nothing is released.
	Released string
	Chair    bool    // the turn of the one who leads the talk and argues no case
	Words    int     // length to aim for, in words; 0: as in the system prompt
	Rounds   Planned // 0: open
}

// Round returns the placeholder; templates use it as {{.Round}}.
func (Turn) Round() string { return Round }

// Turn returns the instruction before a turn. It is rendered once per phase; [Fill] inserts the round and the number of rounds. Where a
// replaced template yields no text, such as {{.Instruction}} for a turn without one, the embedded template asks: a request never ends on
// what somebody else has said. Turn fails only if a replaced template fails.
func (s *Set) Turn(t Turn) (string, error) {
	t.Phase = entry(t.Phase)
	t.Instruction = block(t.Instruction)
	t.Target = entry(t.Target)
	t.Released = entry(t.Released)
	text, err := s.render("turn", t)
	if err == nil && text == "" {
		own, _ := embedded()
		return own.render("turn", t)
	}
	return text, err
}
