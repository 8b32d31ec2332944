package wire

import (
	"bufio"
	"bytes"
	"io"
)

// Event is one server-sent event.
type Event struct {
	Kind string // "" if the server gave none
	Data []byte // without white space around it; valid until the next call of Next
}

// Events reads server-sent events that have data.
//
// It replaces a ready-made parser (tmaxmax/go-sse), which returns the unfinished event at the end of the
// input. Here an event counts only after its blank line: the last event of a cut stream may be half an
// event that happens to parse. Events also bounds a whole event, not each line.
type Events struct {
	r    *bufio.Reader
	max  int // bytes of an event: all its lines, comments included
	size int
	data []byte
	line []byte

	afterCR bool // the last line ended in CR
}

func newEvents(r io.Reader, maxEvent int) *Events {
	return &Events{r: bufio.NewReaderSize(r, 8<<10), max: maxEvent}
}

// Events reads the answer as server-sent events.
func (x *Exchange) Events() *Events { return x.EventsIn(x) }

// EventsIn reads events from r: a reader of the answer that may have read its beginning already.
func (x *Exchange) EventsIn(r io.Reader) *Events { return newEvents(r, x.maxLine) }

// Next returns the next event. At the end of the input it fails with io.EOF, even if a part of an event
// is left over. Pass its error to [Exchange.Cut].
func (s *Events) Next() (Event, error) {
	s.data, s.size = s.data[:0], 0
	var kind string
	has := false
	for {
		line, err := s.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			s.size = 0
			if has {
				return Event{Kind: kind, Data: bytes.TrimSpace(s.data)}, nil
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

// FirstByte returns the first byte of an answer that is neither white space nor a byte-order mark,
// without consuming it. "{" begins an answer that is not streamed, whatever was asked for.
func FirstByte(r *bufio.Reader) (byte, error) {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		default:
			return c, r.UnreadByte()
		}
	}
}

// readLine returns a line without its end, which is CR, LF or both. Without an end, it is not a line.
func (s *Events) readLine() ([]byte, error) {
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
