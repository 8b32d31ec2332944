package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// toolTexts renders the texts that follow the answers of tools. Every flow has them if its config has tools.
func toolTexts(texts map[string]string, s Setup) error {
	if len(s.Settings.Tools) == 0 {
		return nil
	}
	var err error
	if texts[textTools], err = s.Prompts.Tools(prompt.Tools{Left: leftMark}); err != nil {
		return err
	}
	texts[textToolsNone], err = s.Prompts.Tools(prompt.Tools{})
	return err
}

// offerable returns the names of tools without those that were left out when the conversation began. names is not changed.
func (r *Record) offerable(names []string) []string {
	left := func(name string) bool { return r.start.Tools[name].LeftOut != "" }
	if !slices.ContainsFunc(names, left) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), left)
}

// pendingTools returns the uses of tools that a call waits for and that may start now. It asks about those that somebody must
// decide about first. waits reports whether the call waits for any, and again that the calls must be computed again.
func (d *due) pendingTools(call *Call) (fresh []beginning, waits, again bool, err error) {
	r := d.core.record
	state := r.calls[call.ID]
	talk := state.exchanges()
	if len(talk) == 0 {
		return nil, false, false, nil
	}
	last := &talk[len(talk)-1]
	for i := range last.uses {
		u, asked := &last.uses[i], &last.asked.Uses[i]
		if u.result != nil {
			continue
		}
		waits = true
		former := r.calls[asked.Use]
		if former != nil && former.status == callInFlight {
			d.busy = true
			continue
		}
		if r.undecidedUse(asked, u) {
			decided, err := d.askUse(call, asked, u)
			if again = again || decided; err != nil || r.State == StateError {
				return nil, true, true, err
			}
			continue
		}
		use := toolUse(call, asked)
		intent := &Intent{
			Call: use.ID, Attempt: 1, Kind: KindTool, By: use.By, Round: use.Round, Slot: use.Slot, Tool: use.asked.Name, For: call.ID,
		}
		if former != nil {
			intent.Attempt = former.intent.Attempt + 1
		}
		fresh = append(fresh, beginning{&prepared{call: use}, intent})
	}
	return fresh, waits, again, nil
}

// toolUse returns the call that uses a tool.
func toolUse(call *Call, asked *AskedTool) *Call {
	return &Call{
		ID: asked.Use, Kind: KindTool, By: call.By, Performer: byTool, Round: call.Round, Slot: call.Slot, Timeout: call.Timeout,
		View: View{None: true}, asked: asked,
	}
}

// exchanged returns how many replies of a call count for Call.Exchanges: those that have asked for tools, and one of the model's that
// was rejected.
func (r *Record) exchanged(call *Call, model string) int {
	state := r.calls[call.ID]
	if state == nil {
		return 0
	}
	return len(state.special.talk) - state.special.spared + oneIf(state.reasks(model))
}

// offer adds the tools, and what they have answered so far, to what is sent. Tools are described in the last reply too if there
// were uses: vendors refuse uses of tools that are not described, and prompt caches depend on it.
func (p *prepared) offer(r *Record, state *callState, offer *ToolOffer, room int) {
	own := state.exchanges()
	if offer.Last && len(own) == 0 {
		p.recall(r, state, room)
		return
	}
	p.tools = r.toolsOf(p.call)
	sent := sentUses(own, room)
	former, formerSent := r.recalled(p.call, roomLeft(room, sent))
	var ids useIDs
	if len(former) > 0 {
		p.former = p.addUses(r, []provider.Message{{Text: formerWords}}, former, formerSent, &ids)
	}
	if len(own) == 0 {
		return
	}
	p.talk = p.addUses(r, []provider.Message{{Text: p.last}}, own, sent, &ids)
	left := p.call.Uses - r.toolCounts[p.call.By]
	switch {
	case offer.Last:
		left = 0
	case !boundedUses(offer): // in each reply but the last
		left = offer.Exchanges - 1 - r.exchanged(p.call, p.model)
	}
	if left > 0 {
		p.last = strings.ReplaceAll(r.Text(textTools), leftMark, strconv.Itoa(left))
	} else {
		p.last = r.Text(textToolsNone)
	}
}

// toolsOf returns the tools that a call offers, as they are described to models.
func (r *Record) toolsOf(call *Call) (tools []provider.Tool) {
	for _, name := range call.Tools {
		info := r.start.Tools[name]
		tools = append(tools, provider.Tool{Name: name, Description: info.Description, Parameters: info.Parameters})
	}
	return tools
}

// formerWords stand before what an actor has used its tools for in earlier calls.
const formerWords = "So you have used your tools before:"

// useIDs are the ids of the uses in one request. Vendors refuse two of one id, and some servers number the uses of each reply anew.
type useIDs struct {
	taken   map[string]bool
	numbers map[string]int // the last number that follows an id, so that thousands of one id take no longer than others
}

// unique returns the id, or another one if the request has it already.
func (ids *useIDs) unique(id string) string {
	const longest = 32 // bytes that stay of an id before a number: some vendors take 40
	if ids.taken == nil {
		ids.taken, ids.numbers = make(map[string]bool), make(map[string]int)
	}
	out, short := id, text.Cut(id, longest)
	for n := max(2, ids.numbers[short]+1); ids.taken[out]; n++ {
		out, ids.numbers[short] = short+"_"+strconv.Itoa(n), n
	}
	ids.taken[out] = true
	return out
}

// addUses adds exchanges to messages, with what is sent of each use. ids are those that the request has so far.
func (p *prepared) addUses(r *Record, messages []provider.Message, talk []exchange, sent [][]sentUse, ids *useIDs) []provider.Message {
	for at, e := range talk {
		calls := make([]provider.ToolCall, len(e.asked.Uses))
		for i := range calls {
			calls[i] = e.asked.Uses[i].ToolCall
			calls[i].ID, calls[i].Arguments = ids.unique(calls[i].ID), sent[at][i].arguments
		}
		messages = append(messages, provider.Message{Speaker: p.call.By, Text: e.asked.Text, ToolCalls: calls})
		for i := range e.uses {
			result := e.uses[i].result
			if result == nil {
				continue // cannot happen: a call continues when all uses are answered
			}
			content := sent[at][i].answer
			if result.Tool != "" {
				content = r.Quote("tool "+result.Tool, content)
			}
			messages = append(messages, provider.Message{Speaker: p.call.By, ToolResult: &provider.ToolResult{
				ID: calls[i].ID, Text: content, Error: result.Failed,
			}})
		}
	}
	return messages
}

// recall quotes in the instruction what tools have answered so far, for a model that can use none.
func (p *prepared) recall(r *Record, state *callState, room int) {
	own := state.exchanges()
	sent := sentUses(own, room)
	former, formerSent := r.recalled(p.call, roomLeft(room, sent))
	talk, sent := slices.Concat(former, own), slices.Concat(formerSent, sent)
	for at, e := range talk {
		for i := range e.uses {
			if result := e.uses[i].result; result != nil && result.Tool != "" {
				p.last += "\n\n" + r.Quote("tool "+result.Tool, sent[at][i].answer)
			}
		}
	}
}

// maxRecalled bounds the bytes of earlier calls' uses, arguments and answers, that a call is shown again.
const maxRecalled = 64 << 10

// roomLeft returns the bytes of earlier calls' uses for which there is room beside those of the call itself. room is that for all uses; 0:
// it has no bound.
func roomLeft(room int, own [][]sentUse) int {
	if room == 0 {
		return maxRecalled
	}
	for _, uses := range own {
		for i := range uses {
			room -= uses[i].size()
		}
	}
	return min(room, maxRecalled)
}

// recalled returns the exchanges of earlier calls that a call is shown again, oldest first, with what is sent of them: the newest, for
// which there is room. The oldest of these are cut, as far as they can be: a text and what a vendor has added are sent whole or not at all.
// An exchange with a use that was never answered is left out, because vendors want an answer to each.
func (r *Record) recalled(call *Call, room int) (talk []exchange, sent [][]sentUse) {
	for _, id := range slices.Backward(call.Recalls) {
		for _, e := range slices.Backward(r.calls[id].exchanges()) {
			if slices.ContainsFunc(e.uses, func(u useState) bool { return u.result == nil }) {
				continue
			}
			left := room - r.uncut(&e)
			if left < leastShown {
				slices.Reverse(talk)
				slices.Reverse(sent)
				return talk, sent
			}
			uses := sentUses([]exchange{e}, left)[0]
			for i := range uses {
				left -= uses[i].size()
			}
			room = left
			talk, sent = append(talk, e), append(sent, uses)
		}
	}
	slices.Reverse(talk)
	slices.Reverse(sent)
	return talk, sent
}

// uncut returns the bytes of an exchange beside answers and arguments, which can be cut, with the least that is sent of these.
func (r *Record) uncut(e *exchange) int {
	size := len(e.asked.Text) + transcript.Framing
	for i := range e.asked.Uses {
		use := &e.asked.Uses[i]
		size += 2*len(use.ID) + 2*len(use.Name) + len(use.Opaque) + 2*len(r.fence) + 3*transcript.Framing
		if i > 0 { // the newest has what is left
			size += min(leastShown, len(use.Arguments)) + min(leastShown, len(e.uses[i].result.Text))
		}
	}
	return size
}

// exchanges returns the replies of a call that have asked for tools. A call that was never made has none.
func (c *callState) exchanges() []exchange {
	if c == nil {
		return nil
	}
	return c.special.talk
}

// talkBound bounds the tokens of the tools, and of their uses with the answers.
func (p *prepared) talkBound() int {
	bound := 0
	for i := range p.tools {
		bound += len(p.tools[i].Name) + len(p.tools[i].Description) + len(p.tools[i].Parameters) + transcript.Framing
	}
	return bound + usesBound(p.former) + usesBound(p.talk)
}

// usesBound bounds the tokens of messages with uses of tools.
func usesBound(messages []provider.Message) int {
	bound := 0
	for i := range messages {
		m := &messages[i]
		bound += transcript.Bound(m)
		for j := range m.ToolCalls {
			call := &m.ToolCalls[j]
			bound += len(call.ID) + len(call.Name) + len(call.Arguments) + len(call.Opaque) + transcript.Framing
		}
		if m.ToolResult != nil {
			bound += len(m.ToolResult.ID) + len(m.ToolResult.Text) + transcript.Framing
		}
	}
	return bound
}

// talkCount counts the texts of what talkBound bounds.
func (p *prepared) talkCount(counter token.Counter) int {
	return p.talkBound() + usesCount(counter, p.former) + usesCount(counter, p.talk)
}

// usesCount returns by how much the texts of messages with uses of tools are counted above their bound; it is below 0.
func usesCount(counter token.Counter, messages []provider.Message) int {
	count := 0
	for i := range messages {
		m := &messages[i]
		count += counter.Count(m.Text) - len(m.Text)
		for j := range m.ToolCalls {
			for _, part := range []json.RawMessage{m.ToolCalls[j].Arguments, m.ToolCalls[j].Opaque} { // thoughts are plain text at some vendors
				count += counter.Count(string(part)) - len(part)
			}
		}
		if m.ToolResult != nil {
			count += counter.Count(m.ToolResult.Text) - len(m.ToolResult.Text)
		}
	}
	return count
}

// toolInput returns the request to a tool.
func (c *Core) toolInput(ready *prepared, intent *Intent) *ToolUse {
	r := c.record
	arguments := ready.call.asked.Arguments
	key := sha256.New()
	for _, part := range []string{r.start.Seed, intent.Call, string(arguments)} {
		_, _ = fmt.Fprintf(key, "%d:%s", len(part), part) // a hash takes all
	}
	return &ToolUse{
		Conversation: r.ID, Call: intent.Call, Attempt: intent.Attempt, Key: hex.EncodeToString(key.Sum(nil)[:16]), By: intent.By,
		Round: intent.Round, Arguments: arguments, Turns: c.readable(), Labels: r.settings.Labels,
	}
}

// readable is Record.Readable. It shows each turn once: a conversation may use tools as often as it has turns.
func (c *Core) readable() []*Turn {
	return c.record.readable(func(i int) *Turn {
		for n := len(c.shown); n <= i; n++ {
			c.shown = append(c.shown, shownTurn(c.record.Turns[n]))
		}
		return c.shown[i]
	})
}

// shownTurn returns a turn as others may read it.
func shownTurn(t *Turn) *Turn {
	out := *t
	out.Spend, out.Reasoning = t.Shown(), ""
	return &out
}

// sentUse is what of a use of a tool a model is sent when it goes on.
type sentUse struct {
	answer    string
	arguments json.RawMessage
}

func (u *sentUse) size() int { return len(u.answer) + len(u.arguments) }

// roomForUses bounds the bytes of uses, arguments and answers, that are sent: half of the free window, at four bytes per
// token, as in English. 0: the window is unknown.
func (r *Record) roomForUses(intent *Intent, model Model) int {
	const halfOfFour = 2
	size := r.window(intent.Model, model)
	if size == 0 {
		return 0
	}
	return max(1, size-r.settings.Reserve-fullCap(intent)) * halfOfFour
}

// sentUses returns what is sent of each use, by exchange and by use. The newest get the room first: of the older ones, answers and
// long texts in arguments are cut, so that a long work does not overflow the window that it began with.
func sentUses(talk []exchange, room int) [][]sentUse {
	sent := make([][]sentUse, len(talk))
	for i, e := range slices.Backward(talk) {
		sent[i] = make([]sentUse, len(e.uses))
		for j := range slices.Backward(e.uses) {
			use := &sent[i][j]
			use.arguments = e.asked.Uses[j].Arguments
			result := e.uses[j].result
			if result == nil {
				continue
			}
			content, short := result.Text, result.Cut
			if room > 0 && len(content) > max(leastShown, room-1) {
				content, short = text.Cut(content, max(leastShown, room-1)), true
			}
			if room > 0 {
				room = max(1, room-len(content))
			}
			if short {
				content += "\n[… the answer was longer, and is cut here]"
			}
			use.answer = content
			if room > 0 {
				use.arguments = shortArguments(use.arguments, max(leastShown, room-1))
				room = max(1, room-len(use.arguments))
			}
		}
	}
	return sent
}

// shortArguments returns arguments with at most so many bytes in each of their texts, if they have more than that in all. What
// is no object, or is still longer than twice that, becomes an object without fields: vendors want one.
func shortArguments(arguments json.RawMessage, most int) json.RawMessage {
	if len(arguments) <= most {
		return arguments
	}
	var fields map[string]any
	if err := json.Unmarshal(arguments, &fields); err != nil {
		return json.RawMessage("{}")
	}
	for key, value := range fields {
		if said, ok := value.(string); ok && len(said) > most/2 {
			fields[key] = text.Cut(said, most/2) + "[… cut here: it was longer]"
		}
	}
	short, err := json.Marshal(fields)
	if err != nil || len(short) > 2*most {
		return json.RawMessage("{}")
	}
	return short
}
