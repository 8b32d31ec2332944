package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// exchange is a reply that asks for tools, with what became of their uses so far.
type exchange struct {
	asked *ToolCalls
	uses  []useState // in the order of those that were asked for
}

// useState is the state of one use of a tool.
type useState struct {
	result   *ToolResult // what the model reads; nil: pending
	unknown  *ToolResult // of an attempt whose outcome nobody knows, and about which nobody has decided; nil: there is none
	approved bool        // somebody has decided that it is made, or made again
	denied   bool        // it is never made
}

// Bounds of the use of tools.
const (
	maxAsked     = 32        // tools that one reply may ask for
	maxAnswered  = 32 << 10  // bytes of a tool's answer
	maxArguments = 256 << 10 // bytes of the arguments of a use
	maxToolName  = 256       // bytes of the name and the id of a use
	leastShown   = 200       // bytes of an answer that are shown even if the window is small
	maxStubborn  = 2         // replies that ask only for denied uses, before the attempt counts as failed
)

const (
	toolInfix = ".tool."
	// textTools and textToolsNone are the names of the texts that follow the answers of tools. leftMark stands for
	// the number of uses left.
	textTools     = "tools"
	textToolsNone = "tools.none"
	leftMark      = "[[left]]"
)

// askTools takes a reply that asks for tools.
func (c *Core) askTools(state *callState, spend *Spend, s Result) error {
	r, intent := c.record, state.intent
	offer := offeredTools(intent)
	if offer.Last {
		return c.toolLimit(state, spend, s)
	}
	if offer.Exchanges == 0 && len(state.special.talk) > offer.Uses+maxStubborn {
		err := errors.New("the model keeps asking for tools, although it may use no more")
		return c.unused(state, &Error{Kind: provider.KindInvalidResponse, Err: err}, &Failure{Spend: *spend}, "")
	}
	out := &ToolCalls{Spend: *spend, By: intent.By, Round: intent.Round, Text: text.Readable(s.Text)}
	before := 0
	for _, e := range state.special.talk {
		before += len(e.asked.Uses)
	}
	for i, call := range s.Calls[:min(len(s.Calls), maxAsked)] {
		asked := AskedTool{Use: intent.Call + toolInfix + strconv.Itoa(before+i+1), ToolCall: provider.ToolCall{
			ID: text.Cut(text.Readable(call.ID), maxToolName), Arguments: call.Arguments,
			Name: text.OneLine(text.Cut(text.Readable(call.Name), maxToolName), maxToolName),
		}}
		if _, err := strictjson.Decode(string(call.Opaque), strictjson.Limits{}); err == nil {
			asked.Opaque = call.Opaque
		}
		if none := bytes.TrimSpace(asked.Arguments); len(none) == 0 || string(none) == "null" { // of a tool without arguments
			asked.Arguments = json.RawMessage("{}")
		}
		// Arguments that are nested too deeply for a decoder would make the log unreadable.
		_, wrong := strictjson.Decode(string(asked.Arguments), strictjson.Limits{Bytes: maxArguments})
		switch {
		case !slices.Contains(offer.Tools, call.Name):
			asked.Denied = "There is no tool of this name."
		case boundedUses(&offer) && r.toolCounts[intent.By]+i >= offer.Uses:
			asked.Denied = fmt.Sprintf("No tool may be used any more: %d uses are allowed.", offer.Uses)
		case wrong != nil:
			asked.Denied = "The arguments are no JSON: " + text.OneLine(wrong.Error(), 200)
		}
		if wrong != nil {
			asked.Arguments = json.RawMessage("{}")
		}
		out.Uses = append(out.Uses, asked)
	}
	return c.emit(Event{Body: out})
}

// toolLimit takes a reply that asks for tools though it is the last that the call may take. The call has failed for good.
func (c *Core) toolLimit(state *callState, spend *Spend, s Result) error {
	err := fmt.Errorf("the model still asks for tools in the last of %d replies", state.intent.Offer.Exchanges)
	failure := c.locate(state, &Error{Kind: provider.KindToolLimit, Err: err})
	out := &Failure{Spend: *spend, By: state.intent.By, Error: failure, Final: true, Instead: c.instead(state, failure.Kind)}
	out.Text, out.Cut = excerpt(s.Text)
	return c.emit(Event{Body: out})
}

// UsedUp reports whether the model of a call reached a limit on its use of tools, and was told so: Call.Uses, or the last of
// Call.Exchanges.
func (r *Record) UsedUp(call string) bool {
	c := r.calls[call]
	return c != nil && c.usedUp
}

// used records the end of the use of a tool. An answer is not cleaned, because a model gives parts of it back: who shows it cleans it.
func (c *Core) used(intent *Intent, spend *Spend, content string, failed, unknown bool) error {
	out := &ToolResult{
		Spend: *spend, By: intent.By, Round: intent.Round, Tool: intent.Tool,
		Text: text.Readable(content), Failed: failed, Unknown: unknown,
	}
	if len(out.Text) > maxAnswered {
		out.Text, out.Cut = text.Cut(out.Text, maxAnswered), true
	}
	return c.emit(Event{Body: out})
}

// toolFailed takes a use of a tool that gave no answer. broken reports that it was aborted, or that its process is gone. A
// read-only or idempotent tool is then used again, and if it took too long its model is told. For any other tool the outcome is
// unknown in all these cases: somebody decides about it.
func (c *Core) toolFailed(state *callState, spend *Spend, failure *Error, broken bool) error {
	intent := state.intent
	info := c.record.start.Tools[intent.Tool]
	if broken && repeatable(info) && !c.record.Final() {
		return c.emit(Event{Body: &Failure{Spend: *spend, By: intent.By, Void: true, Error: c.locate(state, failure)}})
	}
	content := "The tool has failed."
	if failure.Err != nil {
		content = redact.Foreign(text.Shown(failure.Err.Error())) // in this order: what is not shown may stand in a key
	}
	late := failure.Kind == provider.KindTimeout
	unknown := broken && !info.ReadOnly || late && !repeatable(info)
	if unknown {
		why := "was broken off"
		if late {
			why = "took too long, and " + why
		}
		content = "The tool " + why + ". Nobody knows whether it took effect. (" + content + ")"
	}
	return c.used(intent, spend, content, true, unknown)
}

// foldTools keeps the uses that a reply has asked for. The call continues when all of them are answered.
func (r *Record) foldTools(call *callState, t *ToolCalls) error {
	if call.intent.Offer == nil || call.intent.Offer.Last || len(t.Uses) == 0 || len(t.Uses) > maxAsked || len(r.toolCounts) >= maxTracked {
		return invalid("tools.uses", "are %d of a call that offers %d tools", len(t.Uses), len(offeredTools(call.intent).Tools))
	}
	for i := range t.Uses {
		asked := &t.Uses[i]
		if r.calls[asked.Use] != nil {
			return invalid("tools.uses.use", "%q is a duplicate", text.OneLine(asked.Use, 80))
		}
		if asked.Denied == "" && (asked.Name == "" || !slices.Contains(offeredTools(call.intent).Tools, asked.Name)) {
			return invalid("tools.uses.name", "%q was not offered", text.OneLine(asked.Name, 80))
		}
	}
	e := exchange{asked: t, uses: make([]useState, len(t.Uses))}
	for i := range t.Uses {
		if asked := &t.Uses[i]; asked.Denied != "" {
			e.uses[i] = useState{result: &ToolResult{Text: asked.Denied, Failed: true}, denied: true}
		}
	}
	if r.toolCounts == nil {
		r.toolCounts = make(map[string]int)
	}
	r.toolCounts[t.By] += len(t.Uses)
	offer := offeredTools(call.intent)
	call.usedUp = call.usedUp || boundedUses(&offer) && r.toolCounts[t.By] >= offer.Uses
	call.status, call.trouble, call.vain = callIdle, nil, 0
	own := call.own()
	own.talk = append(own.talk, e)
	call.whole()
	return nil
}

// asks returns the exchange that asks for this use of a tool, and the index of the use. nil: the call does not ask
// for it now.
func (c *callState) asks(use string) (*exchange, int) {
	talk := c.exchanges()
	if len(talk) == 0 {
		return nil, 0
	}
	last := &talk[len(talk)-1]
	for i := range last.asked.Uses {
		if last.asked.Uses[i].Use == use {
			return last, i
		}
	}
	return nil, 0
}

// mayUse refuses the use of a tool that nobody has asked for, or that is made again without anybody's decision.
func (r *Record) mayUse(in *Intent) error {
	if in.Tool == "" {
		return nil
	}
	last, i := r.calls[in.For].asks(in.Call)
	if last == nil {
		return invalid("intent.for", "%q asks for no such tool", text.OneLine(in.For, 80))
	}
	if last.uses[i].unknown != nil {
		return invalid("intent.call", "nobody has decided to make %q again", text.OneLine(in.Call, 80))
	}
	return nil
}

// foldTool keeps the answer of a tool.
func (r *Record) foldTool(call *callState, t *ToolResult) error {
	last, i := r.calls[call.intent.For].asks(call.intent.Call)
	if last == nil || last.uses[i].result != nil || t.Tool != call.intent.Tool {
		return invalid("tool", "was not asked for")
	}
	r.ToolUses = append(r.ToolUses, t)
	if t.Unknown {
		last.uses[i].unknown, call.status = t, callIdle
		return nil
	}
	last.uses[i].result = t
	call.status = callDone
	return nil
}
