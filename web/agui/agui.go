// Package agui serves conversations over the Agent User Interaction protocol (AG-UI 1.0), so that the user interfaces that speak it can
// start a debate, show it as it is held, and answer its questions.
//
//	mux.Handle("/agui", agui.New(handler)) // beside package web
//
// # Threads and runs
//
// A thread is a conversation, with the same id. A run is one connection that follows it. The first run of a thread starts the
// conversation: a preset of the [web.Handler], which is named by the key preset of the run's state (it may be missing if there is one),
// about the last message of the user. The messages before that one, and the context of the input, are documents that everybody reads;
// nobody takes them for instructions. Of a message only the texts are read. A later run of the same thread follows the same conversation;
// it begins with a snapshot of all messages. A message of the user that is new then is said in between, as a note, unless the conversation
// is over. That a client leaves ends nothing.
//
// A run ends:
//   - as a success, when the conversation is completed
//   - as cancelled, when the conversation was canceled
//   - with an error, when the conversation is in the state error
//   - with interrupts, when a person must answer questions, or somebody has paused the conversation. The resume entries of the next run
//     answer those that they name: the payload is a text, or an object with the keys text, option, model and by. The ones that are left
//     are listed again. The payload for a pause is not read. An entry for a question that is no longer open has no effect.
//
// The usage of a run is what the models have used since it began.
//
// # Events
//
// A round is a step, a turn is a message of the assistant with the speaker's name, and a note is one of the user. What else a flow shows
// to everybody, such as a verdict, is a custom event with its kind as the name. The state is what the API reads of the conversation; it is
// sent again when it changes. The protocol can only append to a message: where a model begins its turn again, the text that counts comes
// as a snapshot of all messages. Tools that the models use are tool calls with results; the client has none to answer.
package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/eventstream"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/internal/protocol"
)

// paused is the interrupt of a conversation that is paused.
const paused = "paused"

// New returns a handler that takes RunAgentInput by POST, and answers with a stream of events. The rights, the policy and the quota are
// those of the handler of package web.
func New(h *web.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(h, w, r); err != nil {
			h.Refuse(w, r, err)
		}
	})
}

// serve answers a request with a run. An error means that there is no run.
func serve(h *web.Handler, w http.ResponseWriter, r *http.Request) error {
	if _, err := h.Allow(r, web.Access{Action: web.View}); err != nil {
		return err
	}
	c := &connection{web: h, response: w}
	err := c.read(r)
	if err != nil {
		return err
	}
	var release func()
	if c.request, release, err = h.Hold(r); err != nil { // a conversation that nobody could follow would cost, too
		return err
	}
	defer release()
	if err := c.begin(); err != nil {
		return err
	}
	c.run()
	return nil
}

// connection is a request, and the run that it asks for.
type connection struct {
	web      *web.Handler
	response http.ResponseWriter
	request  *http.Request
	out      *eventstream.Writer
	in       input
	isNew    bool           // the run has started the conversation
	before   []flow.Account // what the models had used when the run began
}

// input is what is read of a RunAgentInput.
type input struct {
	Thread   string          `json:"threadId"`
	Run      string          `json:"runId"`
	Parent   string          `json:"parentRunId"`
	State    json.RawMessage `json:"state"`
	Messages []message       `json:"messages"`
	Context  []remark        `json:"context"`
	Resume   []resume        `json:"resume"`
}

// remark is something that the client wants to be known.
type remark struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// message is a message of the thread.
type message struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"` // a text, or a list of parts

	whole json.RawMessage
}

// UnmarshalJSON reads a message, and keeps all of it.
func (m *message) UnmarshalJSON(data []byte) error {
	type plain message
	m.whole = bytes.Clone(data)
	return json.Unmarshal(data, (*plain)(m))
}

// MarshalJSON writes the message as it was read.
func (m *message) MarshalJSON() ([]byte, error) { return m.whole, nil }

// resume answers an interrupt.
type resume struct {
	Interrupt string          `json:"interruptId"`
	Status    string          `json:"status"`
	Payload   json.RawMessage `json:"payload"`
}

// text returns the texts of a message. Its other parts are left out.
func (m *message) text() (string, error) {
	var whole string
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &whole) == nil {
		return whole, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", protocol.Invalid("agui", "messages", "hold one that is neither a text nor a list of parts")
	}
	var texts []string
	for i := range parts {
		if parts[i].Type == "text" {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// read reads the input.
func (c *connection) read(r *http.Request) error {
	data, err := c.web.Body(c.response, r)
	if err != nil {
		return err
	}
	if json.Unmarshal(data, &c.in) != nil {
		return protocol.Invalid("agui", "", "the body is not the JSON of a RunAgentInput")
	}
	for field, value := range map[string]string{"threadId": c.in.Thread, "runId": c.in.Run} {
		if value == "" {
			return protocol.Invalid("agui", field, "is missing")
		}
	}
	return nil
}

// begin does what the input asks for: it starts the conversation, or answers its questions.
func (c *connection) begin() error {
	said, id := "", ""
	if n := len(c.in.Messages); n > 0 && c.in.Messages[n-1].Role == fromUser {
		var err error
		if said, err = c.in.Messages[n-1].text(); err != nil {
			return err
		}
		id = c.in.Messages[n-1].ID
	}
	stands, err := c.stands()
	switch {
	case errors.Is(err, flow.ErrNotFound):
		c.isNew = true
		return c.start(said)
	case err != nil:
		return err
	}
	c.before = stands.Record.SpentByModel
	if err := c.answer(stands); err != nil {
		return err
	}
	return c.say(id, said)
}

// start starts the conversation.
func (c *connection) start(topic string) error {
	var state struct {
		Preset string `json:"preset"`
	}
	if len(c.in.State) > 0 {
		_ = json.Unmarshal(c.in.State, &state) // it is the client's own, of any form
	}
	if presets := c.web.Presets(); state.Preset == "" && len(presets) == 1 {
		state.Preset = presets[0].Name
	}
	config, err := c.web.About(state.Preset, topic, c.in.Thread, c.documents()...)
	if err != nil {
		return err
	}
	_, err = c.web.Start(c.request, config)
	return err
}

// documents are what the client has said before the topic, and what it wants to be known beside it.
func (c *connection) documents() (out []flow.Document) {
	add := func(name, file, content string) {
		if content != "" {
			out = append(out, flow.Document{Name: name, Files: []flow.File{{Name: file, Type: "text/plain", Data: []byte(content)}}})
		}
	}
	var earlier, beside strings.Builder
	for i := range max(0, len(c.in.Messages)-1) {
		m := &c.in.Messages[i]
		if said, err := m.text(); err == nil && m.Role != "reasoning" && strings.TrimSpace(said) != "" { // an activity is no text
			fmt.Fprintf(&earlier, "%s:\n%s\n\n", strings.TrimSpace(m.Role+" "+m.Name), said)
		}
	}
	for _, one := range c.in.Context {
		if strings.TrimSpace(one.Value) != "" {
			fmt.Fprintf(&beside, "%s:\n%s\n\n", one.Description, one.Value)
		}
	}
	add("Earlier messages", "messages.txt", earlier.String())
	add("Context", "context.txt", beside.String())
	return out
}

// post does an operation of the conversation.
func (c *connection) post(body any, below ...string) error {
	_, err := protocol.Post(c.web, c.request, protocol.Path(c.in.Thread, below...), body)
	return err
}

// answer answers the questions that the input names.
func (c *connection) answer(s *protocol.Conversation) error {
	for i := range c.in.Resume {
		entry := &c.in.Resume[i]
		if entry.Status != "resolved" {
			continue // the question stays open
		}
		var err error
		if entry.Interrupt == paused {
			if slices.Contains(s.Legal, "resume") { // else it goes on already
				err = c.post(struct{}{}, "resume")
			}
		} else {
			err = c.post(reply(s, entry), "questions", entry.Interrupt)
		}
		if err != nil && !isLate(err) {
			return err
		}
	}
	return nil
}

// isLate reports whether the conversation has gone on, so that it takes no more what the client has asked for. The snapshot tells.
func isLate(err error) bool {
	_, answered := errors.AsType[*flow.AnsweredError](err)
	p := web.Explain(err)
	return answered || p.Status == http.StatusNotFound || p.Status == http.StatusConflict && p.Kind == provider.KindState
}

// reply returns the answer in an entry. A plain text is the option, where there are options.
func reply(s *protocol.Conversation, entry *resume) (out protocol.Answer) {
	decides := slices.ContainsFunc(s.Questions, func(q flow.Question) bool { return q.ID == entry.Interrupt && len(q.Options) > 0 })
	switch plain := ""; {
	case json.Unmarshal(entry.Payload, &plain) == nil && decides:
		out.Option = plain
	case plain != "":
		out.Text = plain
	default:
		_ = json.Unmarshal(entry.Payload, &out) // one without these keys is an empty answer, which is refused
	}
	return out
}

// say says what the user has written since the last run.
func (c *connection) say(id, text string) error {
	if text == "" {
		return nil
	}
	t := &talk{given: c.in.Messages}
	if _, err := c.history(t); err != nil {
		return err
	}
	if t.has(id) || t.begun() == len(t.given)-1 { // it was said before, maybe by somebody else
		return nil
	}
	if err := c.post(map[string]string{"id": id, "text": text}, "say"); err != nil && !isLate(err) {
		return err
	}
	return nil
}
