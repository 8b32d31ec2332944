package durable_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// What a ledger tells.
const (
	began    = "began"    // a call was made
	ended    = "ended"    // it was answered
	appended = "appended" // the store has kept events
	affected = "affected" // a tool has had its effect
)

// entry is a line of the ledger.
type entry struct {
	Process int        `json:"process"`
	At      time.Time  `json:"at"`
	What    string     `json:"what"`
	Debate  string     `json:"debate"`
	Call    string     `json:"call,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
	Cost    flow.Money `json:"cost,omitempty"`  // that the provider charges
	First   int64      `json:"first,omitempty"` // of the events
	Last    int64      `json:"last,omitempty"`
}

// ledger is what a provider would know, and a database's own log: a file to which all processes write,
// line by line, and which survives them. It is no part of what is tested.
type ledger struct{ file *os.File }

func openLedger(name string) (*ledger, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &ledger{file}, err
}

// note writes a line, in one piece.
func (l *ledger) note(e entry) error {
	e.Process, e.At = os.Getpid(), time.Now()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// call notes something about the call that a request's id names, and what the provider charges for it.
func (l *ledger) call(what, request string, cost flow.Money) error {
	id, rest, _ := strings.Cut(request, "/")
	i := strings.LastIndexByte(rest, '/')
	attempt, err := strconv.Atoi(rest[i+1:])
	if err != nil {
		return err
	}
	return l.note(entry{What: what, Debate: id, Call: rest[:i], Attempt: attempt, Cost: cost})
}

// commit notes that the store has kept events.
func (l *ledger) commit(id string, events []flow.Event) error {
	if len(events) == 0 {
		return nil
	}
	return l.note(entry{What: appended, Debate: id, First: events[0].Seq, Last: events[len(events)-1].Seq})
}

// readLedger returns the lines that are there.
func readLedger(t testing.TB, name string) []entry {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var entries []entry
	for line := range bytes.Lines(text) {
		var e entry
		require.NoError(t, json.Unmarshal(line, &e), "%s", line)
		entries = append(entries, e)
	}
	return entries
}
