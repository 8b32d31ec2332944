package prompt

// Tools holds the values of the instruction after the answers of tools.
type Tools struct {
	Left string // how often the model may still use tools, in words; "": not any more
}

// Tools returns the instruction after the answers of tools. It fails only if a replaced template fails.
func (s *Set) Tools(t Tools) (string, error) {
	t.Left = entry(t.Left)
	return s.render("tools", t)
}
