package prompt

// Findings holds what the program measured in the speeches that a judge is about to assess.
type Findings struct {
	Items []string // one line each, in the engine's own words, without text of a model
}

// Findings returns a block for the instruction to assess a round, or "" if there are no findings. It
// fails only if a replaced template fails.
func (s *Set) Findings(f Findings) (string, error) {
	f.Items = entries(f.Items)
	return s.render("findings", f)
}
