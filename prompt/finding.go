package prompt

// Findings are what the program measured in the speeches that a judge is about to weigh.
type Findings struct {
	Items []string // one line each, in the engine's own words: no text of a model
}

// Findings yields a block that stands with the instruction to assess a round, and "" if there is
// nothing to tell. An error comes only from a replaced template.
func (s *Set) Findings(f Findings) (string, error) {
	f.Items = entries(f.Items)
	return s.render("findings", f)
}
