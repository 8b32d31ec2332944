package debate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// A call whose model asks for tools is made in several attempts: each reply that asks is a fact, each use of a
// tool is a call of its own, and the next attempt shows the model what was answered. So a crash loses no answer,
// and a use is never made twice unless it changes nothing.

// exchange is a reply that asks for tools, and what they have answered so far.
type exchange struct {
	asked   *ToolCalls
	results []*ToolResult // by place; nil: still to come
}

// Bounds of the use of tools.
const (
	mostAsked     = 32        // tools that one reply may ask for
	mostAnswered  = 32 << 10  // bytes of a tool's answer
	mostArguments = 256 << 10 // bytes of what a tool is asked with
	leastShown    = 200       // bytes of an answer that are shown though the window is small
	mostStubborn  = 2         // replies that ask for nothing but what is denied, before the attempt counts as failed
)

const (
	toolInfix = ".tool."
	// textTools and textToolsNone follow what tools have answered; leftMark stands for the number of uses left.
	textTools     = "tools"
	textToolsNone = "tools.none"
	leftMark      = "[[left]]"
)

// toolTexts renders what follows the answers of tools; every flow whose config has tools has it.
func toolTexts(texts map[string]string, s Setup) error {
	if len(s.Config.Tools) == 0 {
		return nil
	}
	var err error
	if texts[textTools], err = s.Prompts.Tools(prompt.Tools{Left: leftMark}); err != nil {
		return err
	}
	texts[textToolsNone], err = s.Prompts.Tools(prompt.Tools{})
	return err
}

// checkTool reports what keeps a tool from being offered to models. The names are those that all vendors take.
func checkTool(name string, tool Tool) error {
	bad := len(name) == 0 || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r)
	})
	if bad {
		return errors.New("the name is not 1 to 64 letters, digits, '-' and '_'")
	}
	if tool == nil {
		return errors.New("is nil")
	}
	tree, err := strictjson.Decode(string(tool.Describe().Parameters), strictjson.Limits{})
	if schema, ok := tree.(map[string]any); err != nil || !ok || schema["type"] != "object" {
		return errors.New("its parameters are no JSON schema of an object")
	}
	return nil
}

func (l *live) checkTools(f *findings, c *Config) {
	for i, name := range c.Tools {
		field := "tools[" + strconv.Itoa(i) + "]"
		switch {
		case l.tools[name] == nil:
			f.addf(field, "no tool %q is registered", oneLine(name, 80))
		case slices.Contains(c.Tools[:i], name):
			f.addf(field, "%q is named twice", oneLine(name, 80))
		}
	}
	if len(c.Tools) > 0 && c.Flow == DefaultFlow {
		f.addf("tools", "the flow %q lets nobody use tools", DefaultFlow)
	}
}

// askTools takes a reply that asks for tools.
func (c *Core) askTools(state *callState, spend Spend, s Result) error {
	r, intent := c.record, state.intent
	if len(state.talk) > intent.Uses+mostStubborn {
		err := errors.New("the model goes on asking for tools, though it may use no more")
		return c.setback(state, &Error{Kind: KindInvalidResponse, Err: err}, spend)
	}
	out := &ToolCalls{Spend: spend, By: intent.By, Round: intent.Round, Text: readable(s.Text)}
	before := 0
	for _, e := range state.talk {
		before += len(e.asked.Uses)
	}
	for i, call := range s.Calls[:min(len(s.Calls), mostAsked)] {
		asked := AskedTool{Use: intent.Call + toolInfix + strconv.Itoa(before+i+1), ToolCall: provider.ToolCall{
			ID: cut(readable(call.ID), 256), Name: cut(readable(call.Name), 256), Arguments: call.Arguments,
		}}
		if _, err := strictjson.Decode(string(call.Opaque), strictjson.Limits{}); err == nil {
			asked.Opaque = call.Opaque
		}
		if len(asked.Arguments) == 0 {
			asked.Arguments = json.RawMessage("{}")
		}
		// What is nested deeper than a decoder goes would make a log that nobody can read.
		_, wrong := strictjson.Decode(string(asked.Arguments), strictjson.Limits{Bytes: mostArguments})
		switch {
		case !slices.Contains(intent.Tools, call.Name):
			asked.Denied = "There is no tool of this name."
		case r.uses[intent.By]+i >= intent.Uses:
			asked.Denied = fmt.Sprintf("No tool may be used any more: %d uses are allowed.", intent.Uses)
		case wrong != nil:
			asked.Denied = "The arguments are no JSON: " + oneLine(wrong.Error(), 200)
		}
		if wrong != nil {
			asked.Arguments = json.RawMessage("{}")
		}
		out.Uses = append(out.Uses, asked)
	}
	return c.emit(Event{Kind: EventTools, Tools: out})
}

// answeredBy takes what came of the use of a tool.
func (c *Core) answeredBy(intent *Intent, spend Spend, text string, failed bool) error {
	if c.record.Final() {
		return c.spend(spend)
	}
	out := &ToolResult{Spend: spend, By: intent.By, Round: intent.Round, Tool: intent.Tool, Text: readable(text), Failed: failed}
	if len(out.Text) > mostAnswered {
		out.Text, out.Cut = cut(out.Text, mostAnswered), true
	}
	return c.emit(Event{Kind: EventTool, Tool: out})
}

// toolFailed takes the use of a tool that gave no answer. What changes nothing is used again if it was broken
// off; of anything else nobody knows whether it took effect, so the model is told.
func (c *Core) toolFailed(state *callState, spend Spend, failure *Error, broken bool) error {
	intent := state.intent
	readOnly := c.record.start.Tools[intent.Tool].ReadOnly
	if broken && readOnly && !c.record.Final() {
		return c.emit(Event{Kind: EventFailed, Failure: &Failure{Spend: spend, By: intent.By, Void: true, Error: c.place(state, failure)}})
	}
	text := "The tool has failed."
	switch {
	case !readOnly && failure.Kind == KindTimeout:
		text = "The tool took too long, and was broken off. Nobody knows whether it took effect."
	case broken:
		text = "The tool was broken off. Nobody knows whether it took effect."
	case failure.Err != nil:
		text = failure.Err.Error()
	}
	return c.answeredBy(intent, spend, text, true)
}

// foldTools keeps what a reply has asked for: the call goes on when all of it is answered.
func (r *Record) foldTools(call *callState, t *ToolCalls) error {
	if len(call.intent.Tools) == 0 || len(t.Uses) == 0 || len(t.Uses) > mostAsked || len(r.uses) >= mostOpen {
		return invalid("tools.uses", "are %d of a call that offers %d tools", len(t.Uses), len(call.intent.Tools))
	}
	for i := range t.Uses {
		if r.calls[t.Uses[i].Use] != nil {
			return invalid("tools.uses.use", "%q has been before", oneLine(t.Uses[i].Use, 80))
		}
	}
	e := exchange{asked: t, results: make([]*ToolResult, len(t.Uses))}
	for i := range t.Uses {
		if asked := &t.Uses[i]; asked.Denied != "" {
			e.results[i] = &ToolResult{Text: asked.Denied, Failed: true}
		}
	}
	if r.uses == nil {
		r.uses = make(map[string]int)
	}
	r.uses[t.By] += len(t.Uses)
	call.status, call.trouble, r.retries = callIdle, nil, 0
	call.talk = append(call.talk, e)
	return nil
}

// asks finds what the use of a tool was asked for with, and its place; nil: nobody asks for it now.
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

// foldTool keeps what a tool has answered.
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

// unanswered yields the places of the uses of tools that a call waits for.
func (c *callState) unanswered() []int {
	if c == nil || len(c.talk) == 0 {
		return nil
	}
	var places []int
	for i, result := range c.talk[len(c.talk)-1].results {
		if result == nil {
			places = append(places, i)
		}
	}
	return places
}

// uses finds the uses of tools that a call waits for, and those of them that may start; false: it waits for none.
func (d *due) uses(call *Call) (fresh []beginning, waits bool) {
	r := d.core.record
	call, state := r.present(call)
	for _, i := range state.unanswered() {
		waits = true
		use := toolUse(call, &state.talk[len(state.talk)-1].asked.Uses[i])
		intent := &Intent{
			Call: use.ID, Attempt: 1, Kind: KindTool, By: use.By, Round: use.Round, Slot: use.Slot, Tool: use.asked.Name, For: call.ID,
		}
		if former := r.calls[use.ID]; former != nil {
			if former.status == callOpen {
				d.busy = true
				continue
			}
			intent.Attempt = former.intent.Attempt + 1
		}
		fresh = append(fresh, beginning{&prepared{call: use}, intent})
	}
	return fresh, waits
}

// toolUse makes the call that uses a tool.
func toolUse(call *Call, asked *AskedTool) *Call {
	return &Call{
		ID: asked.Use, Kind: KindTool, By: call.By, Performer: byTool, Round: call.Round, Slot: call.Slot, Timeout: call.Timeout,
		View: View{None: true}, asked: asked,
	}
}

// roomForAnswers is how many bytes of tools' answers are sent: half of a model's window, at the four bytes that a
// token of English has; 0: the window is not known.
func (r *Record) roomForAnswers(intent *Intent, model Model) int {
	const halfOfFour = 2
	size := r.window(intent.Model, model)
	if size == 0 {
		return 0
	}
	return max(1, size-r.config.Reserve-intent.Tokens) * halfOfFour
}

// shown yields what of the answers of a talk is sent, each by its place: the newest first, as long as there is
// room for them.
func (c *callState) shown(room int) [][]string {
	texts := make([][]string, len(c.talk))
	for i, e := range slices.Backward(c.talk) {
		texts[i] = make([]string, len(e.results))
		for j, result := range slices.Backward(e.results) {
			if result == nil {
				continue
			}
			text, short := result.Text, result.Cut
			if room > 0 && len(text) > max(leastShown, room-1) {
				text, short = cut(text, max(leastShown, room-1)), true
			}
			if room > 0 {
				room = max(1, room-len(text))
			}
			if short {
				text += "\n[… the answer was longer, and is cut here]"
			}
			texts[i][j] = text
		}
	}
	return texts
}

// offer puts the tools, and what they have answered so far, into what is sent.
func (p *prepared) offer(r *Record, state *callState, room int) {
	for _, name := range p.call.Tools {
		info := r.start.Tools[name]
		p.tools = append(p.tools, provider.Tool{Name: name, Description: info.Description, Parameters: info.Parameters})
	}
	if state == nil || len(state.talk) == 0 {
		return
	}
	p.talk = append(p.talk, provider.Message{Text: p.last})
	texts := state.shown(room)
	for at, e := range state.talk {
		calls := make([]provider.ToolCall, len(e.asked.Uses))
		for i := range calls {
			calls[i] = e.asked.Uses[i].ToolCall
		}
		p.talk = append(p.talk, provider.Message{Speaker: p.call.By, Text: e.asked.Text, ToolCalls: calls})
		for i, result := range e.results {
			if result == nil {
				continue // there is none: a call goes on when all is answered
			}
			text := texts[at][i]
			if result.Tool != "" {
				text = r.Quote("tool "+result.Tool, text)
			}
			p.talk = append(p.talk, provider.Message{Speaker: p.call.By, ToolResult: &provider.ToolResult{
				ID: calls[i].ID, Text: text, Error: result.Failed,
			}})
		}
	}
	if left := p.call.Uses - r.uses[p.call.By]; left > 0 {
		p.last = strings.ReplaceAll(r.Text(textTools), leftMark, strconv.Itoa(left))
	} else {
		p.last = r.Text(textToolsNone)
	}
}

// talkBound bounds the tokens of tools and of what was asked of them and answered.
func (p *prepared) talkBound() int {
	bound := 0
	for i := range p.tools {
		bound += len(p.tools[i].Name) + len(p.tools[i].Description) + len(p.tools[i].Parameters) + framing
	}
	for i := range p.talk {
		m := &p.talk[i]
		bound += messageBound(m)
		for j := range m.ToolCalls {
			call := &m.ToolCalls[j]
			bound += len(call.ID) + len(call.Name) + len(call.Arguments) + len(call.Opaque) + framing
		}
		if m.ToolResult != nil {
			bound += len(m.ToolResult.ID) + len(m.ToolResult.Text) + framing
		}
	}
	return bound
}

// talkCount counts what talkBound bounds.
func (p *prepared) talkCount(counter token.Counter) int {
	count := p.talkBound()
	for i := range p.talk {
		m := &p.talk[i]
		count += counter.Count(m.Text) - len(m.Text)
		if m.ToolResult != nil {
			count += counter.Count(m.ToolResult.Text) - len(m.ToolResult.Text)
		}
	}
	return count
}

// use yields what a tool is asked to do.
func (r *Record) use(ready *prepared, intent *Intent) *ToolUse {
	return &ToolUse{
		Debate: r.ID, Call: intent.Call, Attempt: intent.Attempt, By: intent.By, Round: intent.Round,
		Arguments: ready.call.asked.Arguments, Turns: slices.Clip(r.readable()), Labels: r.config.Labels,
	}
}
