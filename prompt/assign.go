package prompt

// Assign is what a model is asked when speakers have no positions yet.
type Assign struct {
	Topic     string
	Count     int      // positions to find
	Diversity string   // "binary", "spectrum" or "multi-perspective"; else the model chooses
	Taken     []Person // who has a position already
}

// Assign yields the instruction to find positions. It describes each field of the JSON to answer
// with: positions (position, persona, keyArguments) and reasoning. An error comes only from a
// replaced template.
func (s *Set) Assign(a Assign) (string, error) {
	a.Topic = block(a.Topic)
	a.Taken = people(a.Taken)
	return s.render("assign", a)
}
