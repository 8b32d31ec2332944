package debate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// prepared is what was computed for an intent, and is needed again for its command. It can always be
// computed anew from the record.
type prepared struct {
	call  *Call
	model string
	last  string
	start int // the first message that the call may read
	head  int // how many are sent from there, before the others
	from  int // the first of the others
	upto  int // and their end
	left  int // messages that no longer fit
	wire  *provider.Schema
}

func wireJSON(s *provider.Schema) json.RawMessage {
	if s == nil {
		return nil
	}
	return s.JSON
}

// prepare computes what a call will send and the most that it can cost.
func (c *Core) prepare(call *Call) (*prepared, *Intent, *Error) {
	r := c.record
	state := r.calls[call.ID]
	intent := &Intent{
		Call: call.ID, Attempt: 1, Kind: call.Kind, By: call.By, Round: call.Round, Slot: call.Slot, Target: call.Target,
		Schema: call.Schema, Hidden: call.Hidden, Again: call.again, Tokens: call.MaxTokens,
	}
	ready := &prepared{call: call}
	fallen := 0
	if state != nil && state.intent != nil {
		intent.Attempt, fallen = state.intent.Attempt+1, state.model
	}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		wire, err := c.wire(call.Schema)
		if err != nil {
			return nil, nil, &Error{Kind: KindValidation, Op: call.ID, Err: err}
		}
		ready.wire = wire
	}
	if call.Performer != ByModel {
		return ready, intent, nil
	}
	ready.model = call.Model
	if fallen > 0 && fallen <= len(call.Fallbacks) {
		ready.model = call.Fallbacks[fallen-1]
	}
	if fallen < len(call.Fallbacks) {
		intent.Next = call.Fallbacks[fallen]
	}
	model, _ := r.Model(ready.model)
	if intent.Tokens == 0 {
		intent.Tokens = r.config.MaxTokens
	}
	if model.MaxOutput > 0 {
		intent.Tokens = min(intent.Tokens, model.MaxOutput)
	}
	intent.Model = ready.model
	bound, failure := c.fit(ready, model, intent.Tokens)
	if failure != nil {
		failure.Op, failure.Participant, failure.Round = call.ID, call.By, call.Round
		return nil, nil, failure
	}
	intent.Reserve = model.Bound(bound, intent.Tokens)
	return ready, intent, nil
}

// wire yields the schema as it is sent: narrowed to this debate, made once.
func (c *Core) wire(name string) (*provider.Schema, error) {
	if made, ok := c.wires[name]; ok {
		return made, nil
	}
	schema := c.machine.flow.Schemas[name]
	if schema == nil {
		return nil, fmt.Errorf("flow %s has no schema %q", c.machine.flow.Name, name)
	}
	if c.wires == nil {
		c.wires = make(map[string]*provider.Schema)
	}
	narrowed, err := schema.narrow(c.record)
	if err != nil {
		return nil, err
	}
	made := &provider.Schema{Name: name, JSON: narrowed}
	c.wires[name] = made
	return made, nil
}

// reask turns a call whose answer was rejected into the one that asks again, with what was wrong.
func reask(call *Call, rejected *callState) *Call {
	last, problems := call.Last, rejected.trouble.problems
	out := *call
	out.ID, out.again = call.ID+".again", call.ID
	out.NotBefore = rejected.trouble.rejectedAt.Add(reaskDelay)
	out.Last = func(r *Record) string {
		text := ""
		if last != nil {
			text = last(r) + "\n\n"
		}
		return text + strings.ReplaceAll(r.Text(TextAgain), problemsMark, bulleted(problems))
	}
	return &out
}

// TextAgain names the text with which every flow asks again for an answer that was not accepted.
const TextAgain = "again"

// problemsMark stands in that text for the list of problems.
const problemsMark = "[[problems]]"

// bulleted writes the problems as a list. They hold no text of the rejected answer beyond short, escaped extracts.
func bulleted(problems []string) string {
	var b strings.Builder
	for i, p := range problems {
		if i == 12 {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			b.WriteString("\n- ")
		}
		b.WriteString(oneLine(p, 300))
	}
	return b.String()
}

// Command is one call to be made, with all that it takes: whoever performs it reads no core.
type Command struct {
	Debate  string
	Call    string
	Attempt int
	Kind    CallKind
	By      string
	// Provider is the name of the provider that Request goes to; "": Task goes to the judge named Judge.
	Provider string
	Request  *provider.Request
	Judge    string
	Task     *JudgeTask
	// Timeout bounds the call once it has begun; time in a queue does not count.
	Timeout time.Duration
	// Stream: the reply is free text, worth watching as it comes.
	Stream bool
}

// Command yields a call in flight as a self-contained value: the core may go on while it is
// performed. The error, of kind state, says that no such call is in flight, or that the flow has
// moved on from it; then nobody performs it any more, and it is to be stepped as [Lost].
func (c *Core) Command(id string) (*Command, error) {
	made := &struct {
		Command
		request provider.Request
	}{}
	if err := c.command(id, &made.Command, &made.request); err != nil {
		return nil, err
	}
	return &made.Command, nil
}

// command writes a call in flight into what its caller has allocated.
func (c *Core) command(id string, command *Command, request *provider.Request) error {
	state := c.record.opened(id)
	if state == nil || state.status != callOpen {
		return &Error{Kind: KindState, Op: "command", Err: fmt.Errorf("no call %q is in flight", oneLine(id, 80))}
	}
	if state.ready == nil {
		if err := c.recall(state); err != nil {
			return err
		}
	}
	ready, intent, r := state.ready, state.intent, c.record
	call := ready.call
	*command = Command{
		Debate: r.ID, Call: id, Attempt: intent.Attempt, Kind: intent.Kind, By: intent.By,
		Timeout: call.Timeout, Stream: call.Schema == "",
	}
	if command.Timeout <= 0 {
		command.Timeout = r.config.TurnTimeout
	}
	if call.Performer == ByJudge {
		command.Judge, command.Task = call.Judge, r.task(ready, intent)
		return nil
	}
	host, model, _ := divide(ready.model)
	command.Provider = host
	temperature := call.Temperature
	if m := r.model(ready.model); m != nil && m.OwnTemperature {
		temperature = nil
	}
	command.Request = request
	*request = provider.Request{
		ID: r.ID + "/" + id + "/" + strconv.Itoa(intent.Attempt), Model: model, System: call.System, Self: call.By,
		Messages: ready.messages(&r.shared), Last: provider.Message{Text: ready.last},
		MaxTokens: intent.Tokens, Temperature: temperature, Schema: ready.wire, Labels: r.config.Labels,
	}
	return nil
}

// messages yields what of the conversation is sent: as it lies there, unless the plan left a gap.
func (p *prepared) messages(shared *view) []provider.Message {
	if p.call.View.None {
		return nil
	}
	rest := shared.messages[p.from:p.upto:p.upto]
	if p.head == 0 {
		return rest
	}
	return append(slices.Clone(shared.messages[p.start:p.start+p.head]), rest...)
}

// recall computes anew what was prepared for a call in flight: this core has been loaded since.
func (c *Core) recall(state *callState) error {
	r, id := c.record, state.intent.Call
	step := c.machine.flow.Steps[r.work]
	if step.Calls != nil {
		calls := step.Calls(r)
		for i := range calls {
			call := &calls[i]
			if base := r.calls[call.ID]; state.intent.Again == call.ID && base != nil {
				call = reask(call, base)
			}
			if call.ID != id {
				continue
			}
			ready, _, failure := c.prepare(call)
			if failure != nil {
				return failure
			}
			state.ready = ready
			return nil
		}
	}
	return &Error{Kind: KindState, Op: "command", Err: errors.New("the flow no longer wants the call " + oneLine(id, 80))}
}
