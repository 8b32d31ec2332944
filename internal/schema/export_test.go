package schema

// HasAcceptor reports whether a schema has only rules that acceptors know.
func (s *Schema) HasAcceptor() bool { return s.acceptor != nil }

// Accepts reports whether a schema's acceptor accepts a value.
func (s *Schema) Accepts(v any) bool { return s.acceptor != nil && s.acceptor.accepts(v) }

// Problems returns what the validator alone finds in a value.
func (s *Schema) Problems(v any) []string {
	alone := *s
	alone.acceptor = nil
	return alone.Validate(v)
}
