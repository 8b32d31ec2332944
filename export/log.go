package export

import (
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// log is what the events of a conversation add to its record.
type log struct {
	known    bool
	turns    map[attemptID]recorded
	notes    map[string]recorded // by ID
	failures []*flow.Failure
	dropped  map[string]string // why, by who
	asked    []*flow.Inquiry
	attempts []*attempt // in the order in which they began
	changes  []change   // in the order in which they happened
	rounds   []time.Time
}

// recorded is where something stands in the log, and when it was recorded.
type recorded struct {
	seq int64
	at  time.Time
}

// attemptID identifies an attempt at a call.
type attemptID struct {
	call   string
	number int
}

// change is a change of state.
type change struct {
	from, to flow.State
	on       flow.Trigger
	at       time.Time
}

func readLog(events []flow.Event) log {
	l := log{
		known: len(events) > 0, turns: make(map[attemptID]recorded), notes: make(map[string]recorded), dropped: make(map[string]string),
	}
	tries := newTries()
	for i := range events {
		e := &events[i]
		tries.read(e)
		switch body := e.Body.(type) {
		case *flow.Turn:
			l.turns[attemptID{body.Call, body.Attempt}] = recorded{e.Seq, e.At}
		case *flow.Note:
			l.notes[body.ID] = recorded{e.Seq, e.At}
		case *flow.Failure:
			l.failures = append(l.failures, body)
		case *flow.Dropped:
			l.dropped[body.Participant] = strings.TrimPrefix(body.Reason, "debate: ")
		case *flow.Inquiry:
			// one that calls have joined since replaces the one before
			l.asked = slices.DeleteFunc(l.asked, func(q *flow.Inquiry) bool { return q.ID == body.ID })
			l.asked = append(l.asked, body)
		case *flow.Transition:
			l.changes = append(l.changes, change{body.From, body.To, body.On, e.At})
		case *flow.Round:
			l.rounds = append(l.rounds, e.At)
		}
	}
	l.attempts = tries.found()
	return l
}
