package prompt

// Voter is what a member of the audience is told for the whole debate. Empty fields are left out of
// the text.
type Voter struct {
	Topic          string // the motion
	Name           string
	Persona        string // in whose place the voter listens
	For            string // what a vote for the motion means; "": agreement, or a yes
	Against        string // what a vote against it means; "": disagreement, or a no
	Format         string
	FormatGuidance string
	Participants   []Person // in the order in which they are shown
	Fence          string   // the word of the markers around speakers' words; "": "word" stands for it
}

// Voter yields the system prompt of a member of the audience, who votes on a [Ballot] and may put a
// question in a [Turn]. It is constant over a debate, so that prompt caches hit. An error comes only
// from a replaced template.
func (s *Set) Voter(v Voter) (string, error) {
	v.Topic = block(v.Topic)
	v.Name = entry(v.Name)
	v.Persona = block(v.Persona)
	v.For = entry(v.For)
	v.Against = entry(v.Against)
	v.Format = entry(v.Format)
	v.FormatGuidance = block(v.FormatGuidance)
	v.Participants = people(v.Participants)
	v.Fence = fence(v.Fence)
	return s.render("voter", v)
}

// Ballot is what a member of the audience is asked, once before the debate and once after it.
type Ballot struct {
	Before bool // nothing has been said yet
}

// Ballot yields the instruction before a vote. It describes each field of the JSON to answer with:
// vote ("for", "against" or "undecided") and reasoning. An error comes only from a replaced template.
func (s *Set) Ballot(b Ballot) (string, error) {
	return s.render("ballot", b)
}
