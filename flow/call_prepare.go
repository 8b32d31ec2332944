package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// A flow says which calls it lacks. What becomes of one:
//
//   - call_prepare computes from the record what is sent and the most that it can cost. The Intent says so, and reserves the cost.
//     The runtime gets it as a Command.
//   - call_accept takes the reply: a turn, a part of one, a request for tools, or an answer that is checked against its schema.
//   - call_continue asks for the rest of a reply that was cut.
//   - call_retry says how often and when a failed attempt is made again, and call_model with which model.
//
// Whatever follows is another attempt at the same call: a retry, a fallback model, the rest of a reply, what is said after the
// answers of tools, and an answer that is asked for again because it was rejected. All of it can be computed from the record again.

// prepared is what was computed for an intent and is needed again for its command. It can always be computed again
// from the record.
type prepared struct {
	call    *Call
	model   string
	last    string
	view    *transcript.View
	start   int               // the first message that the call may read
	head    int               // how many messages are sent from there
	summary *provider.Message // the summary that is sent after them; nil: none
	from    int               // the first message that is sent after the summary
	upto    int               // the end of the messages, exclusive
	left    int               // messages that are left out
	unread  []Gap             // what the request holds neither whole nor in a summary
	cut     *provider.Message // the only message that is sent, cut; nil: none had to be
	needs   *Call             // the summary that must be made first
	slide   bool              // do not wait for a summary
	counted bool              // the budget has counted its tokens
	limit   *window.Problem   // the problem that the context manager solved; nil: all fits
	wire    *provider.Schema
	papers  papers             // the documents, which come before the messages
	tools   []provider.Tool    // the tools that the model may ask for
	said    string             // the parts of the reply so far, which it continues
	former  []provider.Message // uses of tools in earlier calls, with their answers; nil: none
	talk    []provider.Message // the instruction, then the model's uses of tools with their answers, and the parts of its reply; nil: none yet
}

func wireJSON(s *provider.Schema) json.RawMessage {
	if s == nil {
		return nil
	}
	return s.JSON
}

// unlisted says which model or tool of a call the config does not name.
func (r *Record) unlisted(call *Call, model string) error {
	if r.model(model) == nil {
		return fmt.Errorf("no Seat of the config names the model %q", text.OneLine(model, 80))
	}
	for _, name := range call.Tools {
		if _, known := r.start.Tools[name]; !known {
			return fmt.Errorf("the settings do not name the tool %q", text.OneLine(name, 80))
		}
	}
	return nil
}

// instruction returns what a call asks for, of a person in the words for persons.
func (call *Call) instruction(r *Record) string {
	switch {
	case call.Person != nil && call.Person.Ask != nil:
		return call.Person.Ask(r)
	case call.Last != nil:
		return call.Last(r)
	default:
		return ""
	}
}

// prepare computes what a call sends and the most that it can cost. summaries reports whether a summary may be made
// first.
func (c *Core) prepare(call *Call, summaries bool) (*prepared, *Intent, *Error) {
	r := c.record
	state := r.calls[call.ID]
	if tools := r.offerable(call.Tools); len(tools) < len(call.Tools) {
		offered := *call // the flow's own stays as it is
		offered.Tools, call = tools, &offered
	}
	intent := &Intent{
		Call: call.ID, Attempt: 1, Kind: call.Kind, By: call.By, Round: call.Round, Slot: call.Slot, Target: call.Target,
		Schema: call.Schema, Hidden: call.Hidden, Labels: call.View.Labels, Tag: call.Tag, Tokens: call.MaxTokens,
	}
	ready := &prepared{call: call, slide: !summaries}
	if state != nil && state.intent != nil {
		intent.Attempt = state.intent.Attempt + 1
	}
	ready.last = call.instruction(r)
	if call.Schema != "" {
		wire, err := c.wire(call)
		if err != nil {
			return nil, nil, &Error{Kind: provider.KindValidation, Op: call.ID, Err: err}
		}
		ready.wire = wire
	}
	if call.Performer != ByModel {
		ready.reask(r, state, intent)
		return ready, intent, nil
	}
	intent.StandIn = call.standsIn
	ready.papers = r.papersOf(call)
	model := c.pick(call, ready, intent)
	if err := r.unlisted(call, ready.model); err != nil {
		return nil, nil, &Error{Kind: provider.KindValidation, Op: call.ID, Participant: call.By, Err: err}
	}
	ready.without(r, state, intent, model)
	r.keepHome(call, intent)
	c.cap(call, ready, intent, model)
	switch room := r.roomForUses(intent, model); {
	case len(call.Tools) == 0:
	case model.Lacks(provider.AbilityTools):
		ready.recall(r, state, room)
	default:
		intent.Offer = &ToolOffer{Tools: call.Tools, Uses: call.Uses, Exchanges: call.Exchanges}
		intent.Offer.Last = call.Exchanges > 0 && r.exchanged(call, ready.model)+1 >= call.Exchanges
		ready.offer(r, state, intent.Offer, room)
	}
	ready.reask(r, state, intent)
	intent.Continues = ready.goOn(state)
	bound, failure := c.fit(ready, intent, model)
	if failure != nil && failure.Kind == provider.KindContextOverflow && len(call.Recalls) > 0 {
		fresh := *call // it can do without what it would be shown again
		fresh.Recalls = nil
		return c.prepare(&fresh, summaries)
	}
	if failure != nil {
		failure.Op, failure.Participant, failure.Round = call.ID, call.By, call.Round
		return nil, intent, failure
	}
	bound += r.surplus.of(&model)
	intent.Bound = added(bound, intent.Tokens)
	intent.Reserve = model.Bound(bound, intent.Tokens)
	return ready, intent, nil
}

// without writes into an intent what of the call the model is asked for. It leaves out what the model surely lacks, and names
// what the config has asked for of that. A schema becomes a part of the instruction, also where a reply is continued.
func (p *prepared) without(r *Record, state *callState, intent *Intent, model Model) {
	call := p.call
	asks := Requirement{options: call.Options, tools: len(call.Tools) > 0}
	intent.Options, intent.Temperature = call.Options.Without(model.Unsupported), call.Temperature
	if call.Temperature != nil && model.Lacks(provider.AbilityTemperature) {
		intent.Temperature, asks.temperature = nil, r.requirementOf(call.By).temperature
	}
	intent.Left = slices.DeleteFunc(asks.Asks(), func(a provider.Ability) bool { return !model.Lacks(a) })
	if p.wire != nil && model.Lacks(provider.AbilitySchema) {
		intent.Left = append(intent.Left, provider.AbilitySchema)
	}
	if p.wire != nil && (model.Lacks(provider.AbilitySchema) || state.begun(p.model) != "") {
		p.last += schemaInWords + string(p.wire.JSON)
		p.wire = nil
	}
	if len(intent.Left) == 0 {
		intent.Left = nil
	}
}

// schemaInWords stands before a schema in an instruction.
const schemaInWords = "\n\nReply with one JSON object and nothing else. It must match this JSON schema:\n"

// mostDoublings bounds how often the cap on a call's reply is doubled.
const mostDoublings = 3

// cap bounds the reply: by the call or the settings, by the model and by its window. After a reply that ended at its cap,
// the bound is twice as large. A model that reasons gets more for its thoughts.
func (c *Core) cap(call *Call, ready *prepared, intent *Intent, model Model) {
	r := c.record
	state := r.calls[call.ID]
	if state != nil && state.status == callInFlight { // chosen when the call started
		intent.Tokens, intent.Thinking, intent.Lowered = state.intent.Tokens, state.intent.Thinking, state.intent.Lowered
		return
	}
	bound := func(tokens int) int {
		tokens = min(tokens, mostTokens)
		if model.MaxOutput > 0 {
			tokens = min(tokens, model.MaxOutput)
		}
		return r.room(ready.model, model, tokens).Output
	}
	most := r.mostOf(call)
	own := bound(most)
	if state != nil && state.special.broken > 0 {
		own = bound(most << min(state.special.broken, mostDoublings))
	}
	intent.Tokens = bound(own + thoughtsOf(model, call.Options))
	intent.Thinking = max(0, intent.Tokens-own)
}

// visibleTokens returns how many tokens of output the reply has beside the thoughts.
func visibleTokens(in *Intent) int { return in.Tokens - in.Thinking }

// pick returns the model that is asked now. It writes the model, its index and its fallbacks into the intent.
func (c *Core) pick(call *Call, ready *prepared, intent *Intent) Model {
	r := c.record
	if state := r.calls[call.ID]; state != nil && state.status == callInFlight { // chosen when the call started
		intent.ModelIndex, ready.model = state.intent.ModelIndex, state.intent.Model
	} else {
		intent.ModelIndex, ready.model = r.chosenModel(call, c.in.At)
	}
	if _, fallbacks := r.modelsOf(call); intent.ModelIndex < len(fallbacks) {
		intent.Next, intent.Fallbacks = fallbacks[intent.ModelIndex], fallbacks[intent.ModelIndex+1:]
	}
	intent.Model = ready.model
	model, _ := r.Model(ready.model)
	return model
}

// wire is a schema as it is sent, with the fields of which it was made; nil: it is that of a type.
type wire struct {
	fields prompt.Fields
	schema *provider.Schema
}

// isOf reports whether the schema was made of this list, and not of an equal one.
func (w wire) isOf(fields prompt.Fields) bool {
	return len(fields) > 0 && len(fields) == len(w.fields) && &fields[0] == &w.fields[0]
}

// wire returns the schema of a call as it is sent. The schema of a type has the names of this conversation or their labels, and is made
// once; that of fields is made when the flow returns another list of them.
func (c *Core) wire(call *Call) (*provider.Schema, error) {
	name := call.Schema
	schema := c.machine.flow.Schemas[name]
	if schema == nil {
		return nil, fmt.Errorf("flow %s has no schema %q", c.machine.flow.Name, name)
	}
	if c.wires == nil {
		c.wires = make(map[string]wire)
	}
	if schema.fields != nil {
		made, fields := c.wires[name], schema.fields(c.record, call)
		if !made.isOf(fields) {
			made = wire{fields, &provider.Schema{Name: name, JSON: fields.Schema()}}
			c.wires[name] = made
		}
		return made.schema, nil
	}
	key, l := name, (*text.Labels)(nil)
	if call.View.Labels && c.record.anonymous != nil {
		key, l = name+"/labels", c.record.anonymous.Labels
	}
	if made, ok := c.wires[key]; ok {
		return made.schema, nil
	}
	narrowed, err := schema.narrow(c.record, l)
	if err != nil {
		return nil, err
	}
	made := &provider.Schema{Name: name, JSON: narrowed}
	c.wires[key] = wire{schema: made}
	return made, nil
}

// reask adds to the last message what was wrong with the answer that is asked for again, if one is.
func (p *prepared) reask(r *Record, state *callState, intent *Intent) {
	if !state.reasks(p.model) {
		return
	}
	intent.Reask = true
	problems := state.special.rejection.Problems
	if p.last != "" {
		p.last += "\n\n"
	}
	p.last += text.Fill(r.Text(textAgain), problemsMark, text.Escape(text.Bulleted(problems), r.fence))
}

// textAgain is the name of the instruction after an answer that was not accepted. Every flow has it.
const textAgain = "again"

// problemsMark stands for the list of problems in that text.
const problemsMark = "[[problems]]"

// Command is an attempt at a call as a self-contained value. To perform it, a runtime needs no core. One of
// Request, Task and Use is set, with the name of what it goes to. What the command points to is shared with the
// record: it is read only.
type Command struct {
	Conversation string // its ID
	Call         string // deterministic; together with Attempt it is an idempotency key
	Attempt      int    // from 1
	Kind         CallKind
	By           string // the actor that is asked
	// Request goes to the provider of this name in Engine.Providers.
	Provider string
	Request  *provider.Request
	// Task, which Call.Task has made, goes to the [Function] of this name.
	Function string
	Task     any
	// Use goes to the tool of this name in Engine.Tools.
	Tool string
	Use  *ToolUse
	// Timeout bounds the call once it has begun. Time in a queue does not count.
	Timeout time.Duration
	// Stream means that readers may watch the reply as it arrives. Schema is the name of the schema that it must match;
	// "": it is free text.
	Stream bool
	Schema string
	// Said are the parts of the reply that the request asks to continue. Readers have had them. "": it begins a reply.
	Said string
	// Spoken names the field of the answer whose text readers watch in place of the JSON; see AnswerOf.Spoken. Schema is
	// then "".
	Spoken string
	// Inline means that the model reads no files: the runtime puts those that are text into the messages.
	Inline bool
	// Hidden means that the call's turn is hidden; see Call.Hidden.
	Hidden bool
	// Quotes are the documents with which the runtime compares what the reply quotes, Said included. nil: nothing is compared. They are
	// read only.
	Quotes []Document
}

// Command returns a call in flight as a self-contained value. The core may take further inputs while it is
// performed.
//
// The error is of kind state. It means that no such call is in flight, or that the flow no longer needs it. In the
// second case no process makes the call any more, and the runtime steps it as [Lost].
func (c *Core) Command(id string) (*Command, error) {
	made := &struct {
		Command
		request provider.Request
	}{}
	if err := c.Prepare(id, &made.Command, &made.request); err != nil {
		return nil, err
	}
	return &made.Command, nil
}

// Prepare does what [Core.Command] does, and writes the command and its request into values of the caller. That saves
// allocations. If the command has no request, request is left as it is.
func (c *Core) Prepare(id string, command *Command, request *provider.Request) error {
	state := c.record.callByID(id)
	if state == nil || state.status != callInFlight {
		return &Error{Kind: provider.KindState, Op: "command", Err: fmt.Errorf("no call %q is in flight", text.OneLine(id, 80))}
	}
	ready, err := c.preparedFor(state)
	if err != nil {
		return err
	}
	intent, r := state.intent, c.record
	call := ready.call
	*command = Command{
		Conversation: r.ID, Call: id, Attempt: intent.Attempt, Kind: intent.Kind, By: intent.By,
		Timeout: timeoutOf(*r.settings, call), Stream: intent.Tool == "", Hidden: intent.Hidden, Said: ready.said,
	}
	command.Schema, command.Spoken = c.machine.flow.watched(call.Schema)
	if call.Performer == byTool {
		command.Tool, command.Use = intent.Tool, c.toolInput(ready, intent)
		return nil
	}
	if r.settings.Quotes && call.Schema == "" && call.span == nil {
		command.Quotes = r.settings.Documents
	}
	if call.Performer == ByFunction {
		command.Function = call.Function
		if call.Task != nil {
			command.Task = call.Task(r, Asked{call, intent.Attempt, ready.last, wireJSON(ready.wire)})
		}
		return nil
	}
	host, model, _ := SplitModel(ready.model)
	command.Provider = host
	command.Request = request
	if row := r.model(ready.model); row != nil {
		command.Inline = row.Lacks(provider.AbilityFile)
	}
	*request = provider.Request{
		ID: r.ID + "/" + id + "/" + strconv.Itoa(intent.Attempt), Model: model, System: call.System, Self: call.By,
		Messages: ready.messages(), Last: provider.Message{Text: ready.last},
		MaxTokens: intent.Tokens, Temperature: intent.Temperature, Schema: ready.wire, Tools: ready.tools, Options: intent.Options,
		Labels: r.settings.Labels,
	}
	return nil
}

// watched returns the schema that the chunks of a call name, and the field of the answer whose text they are; see
// Command.Spoken. name is the schema of the call.
func (f *Flow) watched(name string) (schema, spoken string) {
	if s := f.Schemas[name]; s != nil && s.spoken != "" && s.body == nil {
		return "", s.spoken
	}
	return name, ""
}

// begun is a call that the last Step began, with what was prepared for it.
type begun struct {
	intent *Intent
	ready  *prepared
}

// preparedFor returns what was prepared for a call in flight. It computes it again if the call was not begun by the
// last Step: the core may have been loaded from its log.
func (c *Core) preparedFor(state *callState) (*prepared, error) {
	for i := range c.begun {
		if c.begun[i].intent == state.intent {
			return c.begun[i].ready, nil
		}
	}
	call := c.wanted(state)
	if call == nil {
		err := errors.New("the flow no longer wants the call " + text.OneLine(state.intent.Call, 80))
		return nil, &Error{Kind: provider.KindState, Op: "command", Err: err}
	}
	ready, now, failure := c.prepare(call, false)
	made := state.intent
	if failure != nil || now.Model != made.Model || !c.within(ready, now, made) {
		err := errors.New("the call no longer matches what was reserved for it: " + text.OneLine(made.Call, 80))
		return nil, &Error{Kind: provider.KindState, Op: "command", Err: err}
	}
	return ready, nil
}

// within reports whether a request that was prepared again is within what was reserved for it: by its bytes, or by its tokens where those
// were counted.
func (c *Core) within(ready *prepared, now, made *Intent) bool {
	if now.Bound <= made.Bound && now.Reserve <= made.Reserve {
		return true
	}
	model, _ := c.record.Model(made.Model)
	counter, exact := token.Named(model.Vocabulary) // also if the vendor's reports have shown since that it counts otherwise
	if !exact || ready.call.span != nil {
		return false
	}
	input := c.tokensOf(ready, counter) + c.record.surplus.of(&model)
	return input+made.Tokens <= made.Bound && model.Bound(input, made.Tokens) <= made.Reserve
}

// wanted returns the call that an intent was for, if the flow still lacks its result. Otherwise it returns nil.
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
			call := r.summaryCall(span{v, intent.Upto, intent.Only}, intent.Model, intent.Options, visibleTokens(intent))
			call.ID = intent.Call
			return call
		}
		return nil
	}
	if c.kept.holds() {
		if at := c.kept.find(intent.Call); at >= 0 && !state.over() {
			return c.kept.calls[at]
		}
		return nil
	}
	step := c.machine.flow.Steps[r.work]
	if step.Calls == nil {
		return nil
	}
	calls := step.Calls(r)
	if i := slices.IndexFunc(calls, func(call *Call) bool { return call.ID == intent.Call }); i >= 0 {
		return calls[i]
	}
	return nil
}
