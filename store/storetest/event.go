package storetest

import (
	"fmt"
	"time"

	"github.com/agonist-dev/debate"
)

// moment returns the time of the nth event. The fractions of a second differ.
func moment(n int64) time.Time {
	return time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(n) * (time.Second + 1_001_001))
}

// after numbers events from n+1.
func after(n int64, events ...debate.Event) []debate.Event {
	for i := range events {
		n++
		events[i].Seq = n
		if events[i].At.IsZero() {
			events[i].At = moment(n)
		}
	}
	return events
}

// some returns n events after a number. Their texts hold who and the number.
func some(from int64, n int, who string) []debate.Event {
	events := make([]debate.Event, n)
	for i := range events {
		name := fmt.Sprintf("%s %d", who, from+int64(i)+1)
		events[i] = debate.Event{Body: &debate.Dropped{Participant: name}}
	}
	return after(from, events...)
}

// arguing is a state of another flow, in which it works.
const arguing debate.State = "arguing"

// These are a label that many debates have.
const tenant, blue = "tenant", "blue"

func started(config debate.Config) debate.Event {
	return debate.Event{Body: &debate.Start{Version: debate.LogVersion, Config: &config}}
}

func moved(to debate.State) debate.Event {
	return debate.Event{Body: &debate.Transition{To: to}}
}

func said(text string) debate.Event {
	return debate.Event{Body: &debate.Turn{Speaker: "Ada", Text: text}}
}

// debateOf returns the log of a short debate about a topic.
func debateOf(topic string, labels map[string]string, state debate.State, texts ...string) []debate.Event {
	events := []debate.Event{started(debate.Config{Topic: topic, Labels: labels}), moved(state)}
	for _, text := range texts {
		events = append(events, said(text))
	}
	return after(0, events...)
}
