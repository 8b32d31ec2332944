package agui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/eventstream"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/internal/protocol"
)

// fields are those of the record that clients get as the state.
const fields = "id,flow,format,state,topic,round,rounds,participants,schedule,verdict,solution,outcome,failure,spent,spentByModel," +
	"seq,result"

// stands reads how the conversation stands.
func (c *connection) stands() (*protocol.Conversation, error) {
	return protocol.Read(c.web, c.request, c.in.Thread, fields)
}

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

// usage is what a model has used, in tokens.
type usage struct {
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Input      int    `json:"inputTokens,omitempty"`
	Output     int    `json:"outputTokens,omitempty"`
	Total      int    `json:"totalTokens,omitempty"`
	Reasoning  int    `json:"reasoningTokens,omitempty"`
	Cached     int    `json:"cachedInputTokens,omitempty"`
	CacheWrite int    `json:"cacheWriteInputTokens,omitempty"`
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

// interruptsOf returns what the client can do so that the conversation goes on.
func interruptsOf(s *protocol.Conversation) []interrupt {
	if s.Record.State == flow.StatePaused && slices.Contains(s.Legal, "resume") {
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
	if !q.Until.IsZero() && q.Overdue != flow.OptionWait { // else a late answer counts
		out.ExpiresAt = q.Until.UTC().Format(time.RFC3339)
	}
	if data, err := json.Marshal(map[string]any{"question": q}); err == nil { // a log has held it
		out.Metadata = data
	}
	return out
}

// run follows the conversation, and writes the events of the run.
func (c *connection) run() {
	c.response.Header().Set("X-Content-Type-Options", "nosniff")
	c.out = eventstream.New(c.response, 0)
	defer c.out.Close()
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
	for e, err := range c.web.Events(c.request, c.in.Thread, after, eventstream.Silence) {
		if err != nil {
			return nil, err
		}
		// A redaction is told at once, with the number of the fact before those that are kept back.
		live := e.Kind() == flow.EventChunk || e.Kind() == flow.EventHeartbeat || e.Kind() == flow.EventRedacted
		if !live && e.Seq <= after {
			continue // the history has it
		}
		if err := t.hear(&e); err != nil {
			return nil, err
		}
		if e.Kind() == flow.EventRedacted { // what was said before has changed
			if after, err = c.catchUp(t); err != nil {
				return nil, err
			}
		}
		if last, err := c.looks(t, &e); last != nil || err != nil {
			return last, err
		}
	}
	s, err := c.stands()
	if err != nil {
		return nil, err
	}
	return c.finish(t, s)
}

// looks reads how the conversation stands where an event, or the time since the last one for the client, asks for it; see rest.
func (c *connection) looks(t *talk, e *flow.Event) (*event, error) {
	switch e.Kind() {
	case flow.EventTransition, flow.EventRound:
		return c.rest(t, e.Body)
	case flow.EventHeartbeat, flow.EventRedacted: // who is asked may have changed without a transition
		return c.rest(t, nil)
	default:
		if time.Since(c.out.Last) < eventstream.Silence {
			return nil, nil //nolint:nilnil // the run goes on
		}
		return c.rest(t, nil) // what happens is nothing for the client
	}
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
		data, err := c.web.Do(c.request, http.MethodGet, fmt.Sprintf("%s?after=%d", protocol.Path(c.in.Thread, "events"), after), nil)
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
	if err := c.send(&event{Type: "STATE_SNAPSHOT", Snapshot: s.Whole}); err != nil {
		return nil, err
	}
	to, isTransition := changed.(*flow.Transition)
	now := changed == nil || isTransition && to.To == s.Record.State // else the log goes on
	if now && (len(interruptsOf(s)) > 0 || s.Record.State == flow.StateError) {
		return c.finish(t, s)
	}
	return nil, nil //nolint:nilnil // the run goes on
}

// finish closes what is open, and returns the last event of the run.
func (c *connection) finish(t *talk, s *protocol.Conversation) (*event, error) {
	if err := t.close(); err != nil {
		return nil, err
	}
	if s.Record.State == flow.StateError {
		last := &event{Type: "RUN_ERROR", Message: "the conversation has failed", Code: string(flow.StateError), Usage: c.used(s)}
		if f := s.Record.Failure; f != nil {
			last.Message, last.Code = f.Error(), string(f.Kind)
		}
		return last, nil
	}
	last := &event{
		Type: "RUN_FINISHED", ThreadID: c.in.Thread, RunID: c.in.Run, Outcome: &outcome{Type: "cancelled"}, Usage: c.used(s),
	}
	if all := interruptsOf(s); len(all) > 0 {
		last.Outcome = &outcome{Type: "interrupt", Interrupts: all}
	} else if s.Record.State == flow.StateCompleted {
		last.Outcome.Type = "success"
	}
	return last, nil
}

// used returns what the models have used since the run began.
func (c *connection) used(s *protocol.Conversation) (out []usage) {
	before := make(map[string]provider.Usage, len(c.before))
	for i := range c.before {
		before[c.before[i].Name] = c.before[i].Usage
	}
	for i := range s.Record.SpentByModel {
		now := &s.Record.SpentByModel[i]
		u, b := now.Usage, before[now.Name]
		if u == b {
			continue
		}
		vendor, model, _ := strings.Cut(now.Name, "/")
		input, output := u.Input-b.Input, u.Output-b.Output
		out = append(out, usage{
			Provider: vendor, Model: model, Input: input, Output: output, Total: input + output,
			Reasoning: u.Reasoning - b.Reasoning, Cached: u.CachedInput - b.CachedInput, CacheWrite: u.CacheWrite - b.CacheWrite,
		})
	}
	return out
}

// send writes an event.
func (c *connection) send(e *event) error { return c.out.Data(e) }
