package durable_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// attempt is one attempt at a call.
type attempt struct {
	call string
	n    int
}

// standing is how far a log has come with a call.
type standing int

const (
	unknown standing = iota
	open             // an attempt is in flight
	void             // the last attempt was lost
	failed           // the last attempt has failed, and there may be another
	done             // there is a result
)

// history is what a log says about the calls of its debate.
type history struct {
	calls map[string]standing
	open  map[attempt]*flow.Intent
}

// historyOf reads a log.
func historyOf(events []flow.Event) *history {
	h := &history{calls: make(map[string]standing), open: make(map[attempt]*flow.Intent)}
	for i := range events {
		e := &events[i]
		if in, ok := e.Body.(*flow.Intent); ok {
			h.calls[in.Call] = open
			h.open[attempt{in.Call, in.Attempt}] = in
			continue
		}
		spend, outcome := settled(e)
		if spend != nil {
			h.calls[spend.Call] = outcome
			delete(h.open, attempt{spend.Call, spend.Attempt})
		}
	}
	return h
}

// settled returns what an event says about an attempt that is over; nil: it speaks of none.
func settled(e *flow.Event) (*flow.Spend, standing) {
	spend := flow.SpendOf(e.Body)
	switch body := e.Body.(type) {
	case *flow.Turn, *debate.Assessment, *debate.Verdict, *flow.Summarized, *flow.Rejection:
		return spend, done
	case *flow.Failure:
		if body.Void {
			return spend, void
		}
		return spend, failed
	case *flow.Charge:
		return spend, void
	default:
		return nil, unknown
	}
}

// logOf reads a debate's log; one that does not exist is empty.
func logOf(t testing.TB, store store.Store, id string) []flow.Event {
	t.Helper()
	var events []flow.Event
	f := debate.DebateFlow()
	for event, err := range store.Read(t.Context(), id, 0) {
		if errors.Is(err, flow.ErrNotFound) {
			return nil
		}
		require.NoError(t, err)
		event, err = f.DecodeEvent(event)
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// missing counts the events of a log that do not stand in a later one as they did.
func missing(t testing.TB, before, after []flow.Event) (n int) {
	t.Helper()
	for i := range before {
		if i >= len(after) {
			return n + len(before) - i
		}
		was, err := json.Marshal(before[i])
		require.NoError(t, err)
		is, err := json.Marshal(after[i])
		require.NoError(t, err)
		if string(was) != string(is) {
			n++
		}
	}
	return n
}

// uncharged returns the attempts in flight at a crash that a later log does not report as lost, once, and
// as broken off, with all that was reserved for them as the most that they have cost.
func uncharged(before, after []flow.Event) (wrong []attempt) {
	for lost, intent := range historyOf(before).open {
		reports := 0
		for i := range after {
			spend, outcome := settled(&after[i])
			if spend == nil || spend.Call != lost.call || spend.Attempt != lost.n {
				continue
			}
			if reports++; outcome != void || spend.Cost != 0 || spend.AtMost != intent.Reserve || intent.Reserve == 0 || !spend.BrokenOff {
				reports = -1
				break
			}
		}
		if reports != 1 {
			wrong = append(wrong, lost)
		}
	}
	return wrong
}

// charged returns what the provider has charged for a debate, and the part of it for attempts of which the log has the end.
func charged(all []entry, log []flow.Event) (total, known flow.Money) {
	ends := make(map[attempt]bool)
	for i := range log {
		if spend, _ := settled(&log[i]); spend != nil && !spend.BrokenOff {
			ends[attempt{spend.Call, spend.Attempt}] = true
		}
	}
	for _, e := range all {
		total += e.Cost
		if ends[attempt{e.Call, e.Attempt}] {
			known += e.Cost
		}
	}
	return total, known
}

// asked is what a process has asked again.
type asked struct {
	duplicates int // calls that were in flight when the process before it was killed, and had been made
	repeats    int // calls beyond these that there was no reason to make again
}

// audit compares the calls that a process has made with what the log said when it began, and with the calls
// that were made before. before and after are the log, as the process found and left it.
func audit(earlier, own []entry, before, after []flow.Event) (a asked) {
	found := historyOf(before)
	made := func(by []entry, call string, n int) bool { // n: the attempt; 0: any
		return slices.ContainsFunc(by, func(e entry) bool { return e.What == began && e.Call == call && (n == 0 || e.Attempt == n) })
	}
	failures := make(map[string]int) // that the process has recorded, and of its own attempts those that it has given up
	for _, e := range after[min(len(before), len(after)):] {
		if spend, outcome := settled(&e); outcome == failed || outcome == void && made(own, spend.Call, spend.Attempt) {
			failures[spend.Call]++
		}
	}
	times := make(map[string]int)
	for _, e := range own {
		if e.What != began {
			continue
		}
		times[e.Call]++
		before := made(earlier, e.Call, 0)
		switch standing := found.calls[e.Call]; {
		case made(earlier, e.Call, e.Attempt), standing == done, standing == unknown && before, times[e.Call] > 1+failures[e.Call]:
			a.repeats++
		case times[e.Call] == 1 && before && standing != failed:
			a.duplicates++
		}
	}
	return a
}
