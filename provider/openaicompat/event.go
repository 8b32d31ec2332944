package openaicompat

import (
	"bufio"
	"bytes"
)

// event is one server-sent event.
type event struct {
	kind string // "" if the server gave none
	data []byte // valid until the next event is read
}

// stream reads server-sent events.
//
// It is our own because a ready-made parser (tmaxmax/go-sse) hands over what it has of an event when
// the input ends. Here an event counts only once its blank line has come: the last event of a cut
// stream may be a half one that happens to parse. It also bounds a whole event, not each line.
type stream struct {
	r    *bufio.Reader
	max  int // bytes of an event: all its lines, comments too
	size int
	data []byte
	line []byte

	afterCR bool // the last line ended in CR
}

// next yields the next event that has data. It fails with io.EOF at the end of the input, whatever
// is left over then, and with errLine for an event that is too long.
func (s *stream) next() (event, error) {
	s.data, s.size = s.data[:0], 0
	var kind string
	has := false
	for {
		line, err := s.readLine()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			s.size = 0
			if has {
				return event{kind: kind, data: s.data}, nil
			}
			kind = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "": // a comment: not part of the event, however many there are
			if !has && kind == "" {
				s.size = 0
			}
		case "data":
			if has {
				s.data = append(s.data, '\n')
			}
			s.data = append(s.data, value...)
			has = true
		case "event":
			kind = string(value)
		}
	}
}

// readLine yields a line without its end, which is CR, LF or both. A line without an end is none.
func (s *stream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		if _, err := s.r.Peek(1); err != nil {
			return nil, err
		}
		part, _ := s.r.Peek(s.r.Buffered())
		second := s.afterCR && part[0] == '\n'
		if s.afterCR = false; second {
			_, _ = s.r.Discard(1)
			continue
		}
		end := bytes.IndexAny(part, "\r\n")
		ended := end >= 0
		if !ended {
			end = len(part)
		}
		if s.size += end; s.size >= s.max {
			return nil, errLine
		}
		s.line = append(s.line, part[:end]...)
		if !ended {
			_, _ = s.r.Discard(end)
			continue
		}
		s.size++
		// An LF may follow a CR, but waiting for it would hold the event back.
		s.afterCR = part[end] == '\r'
		_, _ = s.r.Discard(end + 1)
		return s.line, nil
	}
}
