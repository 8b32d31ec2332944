package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A call whose model asks for tools is made in several attempts. Each reply that asks is a fact, each use of a tool is
// a call of its own, and the next attempt shows the model the answers. Therefore a crash loses no answer, and only uses
// of read-only tools are made twice.

// exchange is a reply that asks for tools, with their answers so far.
type exchange struct {
	asked   *ToolCalls
	results []*ToolResult // in the order of the uses; nil: pending
}

// Bounds of the use of tools.
const (
	maxAsked     = 32        // tools that one reply may ask for
	maxAnswered  = 32 << 10  // bytes of a tool's answer
	maxArguments = 256 << 10 // bytes of the arguments of a use
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
func (c *Core) askTools(state *callState, spend Spend, s Result) error {
	r, intent := c.record, state.intent
	offer := intent.offered()
	if len(state.talk) > offer.Uses+maxStubborn {
		err := errors.New("the model goes on asking for tools, though it may use no more")
		return c.setback(state, &Error{Kind: provider.KindInvalidResponse, Err: err}, spend)
	}
	out := &ToolCalls{Spend: spend, By: intent.By, Round: intent.Round, Text: text.Readable(s.Text)}
	before := 0
	for _, e := range state.talk {
		before += len(e.asked.Uses)
	}
	for i, call := range s.Calls[:min(len(s.Calls), maxAsked)] {
		asked := AskedTool{Use: intent.Call + toolInfix + strconv.Itoa(before+i+1), ToolCall: provider.ToolCall{
			ID: text.Cut(text.Readable(call.ID), 256), Name: text.Cut(text.Readable(call.Name), 256), Arguments: call.Arguments,
		}}
		if _, err := strictjson.Decode(string(call.Opaque), strictjson.Limits{}); err == nil {
			asked.Opaque = call.Opaque
		}
		if len(asked.Arguments) == 0 {
			asked.Arguments = json.RawMessage("{}")
		}
		// Arguments that are nested too deeply for a decoder would make the log unreadable.
		_, wrong := strictjson.Decode(string(asked.Arguments), strictjson.Limits{Bytes: maxArguments})
		switch {
		case !slices.Contains(offer.Tools, call.Name):
			asked.Denied = "There is no tool of this name."
		case r.toolCounts[intent.By]+i >= offer.Uses:
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

// answeredBy takes the result of the use of a tool.
func (c *Core) answeredBy(intent *Intent, spend Spend, content string, failed bool) error {
	if c.record.Final() {
		return c.spend(spend)
	}
	out := &ToolResult{Spend: spend, By: intent.By, Round: intent.Round, Tool: intent.Tool, Text: text.Readable(content), Failed: failed}
	if len(out.Text) > maxAnswered {
		out.Text, out.Cut = text.Cut(out.Text, maxAnswered), true
	}
	return c.emit(Event{Body: out})
}

// toolFailed takes a use of a tool that gave no answer. broken reports that it was aborted. A read-only tool is
// then used again. For any other tool the outcome is unknown, and the model is told so.
func (c *Core) toolFailed(state *callState, spend Spend, failure *Error, broken bool) error {
	intent := state.intent
	readOnly := c.record.start.Tools[intent.Tool].ReadOnly
	if broken && readOnly && !c.record.Final() {
		return c.emit(Event{Body: &Failure{Spend: spend, By: intent.By, Void: true, Error: c.locate(state, failure)}})
	}
	content := "The tool has failed."
	switch {
	case !readOnly && failure.Kind == provider.KindTimeout:
		content = "The tool took too long, and was broken off. Nobody knows whether it took effect."
	case broken:
		content = "The tool was broken off. Nobody knows whether it took effect."
	case failure.Err != nil:
		content = failure.Err.Error()
	}
	return c.answeredBy(intent, spend, content, true)
}

// foldTools keeps the uses that a reply has asked for. The call continues when all of them are answered.
func (r *Record) foldTools(call *callState, t *ToolCalls) error {
	if call.intent.Offer == nil || len(t.Uses) == 0 || len(t.Uses) > maxAsked || len(r.toolCounts) >= maxTracked {
		return invalid("tools.uses", "are %d of a call that offers %d tools", len(t.Uses), len(call.intent.offered().Tools))
	}
	for i := range t.Uses {
		asked := &t.Uses[i]
		if r.calls[asked.Use] != nil {
			return invalid("tools.uses.use", "%q has been before", text.OneLine(asked.Use, 80))
		}
		if asked.Denied == "" && (asked.Name == "" || !slices.Contains(call.intent.offered().Tools, asked.Name)) {
			return invalid("tools.uses.name", "%q was not offered", text.OneLine(asked.Name, 80))
		}
	}
	e := exchange{asked: t, results: make([]*ToolResult, len(t.Uses))}
	for i := range t.Uses {
		if asked := &t.Uses[i]; asked.Denied != "" {
			e.results[i] = &ToolResult{Text: asked.Denied, Failed: true}
		}
	}
	if r.toolCounts == nil {
		r.toolCounts = make(map[string]int)
	}
	r.toolCounts[t.By] += len(t.Uses)
	call.status, call.trouble, call.vain = callIdle, nil, 0
	call.talk = append(call.talk, e)
	return nil
}

// asks returns the exchange that asks for this use of a tool, and the index of the use. nil: the call does not ask
// for it now.
func (c *callState) asks(use string) (*exchange, int) {
	if c == nil || len(c.talk) == 0 {
		return nil, 0
	}
	last := &c.talk[len(c.talk)-1]
	for i := range last.asked.Uses {
		if last.asked.Uses[i].Use == use {
			return last, i
		}
	}
	return nil, 0
}

// foldTool keeps the answer of a tool.
func (r *Record) foldTool(call *callState, t *ToolResult) error {
	last, i := r.calls[call.intent.For].asks(call.intent.Call)
	if last == nil || last.results[i] != nil || t.Tool != call.intent.Tool {
		return invalid("tool", "was not asked for")
	}
	last.results[i] = t
	r.ToolUses = append(r.ToolUses, t)
	call.status = callDone
	return nil
}

// unanswered returns the indices of the uses of tools that the call waits for.
func (c *callState) unanswered() []int {
	if c == nil || len(c.talk) == 0 {
		return nil
	}
	var missing []int
	for i, result := range c.talk[len(c.talk)-1].results {
		if result == nil {
			missing = append(missing, i)
		}
	}
	return missing
}
