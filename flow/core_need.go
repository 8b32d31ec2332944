package flow

import (
	"errors"
	"slices"

	"github.com/agonist-dev/debate/internal/order"
)

// Need is one thing that an engine must have to continue a conversation. One field is set.
type Need struct {
	Model    string // "provider/model", whose provider is needed
	Function string // the name of a Function
	Tool     string // the name of a tool in Engine.Tools
	Context  string // the name of a context manager
}

// Missing returns what the rest of the conversation may need and the runtime lacks; see Flows.Missing. The error joins one error
// for each thing. nil: it lacks nothing, the conversation has not started, or it is final.
//
// An actor that was dropped needs nothing. An actor that got another model needs that model and the fallbacks.
func (c *Core) Missing() error {
	r := c.record
	if c.absent == nil || r.start == nil || r.Final() {
		return nil
	}
	var found []error
	known := make(map[Need]bool)
	need := func(n Need) {
		if n == (Need{}) || known[n] {
			return
		}
		known[n] = true
		if n.Model != "" { // what is missing is a provider: it is named once
			host, _, ok := SplitModel(n.Model)
			if !ok || known[Need{Model: host}] {
				return
			}
			known[Need{Model: host}] = true
		}
		if err := c.absent(n); err != nil {
			found = append(found, err)
		}
	}
	if missing := c.machine.flow.Missing; missing != nil {
		found = append(found, missing(r))
	}
	for _, n := range c.needs() {
		need(n)
	}
	return errors.Join(found...)
}

// needs returns what the rest of the conversation may need, with repetitions and empty needs.
func (c *Core) needs() []Need {
	r := c.record
	all := []Need{{Context: r.settings.Context}}
	for name := range order.ByKey(r.start.Tools) {
		all = append(all, Need{Tool: name})
	}
	return append(all, c.mayAsk(r.settings, nil)...)
}

// mayAsk returns the models and functions that the rest of the conversation may ask under these settings, without those of
// actors who get another model.
func (c *Core) mayAsk(settings *Settings, instead map[string]ModelChoice) []Need {
	r := c.record
	var all []Need
	if name := settings.Summarizer; name != NoSummarizer && !slices.Contains(r.unsummed, "") {
		all = append(all, Need{Model: name})
	}
	for i := range settings.OnFailure {
		all = append(all, Need{Model: settings.OnFailure[i].Model})
	}
	for _, call := range c.machine.flow.asks(r) {
		if _, ok := instead[call.By]; !ok {
			all = append(all, r.needsOf(call)...)
		}
	}
	return all
}

// asks returns one call for each actor that the rest of a conversation may ask.
func (f *Flow) asks(r *Record) []*Call {
	if f.Asks != nil {
		return f.Asks(r)
	}
	var calls []*Call
	for s := range r.config.Seats() {
		call := new(Call)
		s.Ask(call)
		calls = append(calls, call)
	}
	return calls
}

// needsOf returns what the calls of an actor may need from now on. Of the call it reads By, Performer, Model, Fallbacks,
// Function and Person.
func (r *Record) needsOf(call *Call) []Need {
	if r.IsDropped(call.By) {
		return nil
	}
	var all []Need
	model, fallbacks := r.modelsOf(call)
	switch {
	case r.Replacement(call.By) != "" || call.Performer == ByModel:
		all = append(all, Need{Model: model})
	case call.Performer == ByFunction:
		all = append(all, Need{Function: call.Function})
	default:
	}
	if call.Person != nil {
		all = append(all, Need{Model: call.Person.Term.StandIn})
	}
	for _, name := range fallbacks {
		all = append(all, Need{Model: name})
	}
	return all
}

// missing returns what the runtime lacks of what the beginnings need. It is asked right before they are recorded: what
// Missing could not foresee is found here, and no call is begun that would fail for it.
func (c *Core) missing(fresh []beginning) error {
	if c.absent == nil {
		return nil
	}
	for i := range fresh {
		intent, n := fresh[i].intent, Need{}
		switch fresh[i].ready.call.Performer {
		case ByModel:
			n.Model = intent.Model
		case ByFunction:
			n.Function = fresh[i].ready.call.Function
		case byTool:
			n.Tool = intent.Tool
		default:
			continue
		}
		if err := c.absent(n); err != nil {
			return err
		}
	}
	return nil
}

// missingContext is missing for the context manager, which is needed before calls can be prepared.
func (c *Core) missingContext(calls int) error {
	if c.absent == nil || calls == 0 || c.plans[c.record.settings.Context] != nil {
		return nil
	}
	return c.absent(Need{Context: c.record.settings.Context})
}

// lacks reports whether the runtime lacks something. Nothing is begun then, and the state waits for another runtime.
func (d *due) lacks(err error) bool {
	if err == nil {
		return false
	}
	d.core.out.Missing, d.busy = err, true
	return true
}
