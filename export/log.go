package export

import (
	"strings"
	"time"

	"github.com/agonist-dev/debate"
)

// log is what the events of a debate add to its record.
type log struct {
	known    bool
	turns    map[attempt]time.Time // when they were recorded
	failures []*debate.Failure
	dropped  map[string]string // why, by who
	asked    []*debate.Inquiry
}

// attempt identifies an attempt at a call.
type attempt struct {
	call   string
	number int
}

func readLog(events []debate.Event) log {
	l := log{known: len(events) > 0, turns: make(map[attempt]time.Time), dropped: make(map[string]string)}
	for i := range events {
		e := &events[i]
		switch {
		case e.Turn != nil:
			l.turns[attempt{e.Turn.Call, e.Turn.Attempt}] = e.At
		case e.Failure != nil:
			l.failures = append(l.failures, e.Failure)
		case e.Dropped != nil:
			l.dropped[e.Dropped.Participant] = strings.TrimPrefix(e.Dropped.Reason, "debate: ")
		case e.Inquiry != nil:
			l.asked = append(l.asked, e.Inquiry)
		}
	}
	return l
}
