package otel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// The lag of a debate is the time from what gives it work to its next call.
func TestTheLag(t *testing.T) {
	at := func(second int64, body flow.Body) flow.Event {
		return flow.Event{At: time.Unix(1000+second, 0), Body: body}
	}
	call := func(second int64, id string) flow.Event {
		return at(second, &flow.Intent{Call: id, Attempt: 1, Kind: "argument", By: "Ada", Model: "acme/talker"})
	}
	to := func(second int64, on flow.Trigger, state flow.State) flow.Event {
		return at(second, &flow.Transition{On: on, To: state})
	}
	answered := func(second int64, answer flow.Answer) []flow.Event {
		return []flow.Event{
			to(0, flow.TriggerAsk, flow.StateAwaitingInput), at(second, &answer),
			to(second, flow.TriggerAnswered, debate.StateAwaitingResponses), call(second+4, "a"),
		}
	}
	for name, c := range map[string]struct {
		events []flow.Event
		want   string
	}{
		"a start":           {[]flow.Event{at(0, &flow.Start{Flow: "notes"}), call(3, "a"), call(9, "b")}, "start} 1 of 3 in all"},
		"a fork":            {[]flow.Event{at(0, &flow.Start{Flow: "notes", Parent: &flow.Parent{}}), call(3, "a")}, ""},
		"an answer":         {answered(5, flow.Answer{Inquiry: "q", Option: flow.OptionRetry}), "answer} 1 of 4 in all"},
		"the answer “wait”": {answered(5, flow.Answer{Inquiry: "q", Option: flow.OptionWait}), ""},
		"a rule":            {answered(5, flow.Answer{Inquiry: "q", Option: flow.OptionRetry, Rule: true}), ""},
		"a person's call": {[]flow.Event{
			call(0, "p"), to(0, flow.TriggerAsk, flow.StateAwaitingInput), at(5, &flow.Answer{Inquiry: "p", Text: "no"}),
			at(5, &flow.Turn{Spend: flow.Spend{Call: "p", Attempt: 1}}), call(7, "a"),
		}, "answer} 1 of 2 in all"},
		"a resume": {[]flow.Event{
			to(0, flow.TriggerPause, flow.StatePaused), to(5, flow.TriggerResume, debate.StateAwaitingResponses), call(6, "a"),
		}, "control} 1 of 1 in all"},
		"a retry": {[]flow.Event{
			to(0, flow.TriggerFail, flow.StateError), to(5, flow.TriggerRetry, debate.StateAwaitingResponses), call(7, "a"),
		}, "control} 1 of 2 in all"},
		"a stop":               {[]flow.Event{to(0, flow.TriggerStop, flow.StateCompleting), call(3, "a")}, "control} 1 of 3 in all"},
		"a retry in an outage": {[]flow.Event{at(0, &flow.RetriedNow{}), call(4, "a")}, "control} 1 of 4 in all"},
		"an input":             {[]flow.Event{at(0, &flow.Sent{Trigger: "hurry"}), call(5, "a")}, "control} 1 of 5 in all"},
		"the last of several": {[]flow.Event{
			at(0, &flow.Sent{Trigger: "hurry"}), at(4, &flow.Sent{Trigger: "hurry"}), call(5, "a"),
		}, "control} 1 of 1 in all"},
		"while a call is in flight": {[]flow.Event{call(0, "a"), at(0, &flow.Sent{Trigger: "hurry"}), call(5, "b")}, ""},
		"before a pause": {[]flow.Event{
			at(0, &flow.Sent{Trigger: "hurry"}), to(1, flow.TriggerPause, flow.StatePaused), call(5, "a"),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			read(t, r, c.events)
			if c.want == "" {
				assert.NotContains(t, r.measured(t), "debate.lag")
				return
			}
			assert.Contains(t, r.measured(t), "debate.lag [s] {debate.lag.after="+c.want+"\n")
		})
	}
}
