package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// moment returns the time of the nth event. The fractions of a second differ.
func moment(n int64) time.Time {
	return time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(n) * (time.Second + 1_001_001))
}

// after numbers events from n+1.
func after(n int64, events ...flow.Event) []flow.Event {
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
func some(from int64, n int, who string) []flow.Event {
	events := make([]flow.Event, n)
	for i := range events {
		name := fmt.Sprintf("%s %d", who, from+int64(i)+1)
		events[i] = flow.Event{Body: &flow.Dropped{Participant: name}}
	}
	return after(from, events...)
}

// arguing is a state of another flow, in which it works.
const arguing flow.State = "arguing"

// These are a label that many conversations have.
const tenant, blue = "tenant", "blue"

// config is what a flow that no store knows is started with.
type config struct {
	Problem string `json:"problem"`
}

func started(settings flow.Settings) flow.Event {
	problem := strings.ToValidUTF8(settings.Topic, "\uFFFD") // encoding/json has two ways to replace what is invalid
	return flow.Event{Body: &flow.Start{
		Shape:   "a <shape>",
		Version: flow.LogVersion, Config: flow.Value{Go: config{problem}}, Settings: settings,
	}}
}

// unsettled is what transitions say of calls whose cost is not known.
var unsettled = flow.Unsettled{AtMost: 5 * flow.USD / 7, BrokenOff: 3, Unreported: 1} //nolint:gochecknoglobals // read only

func moved(to flow.State) flow.Event {
	return flow.Event{Body: &flow.Transition{To: to, Spent: 3 * flow.USD / 7, Unsettled: unsettled, Result: "Зоя \"Z\""}}
}

func said(text string) flow.Event {
	return flow.Event{Body: &flow.Turn{Speaker: "Ada", Text: text}}
}

// debateOf returns the log of a short conversation about a topic.
func debateOf(topic string, labels map[string]string, state flow.State, texts ...string) []flow.Event {
	events := []flow.Event{started(flow.Settings{Topic: topic, Labels: labels}), moved(state)}
	for _, text := range texts {
		events = append(events, said(text))
	}
	return after(0, events...)
}
