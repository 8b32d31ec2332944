package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
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
	Options     *options  `json:"options,omitempty"`
}

type message struct {
	Speaker    string      `json:"speaker,omitempty"`
	Label      string      `json:"label,omitempty"`
	Fence      string      `json:"fence,omitempty"`
	Text       lines       `json:"text,omitempty"`
	ToolCalls  []toolCall  `json:"toolCalls,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
	Parts      []file      `json:"parts,omitempty"`
}

// file is a [provider.Part] by its hash.
type file struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	Hash string `json:"hash"` // the SHA-256 of its data, in hexadecimal
}

// options are [provider.Options].
type options struct {
	Effort      string            `json:"effort,omitempty"`
	TopP        *float64          `json:"topP,omitempty"`
	Stop        []lines           `json:"stop,omitempty"`
	Seed        *int64            `json:"seed,omitempty"`
	ServiceTier string            `json:"serviceTier,omitempty"`
	Verbosity   string            `json:"verbosity,omitempty"`
	Search      bool              `json:"search,omitempty"`
	Reasoning   string            `json:"reasoning,omitempty"`
	Extra       map[string]raw    `json:"extra,omitempty"`
	Header      map[string]string `json:"header,omitempty"`
}

// IsZero reports whether there is no message.
func (m message) IsZero() bool {
	return m.Speaker == "" && m.Label == "" && m.Fence == "" && m.Text == "" && m.ToolCalls == nil && m.ToolResult == nil && m.Parts == nil
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
	out.Options = s.options(r.Options)
	return out
}

// options returns nil if the request asks for nothing.
func (s *scribe) options(o *provider.Options) *options {
	if o == nil {
		return nil
	}
	out := &options{
		Effort: s.write(string(o.Effort)), TopP: o.TopP, Seed: o.Seed, ServiceTier: s.write(o.ServiceTier),
		Verbosity: s.write(string(o.Verbosity)), Search: o.Search, Reasoning: s.write(string(o.Reasoning)),
	}
	for _, text := range o.Stop {
		out.Stop = append(out.Stop, lines(s.write(text)))
	}
	for name, value := range o.Extra {
		if out.Extra == nil {
			out.Extra = make(map[string]raw, len(o.Extra))
		}
		out.Extra[s.write(name)] = s.raw(value)
	}
	for name, value := range o.Header {
		if out.Header == nil {
			out.Header = make(map[string]string, len(o.Header))
		}
		out.Header[s.write(name)] = s.write(value)
	}
	if reflect.ValueOf(*out).IsZero() {
		return nil
	}
	return out
}

func (s *scribe) message(m *provider.Message) message {
	out := message{
		Speaker: s.write(m.Speaker), Label: s.write(m.Label), Fence: s.write(m.Fence), Text: lines(s.write(m.Text)),
		ToolCalls: s.toolCalls(m.ToolCalls),
	}
	if r := m.ToolResult; r != nil {
		out.ToolResult = &toolResult{ID: s.write(r.ID), Error: r.Error, Text: lines(s.write(r.Text))}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		sum := sha256.Sum256(p.Data) // the hash that the part names is a claim
		out.Parts = append(out.Parts, file{Type: s.write(p.Type), Name: s.write(p.Name), Hash: hex.EncodeToString(sum[:])})
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
