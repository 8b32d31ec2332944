package google

import (
	"io"

	"github.com/agonist-dev/debate/provider/wire"
)

const maxStray = 64 << 10 // bytes

// stray reads a stream and keeps what it holds outside of events, from the first line on that begins like
// a JSON document. In this form the API breaks off a stream when it runs out of capacity, and answers if
// it does not stream at all.
type stray struct {
	r    io.Reader
	line bool // within a line
	kept []byte
}

// Read implements io.Reader.
func (s *stray) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	for i := 0; i < n && s.kept == nil; i++ {
		switch b[i] {
		case '\n', '\r':
			s.line = false
		case ' ', '\t', 0xEF, 0xBB, 0xBF: // indented, or after a byte-order mark
		case '{', '[':
			if !s.line {
				s.kept = append(s.kept, b[i:n]...)
				return n, err
			}
		default:
			s.line = true
		}
	}
	if s.kept != nil {
		s.kept = append(s.kept, b[:min(n, max(0, maxStray-len(s.kept)))]...)
	}
	return n, err
}

// fault returns the error that was kept, or nil if there is none.
func (s *stray) fault() []byte {
	if !wire.IsFault(s.kept) {
		return nil
	}
	return s.kept
}
