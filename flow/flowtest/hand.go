// Package flowtest steps the core of a conversation by hand, for the tests of a flow: without a goroutine, a clock or a
// provider.
//
//	h := flowtest.Begin(t, engine, config)
//	h.Say("r1.question", "Why?")
//	h.Fail("r1.answer", provider.KindRefusal)
package flowtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
)

// Hand is a conversation that a test steps by hand. Its methods end the test if the core returns an error. It belongs to the
// goroutine of its test.
type Hand struct {
	*flow.Core
	Log []flow.Event // all events so far

	t        testing.TB
	engine   *kernel.Engine
	now      time.Time
	commands map[string]*flow.Command // of the latest attempts, as they stood when the attempt began
}

// Begin starts a conversation with the id "test". The first calls are in flight then. The engine needs the flow in
// Engine.Flows, and providers of the names that the config's models have; none of them is called.
func Begin(t testing.TB, engine *debate.Engine, config flow.Config) *Hand {
	t.Helper()
	h := &Hand{t: t, engine: kernel.Of(t, engine), now: time.Unix(0, 0), commands: make(map[string]*flow.Command)}
	must(t, h.engine.Validate(t.Context(), config))
	core, signals, err := kernel.Begin(h.engine, "test", config)
	must(t, err)
	h.Core = core
	for _, signal := range signals {
		h.Do(signal)
	}
	return h
}

// Try takes a signal, and returns why it is refused. If it is not, a [flow.Tick] follows an hour later, so that no wait is
// left.
func (h *Hand) Try(signal flow.Signal) error {
	h.t.Helper()
	for _, signal := range []flow.Signal{signal, flow.Tick{}} {
		out, err := h.Step(flow.Input{At: h.now, Signal: signal})
		if err != nil {
			return err
		}
		h.Log = append(h.Log, out.Events...)
		h.now = h.now.Add(time.Hour)
		for i := range out.Events {
			// One that does not fit its window has failed in the same step.
			if intent, ok := out.Events[i].Body.(*flow.Intent); ok && h.Record().Asking(intent.Call) {
				if h.commands[intent.Call], err = h.Command(intent.Call); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Do is Try of a signal that must not be refused.
func (h *Hand) Do(signal flow.Signal) {
	h.t.Helper()
	must(h.t, h.Try(signal))
}

// Say gives the reply to a call in flight. One that is not accepted is asked for again, as another attempt of the call.
func (h *Hand) Say(call, text string) {
	h.t.Helper()
	h.Do(flow.Result{Call: call, Attempt: h.command(call).Attempt, Text: text})
}

// Fail lets the attempt at a call in flight fail. A kind that is not retried, such as provider.KindRefusal, makes the call fail
// for good if it has no fallbacks.
func (h *Hand) Fail(call string, kind flow.Kind) {
	h.t.Helper()
	h.Do(flow.Failed{Call: call, Attempt: h.command(call).Attempt, Error: &flow.Error{Kind: kind}})
}

// Prompt returns the instruction of a call in flight.
func (h *Hand) Prompt(call string) string {
	h.t.Helper()
	return h.command(call).Request.Last.Text
}

// Reload folds the log into a new core by way of its JSON, as another process would, and returns its record.
func (h *Hand) Reload() *flow.Record {
	h.t.Helper()
	data, err := json.Marshal(h.Log)
	must(h.t, err)
	var events []flow.Event
	must(h.t, json.Unmarshal(data, &events))
	core, err := h.engine.NewCore("test", events)
	must(h.t, err)
	return core.Record()
}

func (h *Hand) command(call string) *flow.Command {
	h.t.Helper()
	command := h.commands[call]
	if command == nil || !h.Record().Asking(call) {
		h.t.Fatalf("no call %q is in flight", call)
	}
	return command
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
