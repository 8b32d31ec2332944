package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"strconv"
	"time"

	"github.com/agonist-dev/debate"
)

// version of the journals that this release writes, and the only one that it reads.
const version = 1

// The sizes that a line may have, in bytes. What a reader keeps in memory is bounded by them.
const (
	maxLine   = 64 << 20 // of an event
	maxCommit = 32 << 10 // of a header or a commit: a reader's buffer
)

const (
	sumWidth   = 8 + 1        // of the checksum and the space behind it
	markCommit = `{"commit":` // how a commit goes on
)

// header is the first line.
type header struct {
	Journal int    `json:"journal"` // version
	ID      string `json:"id"`
}

// commit is the line that makes the lines of events above it count.
type commit struct {
	First  int64        `json:"first"` // the numbers of its events
	Last   int64        `json:"last"`
	Bytes  int64        `json:"bytes"` // of the lines of its events
	Prev   sum          `json:"prev"`  // checksum of the commit before, or of the header
	Writer token        `json:"writer,omitempty"`
	State  debate.State `json:"state,omitempty"` // as the debate is now
	Round  int          `json:"round,omitempty"`
	At     time.Time    `json:"at"`              // of the last event
	Start  int64        `json:"start,omitempty"` // where the line of the start event begins
}

type commitLine struct {
	Commit commit `json:"commit"`
}

// sum is a CRC-32C, in eight hexadecimal digits.
type sum uint32 //nolint:recvcheck // encoding/json finds MarshalText at a value

// MarshalText writes the digits.
func (s sum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%08x", uint32(s)), nil }

// UnmarshalText reads them.
func (s *sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 32)
	*s = sum(n)
	if back, _ := s.MarshalText(); err != nil || !bytes.Equal(back, text) { // there is one way to write it
		return errors.New("a checksum has eight digits")
	}
	return nil
}

// add yields the checksum of what s is that of, followed by data.
func (s sum) add(data []byte) sum {
	return sum(crc32.Update(uint32(s), crc32.MakeTable(crc32.Castagnoli), data))
}

// Write makes a sum a writer that keeps the checksum alone.
func (s *sum) Write(data []byte) (int, error) {
	*s = s.add(data)
	return len(data), nil
}

// token is a string of the host's own, which need not be UTF-8 and must come back as it is.
type token string

// MarshalText escapes what JSON could not keep.
func (t token) MarshalText() ([]byte, error) { return []byte(url.PathEscape(string(t))), nil }

// UnmarshalText is its inverse.
func (t *token) UnmarshalText(text []byte) error {
	plain, err := url.PathUnescape(string(text))
	*t = token(plain)
	return err
}

// batch is what one Append writes. The caller's events are read until it is sealed.
type batch struct {
	events []debate.Event
	lines  bytes.Buffer
	start  int64 // where in lines the last start event begins; -1: there is none
}

// encode writes the lines of events that are to follow event after.
func encode(after int64, events []debate.Event) (*batch, error) {
	b := &batch{events: events, start: -1}
	b.lines.Grow(4 << 10) // a step of a debate
	for i := range events {
		e, begin := &events[i], b.lines.Len()
		if want := after + int64(i) + 1; e.Seq != want {
			return nil, fmt.Errorf("event %d stands in the place of event %d", e.Seq, want)
		}
		if err := appendLine(&b.lines, 0, e); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if n := b.lines.Len() - begin; n > maxLine {
			return nil, fmt.Errorf("event %d has %d bytes: at most %d are stored", e.Seq, n, maxLine)
		}
		if start, ok := e.Body.(*debate.Start); ok && !start.Config.IsZero() {
			b.start = int64(begin)
		}
	}
	return b, nil
}

// seal adds the commit line for a batch that follows a block, and yields the block that it makes.
func (b *batch) seal(before block, writer string) (block, error) {
	info := debate.Info{State: before.State, Round: before.Round}
	for i := range b.events {
		info.Note(&b.events[i])
	}
	own := block{from: before.end, text: before.end + int64(b.lines.Len()), line: before.line + len(b.events) + 1}
	own.commit = commit{
		First: b.events[0].Seq, Last: info.Seq, Bytes: int64(b.lines.Len()), Prev: before.sum, Writer: token(writer),
		State: info.State, Round: info.Round, At: info.LastAt, Start: before.Start,
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

// appendLine writes the checksum of what base is that of and of v as JSON, and v.
func appendLine(out *bytes.Buffer, base sum, v any) error {
	begin := out.Len()
	out.WriteString("00000000 ")
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false) // a person reads it
	if err := encoder.Encode(v); err != nil {
		return err
	}
	line := out.Bytes()[begin:]
	digits, _ := base.add(line[sumWidth : len(line)-1]).MarshalText()
	copy(line, digits)
	return nil
}

// divide takes the checksum off a line, which ends with its newline.
func divide(line []byte) (s sum, text []byte, err error) {
	n := len(line)
	if n <= sumWidth || line[n-1] != '\n' || line[sumWidth-1] != ' ' {
		return 0, nil, errors.New("this is no line of a journal")
	}
	err = s.UnmarshalText(line[:sumWidth-1])
	return s, line[sumWidth : n-1], err
}

// check yields the text of a line whose own checksum is right.
func check(line []byte) (sum, []byte, error) {
	s, text, err := divide(line)
	if err == nil && s != sum(0).add(text) {
		err = errors.New("the checksum is wrong")
	}
	return s, text, err
}

// marked reports whether a line looks like a commit's.
func marked(line []byte) bool {
	return len(line) > sumWidth && bytes.HasPrefix(line[sumWidth:], []byte(markCommit))
}
