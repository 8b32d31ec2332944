package otel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agonist-dev/debate/flow"
)

// What the next call of a debate follows.
const (
	afterStart   = "start"
	afterAnswer  = "answer"
	afterControl = "control"
)

// prompt is what gave a debate work, and has not led to a call yet. The zero value: nothing has.
type prompt struct {
	after string
	at    time.Time
}

// heed measures how long it takes from what gives a debate work to its next call.
func (w *watch) heed(body flow.Body, at time.Time) {
	switch b := body.(type) {
	case *flow.Start:
		if b.Parent == nil { // what was copied follows the start of a fork
			w.await(afterStart, "", at)
		}
	case *flow.Answer:
		if !b.Rule && b.Option != flow.OptionWait {
			w.await(afterAnswer, b.Inquiry, at)
		}
	case *flow.RetriedNow, *flow.Sent:
		w.await(afterControl, "", at)
	case *flow.Transition:
		switch {
		case b.To.Idle():
			w.prompt = prompt{}
		case b.On == flow.TriggerResume, b.On == flow.TriggerRetry, b.On == flow.TriggerStop:
			w.await(afterControl, "", at)
		}
	case *flow.Intent:
		if w.prompt.after != "" && w.counts {
			w.meters.lag.Record(w.debate.ctx, at.Sub(w.prompt.at).Seconds(), set([]attribute.KeyValue{keyLag.String(w.prompt.after)}))
		}
		w.prompt = prompt{}
	}
}

// await begins to measure, unless a call is in flight: then nobody knows what the next one waits for. The call that a person has made
// with an answer has the id of the inquiry.
func (w *watch) await(after, answered string, at time.Time) {
	for key := range w.calls {
		if key.call != answered {
			return
		}
	}
	w.prompt = prompt{after, at}
}
