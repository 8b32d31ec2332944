package redact

// Stream removes secrets from a text that arrives in pieces. It holds a piece's end back only while that may be part of
// a secret: while at least eight bytes of one have come. So at most seven bytes of a secret pass before it is noticed.
// The zero Stream changes nothing. A Stream must not be copied or used concurrently.
type Stream struct {
	scan    *scanner
	held    []byte  // what has come and not passed
	base    int     // bytes before it
	covered int     // the end of the last secret that was replaced
	next    *Stream // nil: what passes is shown
}

// NewStream returns a Stream that removes the secrets of a Set.
func NewStream(set *Set) *Stream {
	if set == nil {
		return &Stream{}
	}
	return &Stream{scan: newScanner(set)}
}

// Also makes the Stream remove the secrets of another Set from what it has not shown yet.
func (s *Stream) Also(set *Set) {
	for s.next != nil {
		s = s.next
	}
	if set != nil {
		s.next = NewStream(set)
	}
}

// Next takes the next piece, and returns what can be shown by now.
func (s *Stream) Next(piece string) string {
	text := s.pass(piece)
	if s.next != nil {
		return s.next.Next(text)
	}
	return text
}

// pass is Next for the Stream's own secrets.
func (s *Stream) pass(piece string) string {
	if s.scan == nil {
		return piece
	}
	s.scan.write(piece)
	at := s.scan.safe()
	if len(s.held) == 0 && len(s.scan.spans) == 0 && at == s.scan.at && s.covered <= s.base {
		s.base = at
		return piece
	}
	s.held = append(s.held, piece...)
	return s.release(at)
}

// End returns what was held back. The next piece begins a new text.
func (s *Stream) End() string {
	rest, next := "", s.next
	if s.scan != nil {
		s.scan.end()
		rest = s.release(s.scan.at)
		*s = Stream{scan: newScanner(s.scan.set), next: next}
	}
	if next != nil {
		rest = next.Next(rest) + next.End()
	}
	return rest
}

// release returns the text up to a place that no secret crosses, without the secrets in it.
func (s *Stream) release(upto int) string {
	s.scan.spans = Merge(s.scan.spans)
	var out []byte
	at := max(s.base, s.covered)
	show := func(to int) {
		if to > at {
			out = append(out, s.held[at-s.base:to-s.base]...)
			at = to
		}
	}
	n := 0
	for n < len(s.scan.spans) && s.scan.spans[n].Start < upto {
		span := s.scan.spans[n]
		n++
		show(span.Start)
		if span.Start >= s.covered {
			out = append(out, Mark...)
		}
		s.covered = max(s.covered, span.End)
		at = max(at, span.End)
	}
	show(upto)
	s.scan.spans = s.scan.spans[:copy(s.scan.spans, s.scan.spans[n:])]
	if upto > s.base {
		s.held = s.held[:copy(s.held, s.held[upto-s.base:])]
		s.base = upto
	}
	return string(out)
}
