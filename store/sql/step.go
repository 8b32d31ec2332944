package sql

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// step is what one Append writes: a row of the log, and changes of the conversation's row.
type step struct {
	id     string
	after  int64
	last   int64
	at     string
	by     string // the writer's token
	writer string // as it is stored
	body   string
	state  *string // nil: unchanged
	round  *int64
	result *string // with state
	since  *string // when the state was entered; nil: unchanged
	asked  *string // the open questions, as asked writes them; nil: unchanged
	wake   *int64  // with asked: when something follows although nobody answers, in microseconds since 1970; 0: nothing does
	begun  *begun
	limit  *int64 // of cost, as store.Info has it; nil: unchanged
	wakes  bool   // it leads from a state in which nothing happens by itself, or from nothing, to another state

	kept bool       // set by dialect.write: it is committed
	done chan error // receives the outcome
}

// usual is the length that most bodies do not exceed.
const usual = 4 << 10

// begun is the content of a start event.
type begun struct {
	started string
	about   string
	pairs   []string // of labels
}

// columns returns the columns of a conversation that begins with this step: when it started, and what it is about.
func (s *step) columns() (started, about string) {
	if s.begun == nil {
		return text(time.Time{}), "{}"
	}
	return s.begun.started, s.begun.about
}

// span is the number of events that a log can have. The key of a commit is the number of its conversation times
// span, plus the number of the event before it.
const span = 1 << 32

// about holds what a list shows of a conversation and nobody searches for.
type about struct {
	Flow   string            `json:"flow,omitempty"`
	Format string            `json:"format,omitempty"`
	Topic  string            `json:"topic"`
	Labels map[string]string `json:"labels,omitempty"`
	Copied flow.Money        `json:"copied,omitempty"`
	// CopiedUnsettled is that of store.Info.
	CopiedUnsettled flow.Unsettled `json:"copiedUnsettled,omitzero"`
}

// outcome holds what a list shows of the course of a conversation.
type outcome struct {
	Spent flow.Money `json:"spent,omitempty"`
	flow.Unsettled
	Result string `json:"result,omitempty"`
}

// enter takes a change of the state, of which info tells.
func (s *step) enter(change *flow.Transition, info *store.Info) error {
	s.wakes = s.wakes || change.From.Idle()
	result, err := json.Marshal(outcome{info.Spent, info.Unsettled, info.Result})
	if err != nil {
		return err
	}
	s.state, s.result = new(plain(string(info.State))), new(string(result))
	if !info.Since.IsZero() { // else it is the state before
		s.since = new(text(info.Since))
	}
	if change.To.Final() {
		s.asked, s.wake = new(""), new(int64)
	}
	return nil
}

func newStep(id string, after int64, writer string, events []flow.Event) (*step, error) {
	s := &step{id: id, after: after, last: after + int64(len(events)), by: writer, writer: plain(writer), done: make(chan error, 1)}
	var info store.Info
	var lines strings.Builder
	lines.Grow(usual)
	for i := range events {
		e := &events[i]
		if e.Seq != after+int64(i)+1 {
			return nil, fmt.Errorf("event %d is numbered %d", after+int64(i)+1, e.Seq)
		}
		if !tellable(e.At) {
			return nil, fmt.Errorf("event %d: its time is %v: in UTC, the year must have four digits", e.Seq, e.At)
		}
		info.Add(e)
		switch body := e.Body.(type) {
		case *flow.Start:
			s.wakes, s.limit = true, new(int64(info.Limit))
			begun, err := begin(info)
			if err != nil {
				return nil, err
			}
			s.begun = begun
		case *flow.Transition:
			if err := s.enter(body, &info); err != nil {
				return nil, err
			}
		case *flow.Questions:
			s.asked, s.wake = new(asked(info)), new(micros(info.Wake))
		case *flow.Amendment:
			if body.Budget != nil {
				s.limit = new(int64(info.Limit))
			}
		case *flow.Round:
			s.round = new(int64(info.Round))
		}
		if err := e.WriteLine(&lines); err != nil { // without a newline inside
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	s.wakes = s.wakes && !info.State.Idle()
	s.at = text(info.LastAt)
	// A raw message may hold invalid UTF-8. Every decoder would read it as U+FFFD too.
	s.body = strings.ToValidUTF8(strings.TrimSuffix(lines.String(), "\n"), "\uFFFD")
	return s, nil
}

func begin(info store.Info) (*begun, error) {
	encoded, err := json.Marshal(about{info.Flow, info.Format, info.Topic, info.Labels, info.Copied, info.CopiedUnsettled})
	if err != nil {
		return nil, err
	}
	b := &begun{started: text(info.StartedAt), about: string(encoded)}
	for name, value := range info.Labels {
		b.pairs = append(b.pairs, pair(name, value))
	}
	slices.Sort(b.pairs)
	b.pairs = slices.Compact(b.pairs) // two long ones may begin alike
	return b, nil
}

// pairLimit is how many bytes of a label are searched for: PostgreSQL's indexes have room for some 2,700.
const pairLimit = 512

// pair returns the text by which a label is found.
func pair(name, value string) string {
	encoded, _ := json.Marshal([2]string{name, value}) //nolint:errchkjson // strings are encoded whatever they hold
	cut := min(len(encoded), pairLimit)
	for cut < len(encoded) && !utf8.RuneStart(encoded[cut]) {
		cut--
	}
	return string(encoded[:cut])
}

// uncut reports whether the text of a label is sure to be whole: no other label has it.
func uncut(pair string) bool { return len(pair) <= pairLimit-utf8.UTFMax }

// timeFormat has the same width for all times that JSON can represent, so that the order of texts is that
// of times.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

// tellable reports whether timeFormat can represent a time.
func tellable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

func text(t time.Time) string { return t.UTC().Format(timeFormat) }

// micros returns a time in microseconds since 1970, rounded up; 0: none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(1, t.Add(time.Microsecond-1).UnixMicro())
}

// asked writes the open questions: when the oldest was asked, and how many there are. "": there are none.
func asked(info store.Info) string {
	if info.Asks == 0 {
		return ""
	}
	return text(info.AskedAt) + " " + strconv.Itoa(info.Asks)
}

// askedIn is the inverse of asked.
func askedIn(written string, info *store.Info) error {
	if written == "" {
		return nil
	}
	at, count, _ := strings.Cut(written, " ")
	var atErr, countErr error
	info.AskedAt, atErr = time.Parse(timeFormat, at)
	info.Asks, countErr = strconv.Atoi(count)
	return errors.Join(atErr, countErr)
}
