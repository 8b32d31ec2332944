package bedrock

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"github.com/agonist-dev/debate/provider/wire"
)

const (
	prelude  = 12 // bytes: the lengths of the frame and of its headers, and a checksum of both
	shortest = prelude + 4
)

// event is one frame of a stream.
type event struct {
	kind string // "messageStart", …
	data []byte // its JSON; valid until the next event
}

// events reads the frames of a stream (application/vnd.amazon.eventstream).
type events struct {
	exchange *wire.Exchange
	body     *bufio.Reader
	max      int // bytes of a frame
	begun    bool
	frame    []byte
	payload  []byte
}

// maxFrame returns the bound on the bytes of a frame.
func (p *Provider) maxFrame() int { return cmp.Or(p.MaxLine, wire.DefaultMaxLine) }

// errCut is the end of a stream before its end.
var errCut = io.ErrUnexpectedEOF

// next returns the next event. A frame with an error in it is that failure.
func (s *events) next() (event, error) {
	message, err := s.message()
	if err != nil {
		return event{}, err
	}
	header := func(name string) string {
		value, ok := message.Headers.Get(name).(eventstream.StringValue)
		if !ok {
			return ""
		}
		return string(value)
	}
	switch header(eventstreamapi.MessageTypeHeader) {
	case eventstreamapi.ExceptionMessageType:
		var said struct {
			Message json.RawMessage `json:"message"`
		}
		_ = json.Unmarshal(message.Payload, &said)
		return event{}, s.fault(header(eventstreamapi.ExceptionTypeHeader), wire.Plain(said.Message))
	case eventstreamapi.ErrorMessageType:
		return event{}, s.fault(header(eventstreamapi.ErrorCodeHeader), header(eventstreamapi.ErrorMessageHeader))
	}
	return event{header(eventstreamapi.EventTypeHeader), message.Payload}, nil
}

func (s *events) fault(code, message string) error {
	return s.exchange.Broken(cmp.Or(code, "exception"), message)
}

// message reads one frame. Its length is checked before it is read, and its checksums before it is used.
func (s *events) message() (eventstream.Message, error) {
	head, err := s.body.Peek(prelude)
	if err != nil {
		return eventstream.Message{}, s.cut(err)
	}
	length := binary.BigEndian.Uint32(head)
	switch {
	case crc32.ChecksumIEEE(head[:8]) == binary.BigEndian.Uint32(head[8:]) && length >= shortest:
	case s.begun:
		return eventstream.Message{}, s.exchange.Cut(errCut)
	default: // it is something else
		return eventstream.Message{}, s.exchange.Unexpected(head, "not_a_stream", "the server did not answer with a stream of events")
	}
	if int64(length) > int64(s.max) {
		return eventstream.Message{}, s.exchange.Invalid("too_large", "an event is longer than MaxLine")
	}
	s.begun = true
	s.frame = append(s.frame[:0], make([]byte, length)...)
	if _, err := io.ReadFull(s.body, s.frame); err != nil {
		return eventstream.Message{}, s.cut(err)
	}
	message, err := eventstream.NewDecoder().Decode(bytes.NewReader(s.frame), s.payload[:0])
	if err != nil { // a checksum is wrong
		return eventstream.Message{}, s.exchange.Cut(errCut)
	}
	s.payload = message.Payload
	return message, nil
}

// cut returns the failure of a stream that ended too early.
func (s *events) cut(err error) error {
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	return s.exchange.Cut(err)
}
