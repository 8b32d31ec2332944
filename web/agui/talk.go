package agui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// talk is what a client has been told of a conversation.
type talk struct {
	send     func(*event) error
	given    []message          // those of the client
	topic    string             // of the conversation
	messages []told             // those that are over, after the topic
	open     map[string]*spoken // messages that are being spoken, by call
	step     string             // the step that is open
	stale    bool               // the client has texts that do not count: a snapshot corrects them when no message is open
}

// spoken is the text of a message that is being spoken.
type spoken struct {
	attempt int
	text    strings.Builder
	void    bool // what was sent does not count, or there is a gap: nothing is added to it
}

// remember keeps what an event adds to the messages.
func (t *talk) remember(e *flow.Event) {
	switch body := e.Body.(type) {
	case *flow.Start:
		t.topic = body.Settings.Topic
	case *flow.Turn:
		t.messages = append(t.messages, turnOf(body))
	case *flow.Note:
		t.messages = append(t.messages, noteOf(body))
	case *flow.ToolCalls:
		for i := range body.Uses {
			if u := &body.Uses[i]; u.Denied == "" {
				t.messages = append(t.messages, useOf(u))
			}
		}
	case *flow.ToolResult:
		t.messages = append(t.messages, resultOf(body))
	}
}

// has reports whether a message is one that the conversation has.
func (t *talk) has(id string) bool {
	return slices.ContainsFunc(t.messages, func(m told) bool { return m.ID == id })
}

// begun returns which of the client's messages has begun the conversation: the last one with the topic before all that the conversation
// has. The topic may be its first line. -1: none.
func (t *talk) begun() int {
	out := -1
	for i := range t.given {
		m := &t.given[i]
		if t.has(m.ID) {
			break
		}
		if text, err := m.text(); err == nil && m.Role == fromUser && (text == t.topic || flow.TopicOf(text, "") == t.topic) {
			out = i
		}
	}
	return out
}

// all returns all messages, as a snapshot holds them: those of the client that have begun the conversation, and what was said since.
func (t *talk) all() (out []any) {
	begun := t.begun()
	if begun < 0 {
		out = append(out, told{ID: "topic", Role: fromUser, Content: &t.topic})
	}
	for i := range t.given[:begun+1] {
		out = append(out, &t.given[i])
	}
	for i := range t.messages {
		out = append(out, &t.messages[i])
	}
	return out
}

// told is a message of a snapshot that the client has not given.
type told struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"`
	Name       string     `json:"name,omitempty"`
	Content    *string    `json:"content,omitempty"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	ToolCalls  []toolCall `json:"toolCalls,omitempty"`
}

// toolCall is the use of a tool in a message.
type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function is what a use asks for.
type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func turnOf(b *flow.Turn) told {
	return told{ID: b.Call, Role: fromTurn, Name: b.Speaker, Content: &b.Text}
}

func noteOf(b *flow.Note) told {
	return told{ID: b.ID, Role: fromUser, Name: b.As, Content: &b.Text}
}

func useOf(u *flow.AskedTool) told {
	call := toolCall{ID: u.Use, Type: "function", Function: function{u.Name, argumentsOf(u)}}
	return told{ID: u.Use, Role: fromTurn, ToolCalls: []toolCall{call}}
}

// argumentsOf returns the JSON of the arguments.
func argumentsOf(u *flow.AskedTool) string { return cmp.Or(string(u.Arguments), "{}") }

func resultOf(b *flow.ToolResult) told {
	return told{ID: resultID(b), Role: fromTool, ToolCallID: b.Call, Content: &b.Text}
}

func resultID(b *flow.ToolResult) string { return b.Call + ".result" }

// hear tells the client of an event.
func (t *talk) hear(e *flow.Event) error {
	t.remember(e)
	switch body := e.Body.(type) {
	case *flow.Round:
		return t.round(body)
	case *flow.Chunk:
		return t.piece(body)
	case *flow.Turn:
		return t.turn(body)
	case *flow.Note:
		return t.note(body)
	case *flow.ToolCalls:
		for i := range body.Uses {
			if err := t.use(&body.Uses[i]); err != nil {
				return err
			}
		}
		return t.leave(body.Call) // what was said beside them is part of no turn
	case *flow.ToolResult:
		return t.send(&event{
			Type: "TOOL_CALL_RESULT", MessageID: resultID(body), ToolCallID: body.Call, Content: &body.Text, Role: fromTool,
		})
	case *flow.Failure:
		if body.Final {
			return t.leave(body.Call)
		}
	case *flow.Skipped:
		return t.leave(body.Call)
	case *flow.Withdrawn:
		return t.leave(body.Call)
	case flow.Spectated:
		if err := t.leave(callOf(body)); err != nil {
			return err
		}
		return t.send(&event{Type: "CUSTOM", Name: string(body.EventKind()), Value: body.Spectator()})
	}
	return nil
}

// callOf returns the call that a body ends; "": none.
func callOf(body flow.Body) string {
	if spend := flow.SpendOf(body); spend != nil {
		return spend.Call
	}
	return ""
}

// round ends the step before, and begins one.
func (t *talk) round(r *flow.Round) error {
	if err := t.endStep(); err != nil {
		return err
	}
	t.step = fmt.Sprintf("Round %d", r.N)
	return t.send(&event{Type: "STEP_STARTED", StepName: t.step})
}

func (t *talk) endStep() error {
	if t.step == "" {
		return nil
	}
	step := t.step
	t.step = ""
	return t.send(&event{Type: "STEP_FINISHED", StepName: step})
}

// start begins a message.
func (t *talk) start(id, role, name string) error {
	return t.send(&event{Type: "TEXT_MESSAGE_START", MessageID: id, Role: role, Name: name})
}

// add adds a text to a message.
func (t *talk) add(id, text string) error {
	if text == "" {
		return nil
	}
	return t.send(&event{Type: "TEXT_MESSAGE_CONTENT", MessageID: id, Delta: text})
}

// end ends a message.
func (t *talk) end(id string) error {
	return t.send(&event{Type: "TEXT_MESSAGE_END", MessageID: id})
}

// piece adds a piece of a turn to its message.
func (t *talk) piece(c *flow.Chunk) error {
	if c.Schema != "" || c.Reasoning {
		return nil
	}
	m := t.open[c.Call]
	if m == nil {
		m = &spoken{attempt: c.Attempt}
		t.open[c.Call] = m
		if err := t.start(c.Call, fromTurn, c.By); err != nil {
			return err
		}
	}
	if m.attempt != c.Attempt && c.Offset == m.text.Len() { // it continues a reply that was cut
		m.attempt = c.Attempt
	}
	if m.void = m.void || m.attempt != c.Attempt || c.Offset != m.text.Len() || c.Missing != 0; m.void {
		return nil
	}
	m.text.WriteString(c.Text)
	return t.add(c.Call, c.Text)
}

// turn ends the message of a turn, with the text that counts.
func (t *talk) turn(b *flow.Turn) error {
	m := t.open[b.Call]
	if m == nil {
		m = &spoken{}
		if err := t.start(b.Call, fromTurn, b.Speaker); err != nil {
			return err
		}
	}
	delete(t.open, b.Call)
	sent := m.text.String()
	rest, ok := strings.CutPrefix(b.Text, sent)
	if ok {
		if err := t.add(b.Call, rest); err != nil {
			return err
		}
	}
	ok = ok || strings.TrimSpace(sent) == strings.TrimSpace(b.Text)
	t.stale = t.stale || !ok
	if err := t.end(b.Call); err != nil {
		return err
	}
	return t.settle()
}

// note tells of a note.
func (t *talk) note(b *flow.Note) error {
	if err := t.start(b.ID, fromUser, b.As); err != nil {
		return err
	}
	if err := t.add(b.ID, b.Text); err != nil {
		return err
	}
	return t.end(b.ID)
}

// use tells of the use of a tool. One that is denied is between the model and the engine.
func (t *talk) use(u *flow.AskedTool) error {
	if u.Denied != "" {
		return nil
	}
	for _, e := range []*event{
		{Type: "TOOL_CALL_START", ToolCallID: u.Use, ToolCallName: u.Name},
		{Type: "TOOL_CALL_ARGS", ToolCallID: u.Use, Delta: argumentsOf(u)},
		{Type: "TOOL_CALL_END", ToolCallID: u.Use},
	} {
		if err := t.send(e); err != nil {
			return err
		}
	}
	return nil
}

// leave ends the message of a call that gives no turn.
func (t *talk) leave(call string) error {
	if t.open[call] == nil {
		return nil
	}
	delete(t.open, call)
	t.stale = true
	if err := t.end(call); err != nil {
		return err
	}
	return t.settle()
}

// settle sends all messages, if the client has texts that do not count and no message is open.
func (t *talk) settle() error {
	if !t.stale || len(t.open) > 0 {
		return nil
	}
	t.stale = false
	return t.send(&event{Type: "MESSAGES_SNAPSHOT", Messages: t.all()})
}

// close ends what is open.
func (t *talk) close() error {
	for call := range t.open {
		if err := t.leave(call); err != nil {
			return err
		}
	}
	return t.endStep()
}
