package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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
	x     *Exchange
	r     *bufio.Reader
	max   int // bytes of an event: all its lines, comments included
	size  int
	data  []byte
	line  []byte
	stray []byte

	afterCR bool // the last line ended in CR

	again bool   // the last line belongs to the next event
	kind  string // of the next event: it stood in front of that line
	asked bool   // that has been looked for in this event
}

const (
	kindError = "error"
	maxStray  = 64 << 10 // bytes
)

// Stray returns what stood outside of events, from the latest line on that begins like a JSON value and is no field; at most
// 64 KiB. Servers that answer without a stream send that, or break a stream off with it.
func (s *Events) Stray() []byte { return s.stray }

// Events reads the answer as server-sent events.
func (x *Exchange) Events() *Events { return x.EventsIn(x) }

// EventsIn reads events from r: a reader of the answer that may have read its beginning already.
func (x *Exchange) EventsIn(r io.Reader) *Events {
	return &Events{x: x, r: bufio.NewReaderSize(r, 8<<10), max: x.maxLine}
}

// Next returns the next event. At the end of the input it fails with io.EOF, even if a part of an event
// is left over. Pass its error to [Exchange.Cut].
//
// Some servers leave out the blank line between two events (rexxars/eventsource-parser#31): a JSON value in one "data:" field and the
// beginning of another in the next are two events, and an "event:" field between them is of the second. Others write "data:" twice
// (Michael-A-Kuykendall/shimmy#76): it counts once.
//
// Two forms in which servers say that they break a stream off become events of the kind "error": a field "error:" of an
// event, and an error that stands as bare JSON between events.
func (s *Events) Next() (Event, error) {
	s.data, s.size, s.asked = s.data[:0], 0, false
	kinds, has := [2]string{s.kind}, 0 // in front of its data and behind them; whether it has some
	s.kind = ""
	for {
		line, err := s.readLine()
		if (err == nil || errors.Is(err, io.EOF)) && s.strays(s.line) {
			return Event{Kind: kindError, Data: s.stray}, nil
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			s.size = 0
			if has > 0 {
				return Event{Kind: cmp.Or(kinds[1], kinds[0]), Data: bytes.TrimSpace(s.data)}, nil
			}
			kinds[0] = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "": // a comment: not part of the event, however many there are
			if has == 0 && kinds[0] == "" {
				s.size = 0
			}
		case "data", kindError:
			if s.again = !s.add(value, has > 0); s.again {
				s.kind = kinds[1]
				return Event{Kind: kinds[0], Data: bytes.TrimSpace(s.data)}, nil
			}
			if has = 1; string(name) == kindError { // llama.cpp (ggml-org/llama.cpp#16109)
				kinds = [2]string{kindError}
			}
		case "event":
			kinds[has] = string(value)
		}
	}
}

// add adds a line of data, behind others if has is set. ok is false if it begins the next event.
func (s *Events) add(line []byte, has bool) (ok bool) {
	if twice, is := bytes.CutPrefix(line, []byte("data:")); is {
		line = bytes.TrimSpace(twice)
	}
	if has {
		if s.divided(line) {
			return false
		}
		s.data = append(s.data, '\n')
	}
	s.data = append(s.data, line...)
	return true
}

// divided reports whether the data so far are a whole JSON value and a line begins another one. It looks at them once in an event.
func (s *Events) divided(line []byte) bool {
	if s.asked || len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	data := bytes.TrimSpace(s.data)
	if s.asked = len(data) > 0 && (data[len(data)-1] == '}' || data[len(data)-1] == ']'); !s.asked {
		return false
	}
	return json.Valid(data)
}

// strays takes a line, which may stand outside of events. It reports whether what stands there is an error now.
func (s *Events) strays(line []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")))
	begins := len(text) > 0 && (text[0] == '{' || text[0] == '[')
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "data", "event", "id", "retry", kindError: // "": a comment
		return false
	}
	switch {
	case len(text) == 0, len(s.stray) == 0 && !begins, len(s.stray)+len(line) >= maxStray:
		return false
	case begins && s.breaksOff(text):
		s.stray = append(s.stray[:0], text...)
		return true
	}
	s.stray = append(append(s.stray, line...), '\n')
	last := text[len(text)-1]
	return (last == '}' || last == ']') && s.breaksOff(s.stray)
}

// breaksOff reports whether a JSON value between events is an error: a list, an object with an error or with a code and a message in it,
// or what Endpoint.Explain reads.
func (s *Events) breaksOff(data []byte) bool {
	if data[0] == '[' {
		return s.x.IsFault(data)
	}
	var w wireFault
	if json.Unmarshal(data, &w) != nil {
		return false
	}
	coded := label(w.Code) != "" && Present(w.Message) && !succeeds(Plain(w.Message))
	return Present(w.Error) || coded || s.x.explained(data, s.x.status()) != (Fault{})
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
	if s.again {
		s.again = false
		s.size += len(s.line) + 1
		return s.line, nil
	}
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
