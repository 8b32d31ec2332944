package openaicompat

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxParts = 1 << 12 // of a message's content

// chunk is one event of a stream, or a whole answer that was not streamed. Fields that are not listed
// here are not part of the reply.
type chunk struct {
	ID      json.RawMessage   `json:"id"`
	Object  string            `json:"object"`
	Model   string            `json:"model"`
	Choices wire.List[choice] `json:"choices"`
	Usage   json.RawMessage   `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	sources
}

type choice struct {
	Index        int             `json:"index"`
	Delta        message         `json:"delta"`
	Message      message         `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter
	Usage        json.RawMessage `json:"usage"` // Moonshot
}

type message struct {
	Content   content             `json:"content"`
	Refusal   string              `json:"refusal"`
	ToolCalls wire.List[toolCall] `json:"tool_calls"`
	thoughts
	sources
}

// content is a string, or a list of parts. Parts of type text are text, those of type thinking are thoughts (Mistral's
// reasoning models), and tool_reference names a source.
type content struct {
	text, thought string
	sources       []provider.Citation
}

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.text)
	}
	if wire.Longer(data, maxParts) {
		return wire.ErrLong
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		URL      json.RawMessage `json:"url"`
		Title    json.RawMessage `json:"title"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text, thought strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text":
			text.WriteString(wire.Plain(p.Text))
		case "thinking":
			thought.WriteString(thinking(p.Thinking))
		case "tool_reference":
			if len(c.sources) < maxSources {
				c.sources = append(c.sources, provider.Citation{URL: said(p.URL), Title: said(p.Title)})
			}
		}
	}
	c.text, c.thought = text.String(), thought.String()
	return nil
}

// thinking reads thoughts: a string, or a list of parts with text.
func thinking(data json.RawMessage) string {
	var parts []struct {
		Text json.RawMessage `json:"text"`
	}
	if len(data) == 0 || data[0] != '[' {
		return said(data)
	}
	if wire.Longer(data, maxParts) || json.Unmarshal(data, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(said(p.Text))
	}
	return b.String()
}

// reply reads an answer.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	think    wire.Thoughts // in the text
	tags     wire.Thoughts // in the thoughts
	thoughts kept          // what goes back with tool calls
	finish   string
	chose    bool // the answer had a choice
	named    bool // the latest tool call has a name
	silent   bool // the server gives no finish_reason
	limit    int  // of output tokens; 0: none
}

// read reads the answer to its end. It fails if the reply is not complete.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := wire.FirstByte(body)
	if err != nil {
		return r.exchange.Cut(err)
	}
	if first == '{' || first == '[' {
		return r.readWhole(body)
	}
	if kind, _, _ := mime.ParseMediaType(r.exchange.Header("Content-Type")); kind == "text/html" {
		return r.exchange.Invalid("not_a_reply", "the server answered with a web page; is BaseURL the URL of the API?")
	}
	return r.readStream(r.exchange.EventsIn(body))
}

func (r *reply) readStream(events *wire.Events) error {
	for {
		e, err := events.Next()
		if err != nil {
			if r.finish != "" {
				return nil // the reply is complete, whatever follows; only its usage may be missing
			}
			return r.exchange.Cut(err)
		}
		switch {
		case len(e.Data) == 0:
		case string(e.Data) == "[DONE]":
			if r.unfinished() {
				return r.exchange.Cut(io.ErrUnexpectedEOF)
			}
			return nil
		default:
			ended := r.finish != ""
			if err := r.take(e.Kind, e.Data); err != nil {
				if ended {
					return nil // what follows a complete reply does not undo it
				}
				return err
			}
		}
	}
}

// readWhole reads an answer that is one JSON document. Some servers do not stream when they are asked to,
// and failures under a status of 200 have this form.
func (r *reply) readWhole(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return r.exchange.Cut(err)
	}
	if !json.Valid(data) {
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(new(json.RawMessage)); errors.Is(err, io.ErrUnexpectedEOF) {
			return r.exchange.Cut(err)
		}
		return r.exchange.Invalid("malformed", "the answer is not JSON")
	}
	if err := r.take("", data); err != nil {
		return err
	}
	if r.unfinished() {
		return r.exchange.Cut(io.ErrUnexpectedEOF)
	}
	return nil
}

// unfinished reports whether an answer that has ended has a reply without an end.
func (r *reply) unfinished() bool {
	if r.finish != "" || !r.chose {
		return false
	}
	if !r.silent {
		return true
	}
	if r.finish = "stop"; r.limit > 0 && r.Usage.Output >= r.limit {
		r.finish = "length"
	}
	r.endThoughts()
	r.Add(r.think.End())
	return false
}

// take adds one chunk.
func (r *reply) take(kind string, data []byte) error {
	ours := kind == "" || kind == "message"
	switch {
	case kind == "error", ours && data[0] == '[' && wire.IsFault(data): // a list is Google's form of an error
		return r.exchange.Fault(data)
	case data[0] != '{' && (!ours || json.Valid(data)):
		return nil // an event of an unknown kind
	}
	var c chunk
	if err := r.exchange.Decode(data, &c); err != nil {
		return err
	}
	u := parseUsage(c.Usage)
	for i := 0; i < len(c.Choices) && u.IsZero(); i++ {
		u = parseUsage(c.Choices[i].Usage)
	}
	if !u.IsZero() {
		r.Usage = u
	}
	if usd, ok := parseCost(c.Usage); ok {
		r.Charge(usd)
	}
	if c.Model != "" {
		r.Model = c.Model
	}
	if r.ID == "" {
		r.ID = said(c.ID)
	}
	r.cite(&c.sources)
	if wire.Present(c.Error) || strings.EqualFold(c.Object, "error") {
		r.Settled = !u.IsZero() // the failure reports its own cost
		return r.exchange.Fault(data)
	}
	for i := range c.Choices {
		if err := r.choose(&c.Choices[i]); err != nil {
			r.Settled = !u.IsZero()
			return err
		}
	}
	return nil
}

func (r *reply) choose(c *choice) error {
	if c.Index != 0 {
		return nil
	}
	r.chose = true
	if wire.Present(c.Error) {
		return r.exchange.Fault(c.Error)
	}
	for _, m := range []*message{&c.Delta, &c.Message} {
		r.thoughts.think(m)
		r.reflect(&m.thoughts, m.Content.thought)
		r.Add(r.think.Next(m.Content.text))
		r.cite(&m.sources)
		for _, source := range m.Content.sources {
			r.Cite(source)
		}
		if m.Refusal != "" {
			r.Refused = true
			r.Add(r.think.End())
			r.Show(m.Refusal)
		}
		if !r.add(m.ToolCalls) {
			return r.exchange.Invalid("malformed", "a tool call has no index")
		}
	}
	if c.FinishReason != "" {
		if r.finish == "" || plain(r.finish) { // a plain reason does not replace an earlier, specific one
			r.finish = c.FinishReason
		}
		r.exchange.Ended()
		r.endThoughts()
		r.Add(r.think.End())
	}
	return nil
}

// response checks the whole reply and returns it.
func (r *reply) response() (*provider.Response, error) {
	var err error
	r.Settled = r.finish != "" // whatever the reason is
	if r.Stop, err = r.stop(); err != nil {
		return r.Failed(err)
	}
	r.thoughts.seal(r.Reply)
	return r.Done()
}

// plain reports whether a finish reason says only that the model finished.
func plain(reason string) bool {
	switch strings.ToLower(reason) {
	case "stop", "eos", "eos_token", "stop_sequence", "end_turn", "end", "complete", "completed":
		return true
	default:
		return false
	}
}

// stop translates the finish reason. An unknown one is a failure, because it could mean that the reply
// was broken off. Gemini's endpoint adds its own reason behind a colon: "content_filter: RECITATION".
func (r *reply) stop() (provider.StopReason, error) {
	reason, detail, _ := strings.Cut(strings.ToLower(r.finish), ": ")
	is := func(names ...string) bool { return slices.Contains(names, reason) }
	switch {
	case r.Refused || is("refusal"):
		return provider.StopRefusal, nil
	case reason == "":
		return "", r.exchange.Invalid("no_choices", "the answer has no reply in it")
	case plain(reason):
		return provider.StopEnd, nil
	case is("length", "max_tokens", "model_length", "incomplete"):
		return provider.StopLength, nil
	case is("tool_calls", "function_call", "tool_use"):
		return provider.StopTool, nil
	case is("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "moderation"):
		return provider.StopFilter, nil
	case is("function_call_filter"):
		return "", r.exchange.Invalid(wire.Clip(cmp.Or(detail, reason)), "the vendor could not use what the model wrote")
	case is("model_context_window_exceeded"):
		return "", r.exchange.Broken(reason, "the reply filled the model's window")
	case is("error", "abort", "aborted", "cancelled", "insufficient_system_resource"):
		return "", r.exchange.Broken(reason, "the server broke the reply off")
	default:
		return "", r.exchange.Invalid("finish_reason", "unknown finish_reason "+reason)
	}
}
