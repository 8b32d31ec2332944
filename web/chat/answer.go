package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/eventstream"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web/internal/protocol"
)

// answer is the answer to a request whose conversation has begun.
type answer struct {
	*endpoint

	response http.ResponseWriter
	request  *http.Request
	in       *request
	id       string // of the conversation
	created  int64  // in seconds since 1970
	out      *eventstream.Writer
}

// usage is what a conversation has used, in tokens.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// usageOf returns what the conversation has used; nil: the client may not see it.
func usageOf(s *protocol.Conversation) *usage {
	if s.Record.Spent == nil {
		return nil
	}
	u := s.Record.Spent.Usage
	return &usage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
}

// stands reads how the conversation stands.
func (a *answer) stands() (*protocol.Conversation, error) {
	return protocol.Read(a.web, a.request, a.id, "state,failure,spent")
}

// follow gives each text to say, and an empty one where nothing has been said for a while. It returns how the conversation stands when it
// is over, or when nothing is said any more until a person does something.
func (a *answer) follow(say func(text string) error) (*protocol.Conversation, error) {
	said := time.Now()
	for e, err := range a.web.Events(a.request, a.id, 0, eventstream.Silence) {
		if err != nil {
			return nil, err
		}
		t, ok := e.Body.(*flow.Transition)
		if ok && (t.To == flow.StatePaused || t.To == flow.StateAwaitingInput || t.To == flow.StateError) {
			if s, err := a.stands(); err != nil || s.Record.State == t.To { // what has been answered since is history
				return s, err
			}
			continue
		}
		text := words(e)
		silent := e.Kind() == flow.EventHeartbeat || text == "" && time.Since(said) >= eventstream.Silence
		switch {
		case silent: // those who only view learn of a question beside hidden turns in no other way
			s, err := a.stands()
			if err != nil || s.Record.State == flow.StateAwaitingInput || s.Record.State == flow.StateError {
				return s, err
			}
		case text == "":
			continue
		}
		if err := say(text); err != nil {
			return nil, err
		}
		said = time.Now()
	}
	return a.stands()
}

// end returns the last words of the answer, or why there are none.
func (a *answer) end(s *protocol.Conversation) (string, error) {
	switch s.Record.State {
	case flow.StateError, flow.StateCanceled:
		err := fmt.Errorf("the conversation %s has no conclusion: its state is %s", a.id, s.Record.State)
		if s.Record.Failure != nil {
			err = fmt.Errorf("%w: %s", err, s.Record.Failure.Error())
		}
		return "", &refusal{status: http.StatusBadGateway, err: &flow.Error{Kind: provider.KindState, Op: op, Err: err}}
	case flow.StatePaused:
		return fmt.Sprintf("### Paused\n\nThe conversation %s goes on when somebody resumes it there.\n", a.id), nil
	case flow.StateAwaitingInput:
	default:
		return "", nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "### A person is asked\n\nThe conversation %s goes on when this is answered there.\n\n", a.id)
	for i := range s.Questions {
		q := &s.Questions[i]
		fmt.Fprintf(&out, "- `%s`", q.ID)
		if q.To != "" {
			fmt.Fprintf(&out, " to %s", q.To)
		}
		fmt.Fprintf(&out, ": %s\n", within(q.Question, "  "))
		for _, option := range q.Options {
			fmt.Fprintf(&out, "  - `%s`: %s\n", option, option.Meaning())
		}
	}
	return out.String(), nil
}

// choice is the only one of an answer. A piece has a delta, and the whole answer a message.
type choice struct {
	Index    int       `json:"index"`
	Message  *speech   `json:"message,omitempty"`
	Delta    *delta    `json:"delta,omitempty"`
	Logprobs *struct{} `json:"logprobs"` // the API wants it to be null
	Reason   *string   `json:"finish_reason"`
}

// speech is what is said.
type speech struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"` // the API wants it to be null
}

// delta is what a piece adds to what is said.
type delta struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

// completion is an answer, or a piece of it.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   any      `json:"usage,omitempty"` // a *usage, which is null in pieces without one; nil: it is not there
}

func (a *answer) completion(object string, choices ...choice) completion {
	c := completion{ID: a.id, Object: object, Created: a.created, Model: a.in.Model, Choices: append([]choice{}, choices...)}
	if a.in.Stream && a.in.StreamOptions.IncludeUsage {
		c.Usage = (*usage)(nil)
	}
	return c
}

// whole answers when the conversation is over.
func (a *answer) whole() {
	var out strings.Builder
	s, err := a.follow(func(text string) error {
		out.WriteString(text)
		return nil
	})
	last := ""
	if err == nil {
		last, err = a.end(s)
	}
	if err != nil {
		a.refuse(a.response, err)
		return
	}
	out.WriteString(last)
	reason := "stop"
	c := a.completion("chat.completion", choice{Message: &speech{Role: "assistant", Content: out.String()}, Reason: &reason})
	if u := usageOf(s); u != nil {
		c.Usage = u
	}
	reply(a.response, http.StatusOK, c)
}

// stream answers while the conversation runs.
func (a *answer) stream() {
	a.response.Header().Set("X-Content-Type-Options", "nosniff")
	a.out = eventstream.New(a.response, 0)
	defer a.out.Close()
	err := a.piece(&delta{Role: "assistant"}, "")
	if err != nil {
		return
	}
	s, err := a.follow(func(text string) error {
		if text == "" {
			return a.out.Beat()
		}
		return a.piece(&delta{Content: text}, "")
	})
	last := ""
	if err == nil {
		last, err = a.end(s)
	}
	if err == nil && last != "" {
		err = a.piece(&delta{Content: last}, "")
	}
	if err != nil {
		out, _ := failureOf(err)
		_ = a.out.Data(map[string]failure{"error": out}) // the client may be gone
		return
	}
	if a.piece(&delta{}, "stop") != nil {
		return
	}
	if u := usageOf(s); u != nil && a.in.StreamOptions.IncludeUsage {
		c := a.completion("chat.completion.chunk")
		c.Usage = u
		_ = a.out.Data(c)
	}
	_ = a.out.Send("data: [DONE]\n\n")
}

// piece sends a piece of the answer. reason is why it is the last one; "": it is not.
func (a *answer) piece(d *delta, reason string) error {
	c := choice{Delta: d}
	if reason != "" {
		c.Reason = &reason
	}
	return a.out.Data(a.completion("chat.completion.chunk", c))
}

// words returns what an event adds to the answer, in Markdown: a turn, or what else the flow shows to everybody.
func words(e flow.Event) string {
	switch body := e.Body.(type) {
	case *flow.Turn:
		heading := fmt.Sprintf("### %s\n\n", strings.Join(strings.Fields(body.Speaker), " "))
		if body.Round > 0 {
			heading += fmt.Sprintf("*Round %d, %s*\n\n", body.Round, body.Kind)
		}
		if len(body.Data) == 0 {
			return heading + body.Text + "\n\n"
		}
		return heading + bullets(body.Data, "") + "\n"
	case flow.Spectated:
		data, err := json.Marshal(body.Spectator())
		if err != nil {
			return ""
		}
		return fmt.Sprintf("### %s\n\n%s\n", body.EventKind(), bullets(data, ""))
	default:
		return ""
	}
}

// bullets writes a JSON object or list as a list in Markdown, in its order. Empty values, and the numbers of calls, are left out.
func bullets(data json.RawMessage, indent string) string {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	opening, err := decoder.Token()
	if err != nil {
		return ""
	}
	var out strings.Builder
	for decoder.More() {
		label := ""
		if opening == json.Delim('{') {
			key, err := decoder.Token()
			if err != nil {
				break
			}
			label = fmt.Sprint(key)
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		if label != "call" && label != "attempt" {
			out.WriteString(bullet(label, value, indent))
		}
	}
	return out.String()
}

// bullet writes one entry of a list.
func bullet(label string, value json.RawMessage, indent string) string {
	if label != "" {
		label = "**" + label + ":** "
	}
	switch text := ""; {
	case value[0] == '{' || value[0] == '[':
		inner := bullets(value, indent+"  ")
		if inner == "" {
			return ""
		}
		return indent + "- " + label + "\n" + inner
	case json.Unmarshal(value, &text) == nil: // null, too
		if text == "" {
			return ""
		}
		return indent + "- " + label + within(text, indent+"  ") + "\n"
	default:
		return indent + "- " + label + string(value) + "\n"
	}
}

// within indents the lines of a text after the first.
func within(text, indent string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent)
}
