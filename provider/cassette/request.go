package cassette

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// request is the part of a request that is compared, in the form of the file. Two requests with the same
// JSON are equal.
type request struct {
	Model       string    `json:"model"`
	Self        string    `json:"self,omitempty"`
	MaxTokens   int       `json:"maxTokens,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	System      lines     `json:"system,omitempty"`
	Messages    []message `json:"messages,omitempty"`
	Last        message   `json:"last,omitzero"`
	Schema      *schema   `json:"schema,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Texts       []lines   `json:"texts,omitempty"` // of Embed
}

type message struct {
	Speaker    string      `json:"speaker,omitempty"`
	Fence      string      `json:"fence,omitempty"`
	Text       lines       `json:"text,omitempty"`
	ToolCalls  []toolCall  `json:"toolCalls,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
}

// IsZero reports whether there is no message.
func (m message) IsZero() bool {
	return m.Speaker == "" && m.Fence == "" && m.Text == "" && m.ToolCalls == nil && m.ToolResult == nil
}

type toolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments raw    `json:"arguments,omitempty"`
	Opaque    raw    `json:"opaque,omitempty"`
}

type toolResult struct {
	ID    string `json:"id,omitempty"`
	Error bool   `json:"error,omitempty"`
	Text  lines  `json:"text,omitempty"`
}

type schema struct {
	Name string `json:"name,omitempty"`
	JSON raw    `json:"json,omitempty"`
}

type tool struct {
	Name        string `json:"name,omitempty"`
	Description lines  `json:"description,omitempty"`
	Parameters  raw    `json:"parameters,omitempty"`
}

// request converts a request into the form of the file.
func (s *scribe) request(r *provider.Request) *request {
	out := &request{
		Model: s.write(r.Model), System: lines(s.write(r.System)), Self: s.write(r.Self),
		Last: s.message(&r.Last), MaxTokens: r.MaxTokens, Temperature: r.Temperature,
	}
	for i := range r.Messages {
		out.Messages = append(out.Messages, s.message(&r.Messages[i]))
	}
	if r.Schema != nil {
		out.Schema = &schema{Name: s.write(r.Schema.Name), JSON: s.raw(r.Schema.JSON)}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		out.Tools = append(out.Tools, tool{s.write(t.Name), lines(s.write(t.Description)), s.raw(t.Parameters)})
	}
	return out
}

func (s *scribe) message(m *provider.Message) message {
	out := message{
		Speaker: s.write(m.Speaker), Fence: s.write(m.Fence), Text: lines(s.write(m.Text)), ToolCalls: s.toolCalls(m.ToolCalls),
	}
	if r := m.ToolResult; r != nil {
		out.ToolResult = &toolResult{ID: s.write(r.ID), Error: r.Error, Text: lines(s.write(r.Text))}
	}
	return out
}

func (s *scribe) toolCalls(calls []provider.ToolCall) []toolCall {
	var out []toolCall
	for _, c := range calls {
		out = append(out, toolCall{s.write(c.ID), s.write(c.Name), s.raw(c.Arguments), s.raw(c.Opaque)})
	}
	return out
}

func (s *scribe) raw(data json.RawMessage) raw { return raw(s.write(string(data))) }

// fencesOf returns the distinct fence words of a request, in the order in which they appear: those of its
// messages, and those that a line "<<<end WORD>>>" of the system prompt names. The first speaker reads no
// messages, so its fence word appears only there. Such a word must be a number of at least ten digits, as
// the engine draws it. Words beyond maxFences are left unchanged; a debate has one.
func fencesOf(r *provider.Request) []string {
	var words []string
	add := func(word string) {
		if word != "" && len(words) < maxFences && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for i := range r.Messages {
		add(r.Messages[i].Fence)
	}
	add(r.Last.Fence)
	for line := range strings.Lines(r.System) {
		word, opened := strings.CutPrefix(strings.TrimSpace(line), "<<<end ")
		word, closed := strings.CutSuffix(word, ">>>")
		if opened && closed && len(word) >= 10 && strings.Trim(word, "0123456789") == "" {
			add(word)
		}
	}
	return words
}

// canonical returns a request as one line of JSON. It fails if the temperature is not a number.
func (r *request) canonical() (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(r)
	return b.String(), err
}
