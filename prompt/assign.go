package prompt

// AssignPositions holds the values of the instruction to find positions for speakers who have none.
type AssignPositions struct {
	Topic          string
	FormatGuidance string   // what kind of discussion it is
	Count          int      // positions to find
	Diversity      string   // "binary", "spectrum" or "multi-perspective", which it is otherwise
	Open           []Person // those for whom positions are found, in the order of the answer
	Taken          []Person // persons who have a position already
	Instructions   string   // the host program's own, after all others
	Language       string   // of the positions; "": that of the topic
	Fields         string   // what the answer holds, as [Fields] writes it
}

// AssignPositions returns the instruction to find positions. A replaced template must print the Fields. It fails only if a replaced
// template fails.
func (s *Set) AssignPositions(a AssignPositions) (string, error) {
	a.Topic = quoted(a.Topic)
	a.FormatGuidance = block(a.FormatGuidance)
	a.Instructions = block(a.Instructions)
	a.Language = entry(a.Language)
	a.Open = people(a.Open)
	a.Taken = people(a.Taken)
	return s.render("assign", a)
}
