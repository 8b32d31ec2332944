package prompt

// Tools is what a model is told after its tools have answered.
type Tools struct {
	Left string // how often it may use tools yet, as it is to be written; "": not any more
}

// Tools yields the instruction that follows the answers of tools. An error comes only from a replaced
// template.
func (s *Set) Tools(t Tools) (string, error) {
	t.Left = entry(t.Left)
	return s.render("tools", t)
}
