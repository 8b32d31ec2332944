package prompt

// Voter holds the values of a voter's system prompt. Empty fields leave no trace in the text.
type Voter struct {
	Topic          string // the motion
	Name           string
	Persona        string // the person in whose place the voter listens
	For            string // what a vote for the motion means; "": agreement, or a yes
	Against        string // what a vote against it means; "": disagreement, or a no
	Format         string
	FormatGuidance string
	Participants   []Person // in the order in which they are shown
	Instructions   string   // the host program's own, after all others
	Language       string   // in which the voter writes; "": that of the topic
	Fence          string   // the fence word around speakers' texts; "": "word" stands for it
}

// Voter returns the system prompt of a member of the audience, who votes on a [Ballot] and may put a
// question in a [Turn]. It is constant over a debate, so that prompt caches hit. It fails only if a
// replaced template fails.
func (s *Set) Voter(v Voter) (string, error) {
	v.Topic = quoted(v.Topic)
	v.Name = entry(v.Name)
	v.Persona = quoted(v.Persona)
	v.For = entry(v.For)
	v.Against = entry(v.Against)
	v.Format = entry(v.Format)
	v.FormatGuidance = block(v.FormatGuidance)
	v.Participants = people(v.Participants)
	v.Instructions = block(v.Instructions)
	v.Language = entry(v.Language)
	v.Fence = fence(v.Fence)
	return s.render("voter", v)
}

// Ballot holds the values of the instruction to vote, once before the debate and once after it.
type Ballot struct {
	Before bool   // nothing has been said yet
	Former string // how the voter has voted before the debate; "": not told
	Fields string // what the answer holds, as [Fields] writes it
}

// Ballot returns the instruction to vote, for an answer with reasoning and a vote: "for", "against" or "undecided". It fails only if a
// replaced template fails.
func (s *Set) Ballot(b Ballot) (string, error) {
	b.Former = entry(b.Former)
	return s.render("ballot", b)
}
