package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// version is the version of the journals that this release writes. It reads no other version.
const version = 1

// The limits of a line, in bytes. They bound the memory of a reader.
const (
	maxLine   = 64 << 20 // of an event
	maxCommit = 32 << 10 // of a header or a commit; also the size of a reader's buffer
)

const (
	sumWidth   = 8 + 1        // the checksum and the space behind it
	markCommit = `{"commit":` // how the JSON of a commit begins
)

// header is the first line.
type header struct {
	Journal int    `json:"journal"` // version
	ID      string `json:"id"`
}

// commit is the line that commits the events in the lines above it.
type commit struct {
	First  int64      `json:"first"` // the numbers of its events
	Last   int64      `json:"last"`
	Bytes  int64      `json:"bytes"` // of the lines of its events
	Prev   sum        `json:"prev"`  // checksum of the previous commit, or of the header
	Writer token      `json:"writer,omitempty"`
	State  flow.State `json:"state,omitempty"` // of the conversation after this commit
	Round  int        `json:"round,omitempty"`
	Spent  flow.Money `json:"spent,omitempty"`
	flow.Unsettled
	Limit  flow.Money `json:"limit,omitempty"`
	Result string     `json:"result,omitempty"`
	At     time.Time  `json:"at"`              // of the last event
	Since  time.Time  `json:"since,omitzero"`  // when the conversation has come to its state; zero: an earlier release did not say
	Asks   int        `json:"asks,omitempty"`  // questions to persons that are open
	Asked  time.Time  `json:"asked,omitzero"`  // when the oldest of them was asked
	Wake   time.Time  `json:"wake,omitzero"`   // when something follows although nobody answers them
	Start  int64      `json:"start,omitempty"` // offset of the line of the start event
}

type commitLine struct {
	Commit commit `json:"commit"`
}

// sum is a CRC-32C, in eight hexadecimal digits.
type sum uint32 //nolint:recvcheck // encoding/json finds MarshalText at a value

// MarshalText writes the digits.
func (s sum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%08x", uint32(s)), nil }

// UnmarshalText reads the digits.
func (s *sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 32)
	*s = sum(n)
	if back, _ := s.MarshalText(); err != nil || !bytes.Equal(back, text) { // there is only one form
		return errors.New("a checksum has eight digits")
	}
	return nil
}

// add returns the checksum of the bytes that s covers, followed by data.
func (s sum) add(data []byte) sum {
	return sum(crc32.Update(uint32(s), crc32.MakeTable(crc32.Castagnoli), data))
}

// Write makes sum an io.Writer that keeps only the checksum.
func (s *sum) Write(data []byte) (int, error) {
	*s = s.add(data)
	return len(data), nil
}

// token is a string of the host program. It need not be UTF-8, and must be read back unchanged.
type token string

// MarshalText escapes what JSON could not keep.
func (t token) MarshalText() ([]byte, error) { return []byte(url.PathEscape(string(t))), nil }

// UnmarshalText is the inverse of MarshalText.
func (t *token) UnmarshalText(text []byte) error {
	plain, err := url.PathUnescape(string(text))
	*t = token(plain)
	return err
}

// batch is what one Append writes. The caller's events are read until the batch is sealed.
type batch struct {
	events []flow.Event
	lines  bytes.Buffer
	start  int64 // offset in lines of the last start event; -1: there is none
}

// encode writes the lines of the events behind event after.
func encode(after int64, events []flow.Event) (*batch, error) {
	b := &batch{events: events, start: -1}
	b.lines.Grow(4 << 10) // a step of a conversation
	for i := range events {
		e, begin := &events[i], b.lines.Len()
		if want := after + int64(i) + 1; e.Seq != want {
			return nil, fmt.Errorf("event %d is in the place of event %d", e.Seq, want)
		}
		if err := appendText(&b.lines, 0, e.WriteLine); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if n := b.lines.Len() - begin; n > maxLine {
			return nil, fmt.Errorf("event %d has %d bytes: at most %d are stored", e.Seq, n, maxLine)
		}
		if _, ok := e.Body.(*flow.Start); ok {
			b.start = int64(begin)
		}
	}
	return b, nil
}

// seal adds the commit line for a batch that follows a block, and returns the new block.
func (b *batch) seal(before block, writer string) (block, error) {
	info := store.Info{
		State: before.State, Since: before.Since, Round: before.Round, Spent: before.Spent, Unsettled: before.Unsettled, Limit: before.Limit,
		Result: before.Result, Asks: before.Asks, AskedAt: before.Asked, Wake: before.Wake,
	}
	for i := range b.events {
		info.Add(&b.events[i])
	}
	own := block{from: before.end, text: before.end + int64(b.lines.Len()), line: before.line + len(b.events) + 1}
	own.commit = commit{
		First: b.events[0].Seq, Last: info.Seq, Bytes: int64(b.lines.Len()), Prev: before.sum, Writer: token(writer),
		State: info.State, Round: info.Round, Spent: info.Spent, Unsettled: info.Unsettled, Limit: info.Limit,
		Result: info.Result, At: info.LastAt, Since: info.Since, Asks: info.Asks, Asked: info.AskedAt, Wake: info.Wake, Start: before.Start,
	}
	if b.start >= 0 {
		own.Start = before.end + b.start
	}
	if err := appendLine(&b.lines, sum(0).add(b.lines.Bytes()), commitLine{own.commit}); err != nil {
		return block{}, err
	}
	own.end = before.end + int64(b.lines.Len())
	if n := own.end - own.text; n > maxCommit {
		return block{}, fmt.Errorf("the names of the writer and the state have %d bytes: at most %d are stored", n, maxCommit)
	}
	var err error
	own.sum, _, err = divide(b.lines.Bytes()[own.Bytes:])
	return own, err
}

// appendLine writes v as a line: its checksum, which continues base, and its JSON.
func appendLine(out *bytes.Buffer, base sum, v any) error {
	return appendText(out, base, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false) // people read it
		return encoder.Encode(v)
	})
}

// appendText writes a line: the checksum, which continues base, and the text and newline that write writes.
func appendText(out *bytes.Buffer, base sum, write func(io.Writer) error) error {
	begin := out.Len()
	out.WriteString("00000000 ")
	if err := write(out); err != nil {
		return err
	}
	line := out.Bytes()[begin:]
	digits, _ := base.add(line[sumWidth : len(line)-1]).MarshalText()
	copy(line, digits)
	return nil
}

// divide splits a line, newline included, into checksum and text.
func divide(line []byte) (s sum, text []byte, err error) {
	n := len(line)
	if n <= sumWidth || line[n-1] != '\n' || line[sumWidth-1] != ' ' {
		return 0, nil, errors.New("not a line of a journal")
	}
	err = s.UnmarshalText(line[:sumWidth-1])
	return s, line[sumWidth : n-1], err
}

// check splits a line whose checksum covers only the line itself, and checks it.
func check(line []byte) (sum, []byte, error) {
	s, text, err := divide(line)
	if err == nil && s != sum(0).add(text) {
		err = errors.New("the checksum is wrong")
	}
	return s, text, err
}

// marked reports whether a line looks like a commit.
func marked(line []byte) bool {
	return len(line) > sumWidth && bytes.HasPrefix(line[sumWidth:], []byte(markCommit))
}
