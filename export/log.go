package export

import (
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// log is what the events of a debate add to its record.
type log struct {
	known    bool
	turns    map[attempt]time.Time // when they were recorded
	failures []*flow.Failure
	dropped  map[string]string // why, by who
	asked    []*flow.Inquiry
}

// attempt identifies an attempt at a call.
type attempt struct {
	call   string
	number int
}

func readLog(events []flow.Event) log {
	l := log{known: len(events) > 0, turns: make(map[attempt]time.Time), dropped: make(map[string]string)}
	for i := range events {
		e := &events[i]
		switch body := e.Body.(type) {
		case *flow.Turn:
			l.turns[attempt{body.Call, body.Attempt}] = e.At
		case *flow.Failure:
			l.failures = append(l.failures, body)
		case *flow.Dropped:
			l.dropped[body.Participant] = strings.TrimPrefix(body.Reason, "debate: ")
		case *flow.Inquiry:
			// one that calls have joined since replaces the one before
			l.asked = slices.DeleteFunc(l.asked, func(q *flow.Inquiry) bool { return q.ID == body.ID })
			l.asked = append(l.asked, body)
		}
	}
	return l
}
