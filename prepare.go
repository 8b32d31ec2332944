package debate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/provider"
)

// prepared is what was computed for an intent, and is needed again for its command. It can always be
// computed anew from the record.
type prepared struct {
	call    *Call
	model   string
	last    string
	view    *view
	start   int               // the first message that the call may read
	head    int               // how many are sent from there, before the others
	summary *provider.Message // what is sent after those; nil: nothing
	from    int               // the first of the others
	upto    int               // and their end
	left    int               // messages that are left out
	cut     *provider.Message // all that is sent, cut; nil: nothing had to be
	needs   *Call             // the summary that is to be made before
	slide   bool              // without waiting for a summary
	limit   *window.Problem   // that was solved, if one had to be
	wire    *provider.Schema
	tools   []provider.Tool    // that may be asked for
	talk    []provider.Message // the instruction, what was asked of tools, and answered; nil: nothing was asked yet
}

func wireJSON(s *provider.Schema) json.RawMessage {
	if s == nil {
		return nil
	}
	return s.JSON
}

// prepare computes what a call will send and the most that it can cost. summaries: it may need one first.
func (c *Core) prepare(call *Call, summaries bool) (*prepared, *Intent, *Error) {
	r := c.record
	state := r.calls[call.ID]
	intent := &Intent{
		Call: call.ID, Attempt: 1, Kind: call.Kind, By: call.By, Round: call.Round, Slot: call.Slot, Target: call.Target,
		Schema: call.Schema, Hidden: call.Hidden, Labels: call.View.Labels, Tag: call.Tag, Again: call.again, Tokens: call.MaxTokens,
	}
	ready := &prepared{call: call, slide: !summaries}
	if state != nil && state.intent != nil {
		intent.Attempt = state.intent.Attempt + 1
	}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		wire, err := c.wire(call.Schema, call.View.Labels)
		if err != nil {
			return nil, nil, &Error{Kind: KindValidation, Op: call.ID, Err: err}
		}
		ready.wire = wire
	}
	if call.Performer != ByModel {
		return ready, intent, nil
	}
	model := c.pick(call, ready, intent)
	if intent.Temperature = call.Temperature; model.OwnTemperature {
		intent.Temperature = nil
	}
	if intent.Tokens == 0 {
		intent.Tokens = r.terms.MaxTokens
	}
	if model.MaxOutput > 0 {
		intent.Tokens = min(intent.Tokens, model.MaxOutput)
	}
	if len(call.Tools) > 0 {
		intent.Offer = &ToolOffer{call.Tools, call.Uses}
		ready.offer(r, state, r.roomForAnswers(intent, model))
	}
	bound, failure := c.fit(ready, intent, model)
	if failure != nil {
		failure.Op, failure.Participant, failure.Round = call.ID, call.By, call.Round
		return nil, intent, failure
	}
	intent.Bound = bound + intent.Tokens
	intent.Reserve = model.Bound(bound, intent.Tokens)
	return ready, intent, nil
}

// pick finds the model that is asked now, and the one after it.
func (c *Core) pick(call *Call, ready *prepared, intent *Intent) Model {
	r := c.record
	if state := r.calls[call.ID]; state != nil && state.status == callOpen { // it was found when the call began
		intent.Place, ready.model = state.intent.Place, state.intent.Model
	} else {
		intent.Place, ready.model = r.chosenModel(call, c.in.At)
	}
	if intent.Place < len(call.Fallbacks) {
		intent.Next, intent.Rest = call.Fallbacks[intent.Place], call.Fallbacks[intent.Place+1:]
	}
	intent.Model = ready.model
	model, _ := r.Model(ready.model)
	return model
}

// wire yields the schema as it is sent: narrowed to this debate, or to its labels, made once.
func (c *Core) wire(name string, labelled bool) (*provider.Schema, error) {
	key, l := name, (*labels)(nil)
	if labelled && c.record.anonymous != nil {
		key, l = name+"/labels", c.record.anonymous.labels
	}
	if made, ok := c.wires[key]; ok {
		return made, nil
	}
	schema := c.machine.flow.Schemas[name]
	if schema == nil {
		return nil, fmt.Errorf("flow %s has no schema %q", c.machine.flow.Name, name)
	}
	if c.wires == nil {
		c.wires = make(map[string]*provider.Schema)
	}
	narrowed, err := schema.narrow(c.record, l)
	if err != nil {
		return nil, err
	}
	made := &provider.Schema{Name: name, JSON: narrowed}
	c.wires[key] = made
	return made, nil
}

// reask turns a call whose answer was rejected into the one that asks again, with what was wrong.
func reask(call *Call, rejected *callState) *Call {
	last, problems := call.Last, rejected.trouble.problems
	out := *call
	out.ID, out.again = call.ID+againSuffix, call.ID
	out.NotBefore = rejected.trouble.rejectedAt.Add(reaskDelay)
	out.Last = func(r *Record) string {
		text := ""
		if last != nil {
			text = last(r) + "\n\n"
		}
		return text + strings.ReplaceAll(r.Text(TextAgain), problemsMark, escape(bulleted(problems), r.fence))
	}
	return &out
}

// againSuffix ends the id of a call that asks again.
const againSuffix = ".again"

// TextAgain names the text with which every flow asks again for an answer that was not accepted.
const TextAgain = "again"

// problemsMark stands in that text for the list of problems.
const problemsMark = "[[problems]]"

// Bounds of what a re-ask shows: problems, the bytes of each, and of all.
const (
	mostProblems  = 12
	problemLength = 300
	problemBytes  = (mostProblems + 1) * (problemLength + 8)
)

// bulleted writes the problems as a list. They hold no text of the rejected answer beyond short, escaped extracts.
func bulleted(problems []string) string {
	var b strings.Builder
	for i, p := range problems {
		if i == mostProblems {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			b.WriteString("\n- ")
		}
		b.WriteString(oneLine(p, problemLength))
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
	// Provider is the name of the provider that Request goes to; "": Task goes to the judge named Judge, as Call.Task
	// has made it.
	Provider string
	Request  *provider.Request
	Judge    string
	Task     any
	// Tool is the name of the tool that does Use, if that is set.
	Tool string
	Use  *ToolUse
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
		Timeout: call.Timeout, Stream: call.Schema == "" && intent.Tool == "",
	}
	if command.Timeout <= 0 {
		command.Timeout = r.terms.TurnTimeout
	}
	if call.Performer == byTool {
		command.Tool, command.Use = intent.Tool, r.use(ready, intent)
		return nil
	}
	if call.Performer == ByJudge {
		command.Judge = call.Judge
		if call.Task != nil {
			command.Task = call.Task(r, Asked{call, id, intent.Attempt, ready.last, wireJSON(ready.wire)})
		}
		return nil
	}
	host, model, _ := divide(ready.model)
	command.Provider = host
	command.Request = request
	*request = provider.Request{
		ID: r.ID + "/" + id + "/" + strconv.Itoa(intent.Attempt), Model: model, System: call.System, Self: call.By,
		Messages: ready.messages(), Last: provider.Message{Text: ready.last},
		MaxTokens: intent.Tokens, Temperature: intent.Temperature, Schema: ready.wire, Tools: ready.tools, Labels: r.terms.Labels,
	}
	return nil
}

// recall computes anew what was prepared for a call in flight: this core has been loaded since.
func (c *Core) recall(state *callState) error {
	call := c.wanted(state)
	if call == nil {
		return &Error{Kind: KindState, Op: "command", Err: errors.New("the flow no longer wants the call " + oneLine(state.intent.Call, 80))}
	}
	ready, now, failure := c.prepare(call, false)
	made := state.intent
	if failure != nil || now.Model != made.Model || now.Bound > made.Bound || now.Reserve > made.Reserve {
		err := errors.New("the call would no longer be what was reserved for: " + oneLine(made.Call, 80))
		return &Error{Kind: KindState, Op: "command", Err: err}
	}
	state.ready = ready
	return nil
}

// wanted finds the call that an intent was for, among those that the flow still lacks.
func (c *Core) wanted(state *callState) *Call {
	r, intent := c.record, state.intent
	if intent.Tool != "" {
		base := r.calls[intent.For]
		last, i := base.asks(intent.Call)
		if last == nil {
			return nil
		}
		call := c.wanted(base)
		if call == nil {
			return nil
		}
		return toolUse(call, &last.asked.Uses[i])
	}
	if intent.Kind == KindSummary && intent.Upto > 0 {
		if v := r.viewOf(intent.View); v != nil {
			call := r.summaryCall(v, intent.Upto)
			call.ID = intent.Call
			return call
		}
		return nil
	}
	step := c.machine.flow.Steps[r.work]
	if step.Calls == nil {
		return nil
	}
	calls := step.Calls(r)
	for i := range calls {
		call := &calls[i]
		if base := r.calls[call.ID]; intent.Again == call.ID && base != nil {
			call = reask(call, base)
		}
		if call.ID == intent.Call {
			return call
		}
	}
	return nil
}
