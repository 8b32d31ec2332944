package agui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/web"
)

const (
	heartbeat = 15 * time.Second // of silence, after which the state is sent again
	writeTime = 30 * time.Second // that a write may take
)

// standing is how a conversation stands.
type standing struct {
	Record struct {
		State   flow.State    `json:"state"`
		Topic   string        `json:"topic"`
		Failure *flow.Error   `json:"failure"` // nil: there is none, or the client may not see it
		Spent   *flow.Account `json:"spent"`   // nil: the client may not see it
	} `json:"record"`
	Legal     []string        `json:"legal"`
	Questions []flow.Question `json:"questions"`

	whole json.RawMessage
}

// fields are those of the record that clients get as the state.
const fields = "id,flow,format,state,topic,round,rounds,participants,schedule,verdict,solution,outcome,failure,spent,seq,result"

// stands reads how the conversation stands.
func (c *connection) stands() (*standing, error) {
	data, err := c.web.Do(c.request, http.MethodGet, c.address()+"?fields="+fields, nil)
	if err != nil {
		return nil, err
	}
	out := &standing{whole: data}
	return out, json.Unmarshal(data, out)
}

// may reports whether the client may do an operation now.
func (s *standing) may(operation string) bool { return slices.Contains(s.Legal, operation) }

// event is an event of the protocol. Which fields it has depends on its type.
type event struct {
	Type         string          `json:"type"`
	ThreadID     string          `json:"threadId,omitempty"`
	RunID        string          `json:"runId,omitempty"`
	ParentRunID  string          `json:"parentRunId,omitempty"`
	Version      string          `json:"protocolVersion,omitempty"`
	StepName     string          `json:"stepName,omitempty"`
	MessageID    string          `json:"messageId,omitempty"`
	ToolCallID   string          `json:"toolCallId,omitempty"`
	ToolCallName string          `json:"toolCallName,omitempty"`
	Role         string          `json:"role,omitempty"`
	Name         string          `json:"name,omitempty"`
	Delta        string          `json:"delta,omitempty"`
	Content      *string         `json:"content,omitempty"`
	Value        any             `json:"value,omitempty"`
	Snapshot     json.RawMessage `json:"snapshot,omitempty"`
	Messages     []any           `json:"messages,omitempty"`
	Outcome      *outcome        `json:"outcome,omitempty"`
	Usage        []usage         `json:"usage,omitempty"`
	Message      string          `json:"message,omitempty"`
	Code         string          `json:"code,omitempty"`
}

// outcome is why a run has ended.
type outcome struct {
	Type       string      `json:"type"`
	Interrupts []interrupt `json:"interrupts,omitempty"`
}

// usage is what the conversation has used, in tokens.
type usage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	Total      int `json:"totalTokens"`
	Reasoning  int `json:"reasoningTokens"`
	Cached     int `json:"cachedInputTokens"`
	CacheWrite int `json:"cacheWriteInputTokens"`
}

// The roles of messages.
const (
	fromUser = "user"
	fromTurn = "assistant"
	fromTool = "tool"
)

// interrupt is something that a run waits for.
type interrupt struct {
	ID        string          `json:"id"`
	Reason    string          `json:"reason"`
	Message   string          `json:"message,omitempty"`
	Tool      string          `json:"toolCallId,omitempty"`
	Schema    any             `json:"responseSchema,omitempty"`
	ExpiresAt string          `json:"expiresAt,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // the whole question
}

// interrupts returns what the client can do so that the conversation goes on.
func (s *standing) interrupts() []interrupt {
	if s.Record.State == flow.StatePaused && s.may("resume") {
		return []interrupt{{ID: paused, Reason: paused, Message: "The conversation is paused."}}
	}
	if s.Record.State != flow.StateAwaitingInput {
		return nil
	}
	var out []interrupt
	for i := range s.Questions {
		out = append(out, interruptOf(&s.Questions[i]))
	}
	return out
}

// interruptOf writes a question as an interrupt.
func interruptOf(q *flow.Question) interrupt {
	out := interrupt{ID: q.ID, Reason: "input", Message: q.Question}
	text := map[string]string{"type": "string"}
	properties, required := map[string]any{"text": text}, "text"
	if len(q.Options) > 0 {
		out.Reason, required = "decision", "option"
		properties["option"] = map[string]any{"type": "string", "enum": q.Options}
		properties["model"], properties["by"] = text, text
	}
	if q.Use != nil {
		out.Reason, out.Tool = "approval", q.Use.Use
	}
	out.Schema = map[string]any{"type": "object", "properties": properties, "required": []string{required}}
	if !q.Until.IsZero() {
		out.ExpiresAt = q.Until.UTC().Format(time.RFC3339)
	}
	if data, err := json.Marshal(map[string]any{"question": q}); err == nil { // a log has held it
		out.Metadata = data
	}
	return out
}

// run follows the conversation, and writes the events of the run.
func (c *connection) run() {
	header := c.response.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would gather events
	header.Set("X-Content-Type-Options", "nosniff")
	defer func() { _ = http.NewResponseController(c.response).SetWriteDeadline(time.Time{}) }() // the connection may serve another request
	started := &event{Type: "RUN_STARTED", ThreadID: c.in.Thread, RunID: c.in.Run, ParentRunID: c.in.Parent, Version: "1.0"}
	if c.send(started) != nil {
		return
	}
	last, err := c.follow()
	if err != nil {
		p := web.Explain(err)
		last = &event{Type: "RUN_ERROR", Message: p.Detail, Code: string(p.Kind)}
	}
	_ = c.send(last) // the client may be gone
}

// follow writes events until the run ends, and returns the last one.
func (c *connection) follow() (*event, error) {
	t := &talk{send: c.send, given: c.in.Messages, open: make(map[string]*spoken)}
	var after int64
	if !c.isNew {
		var err error
		if after, err = c.catchUp(t); err != nil {
			return nil, err
		}
		if last, err := c.rest(t, nil); last != nil || err != nil {
			return last, err
		}
	}
	for e, err := range c.web.Events(c.request, c.in.Thread, after, heartbeat) {
		if err != nil {
			return nil, err
		}
		live := e.Kind() == flow.EventChunk || e.Kind() == flow.EventHeartbeat
		if !live && e.Seq <= after {
			continue // the history has it
		}
		if err := t.hear(&e); err != nil {
			return nil, err
		}
		var last *event
		switch e.Kind() {
		case flow.EventHeartbeat: // who is asked may have changed without a transition
			last, err = c.rest(t, nil)
		case flow.EventRedacted: // what was said before has changed
			if after, err = c.catchUp(t); err == nil {
				last, err = c.rest(t, nil)
			}
		case flow.EventTransition, flow.EventRound:
			last, err = c.rest(t, e.Body)
		}
		if last != nil || err != nil {
			return last, err
		}
	}
	s, err := c.stands()
	if err != nil {
		return nil, err
	}
	return c.finish(t, s)
}

// catchUp tells the client what was said before, and returns the number of the last event of that.
func (c *connection) catchUp(t *talk) (after int64, err error) {
	t.messages, t.stale = nil, true
	if after, err = c.history(t); err != nil {
		return 0, err
	}
	return after, t.settle()
}

// history reads the messages that are saved.
func (c *connection) history(t *talk) (after int64, err error) {
	for {
		data, err := c.web.Do(c.request, http.MethodGet, fmt.Sprintf("%s?after=%d", c.address("events"), after), nil)
		if err != nil {
			return 0, err
		}
		var page struct {
			Events []flow.Event `json:"events"`
			Last   int64        `json:"last"`
			Next   int64        `json:"next"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return 0, err
		}
		for i := range page.Events {
			t.remember(&page.Events[i])
		}
		if after = page.Next; after == 0 {
			return page.Last, nil
		}
	}
}

// rest sends the state, which a transition or a round may have changed. If nothing is said any more until the client does something, it
// returns the last event of the run.
func (c *connection) rest(t *talk, changed flow.Body) (*event, error) {
	s, err := c.stands()
	if err != nil {
		return nil, err
	}
	if err := c.send(&event{Type: "STATE_SNAPSHOT", Snapshot: s.whole}); err != nil {
		return nil, err
	}
	to, isTransition := changed.(*flow.Transition)
	now := changed == nil || isTransition && to.To == s.Record.State // else the log goes on
	if now && (len(s.interrupts()) > 0 || s.Record.State == flow.StateError) {
		return c.finish(t, s)
	}
	return nil, nil //nolint:nilnil // the run goes on
}

// finish closes what is open, and returns the last event of the run.
func (c *connection) finish(t *talk, s *standing) (*event, error) {
	if err := t.close(); err != nil {
		return nil, err
	}
	if s.Record.State == flow.StateError {
		last := &event{Type: "RUN_ERROR", Message: "the conversation has failed", Code: string(flow.StateError)}
		if f := s.Record.Failure; f != nil {
			last.Message, last.Code = f.Error(), string(f.Kind)
		}
		return last, nil
	}
	last := &event{Type: "RUN_FINISHED", ThreadID: c.in.Thread, RunID: c.in.Run, Outcome: &outcome{Type: "cancelled"}}
	if all := s.interrupts(); len(all) > 0 {
		last.Outcome = &outcome{Type: "interrupt", Interrupts: all}
	} else if s.Record.State == flow.StateCompleted {
		last.Outcome.Type = "success"
	}
	if s.Record.Spent != nil {
		u := s.Record.Spent.Usage
		last.Usage = []usage{{u.Input, u.Output, u.Input + u.Output, u.Reasoning, u.CachedInput, u.CacheWrite}}
	}
	return last, nil
}

// send writes an event.
func (c *connection) send(e *event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return c.write("data: " + string(data) + "\n\n")
}

// write writes a text and sends it.
func (c *connection) write(text string) error {
	control := http.NewResponseController(c.response)
	if err := control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := c.response.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}

// talk is what a client has been told of a conversation.
type talk struct {
	send     func(*event) error
	given    []message          // those of the client
	messages []any              // those that are over, as a snapshot holds them
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
		t.began(body.Settings.Topic)
	case *flow.Turn:
		t.keep(turnOf(body))
	case *flow.Note:
		t.keep(noteOf(body))
	case *flow.ToolCalls:
		for i := range body.Uses {
			if u := &body.Uses[i]; u.Denied == "" {
				t.keep(useOf(u))
			}
		}
	case *flow.ToolResult:
		t.keep(resultOf(body))
	}
}

// began keeps what has begun the thread: the messages of the client up to the first one of the user.
func (t *talk) began(topic string) {
	i := slices.IndexFunc(t.given, func(m message) bool { return m.Role == fromUser })
	if i < 0 {
		t.keep(told{ID: "topic", Role: fromUser, Content: &topic})
		return
	}
	for k := range t.given[:i+1] {
		t.keep(&t.given[k])
	}
}

func (t *talk) keep(message any) { t.messages = append(t.messages, message) }

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
	return t.send(&event{Type: "MESSAGES_SNAPSHOT", Messages: t.messages})
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
