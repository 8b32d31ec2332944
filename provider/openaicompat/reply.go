package openaicompat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// chunk is one event of a stream, or a whole answer that was not streamed. What is not named here
// (reasoning, reasoning_content and whatever comes next) is not part of the text.
type chunk struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        message         `json:"delta"`
	Message      message         `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter
}

type message struct {
	Content   content    `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []toolCall `json:"tool_calls"`
}

// content is a string, or a list of parts of which only those of type text are text (Mistral's
// reasoning models).
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(plain(p.Text))
		}
	}
	*c = content(b.String())
	return nil
}

// reply gathers an answer.
type reply struct {
	*exchange
	emit func(provider.Chunk)

	text    strings.Builder
	think   thinking
	calls   toolCalls
	finish  string
	refused bool
	chose   bool // there was a choice
	usage   provider.Usage
	model   string
}

// read takes in the answer up to its end. It fails if the reply is not whole.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := firstByte(body)
	if err != nil {
		return r.cut(err)
	}
	if first == '{' || first == '[' {
		return r.readWhole(body)
	}
	if kind, _, _ := mime.ParseMediaType(r.exchange.response.Header.Get("Content-Type")); kind == "text/html" {
		return r.invalid("not_a_reply", "the server answered with a page; is BaseURL the API's?")
	}
	return r.readStream(&stream{r: body, max: r.maxLine})
}

func (r *reply) readStream(events *stream) error {
	for {
		e, err := events.next()
		if err != nil {
			if r.finish != "" && !errors.Is(err, errBody) && !errors.Is(err, errLine) {
				return nil // the reply is whole; only its usage may be missing
			}
			return r.cut(err)
		}
		data := bytes.TrimSpace(e.data)
		switch {
		case len(data) == 0:
		case string(data) == "[DONE]":
			if r.finish == "" && (r.chose || r.text.Len() > 0) {
				return r.cut(io.ErrUnexpectedEOF)
			}
			return nil
		default:
			if err := r.take(e.kind, data); err != nil {
				return err
			}
		}
	}
}

// readWhole takes an answer in one JSON document: some servers do not stream when they are asked to,
// and failures come so, under a status of 200.
func (r *reply) readWhole(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return r.cut(err)
	}
	if !json.Valid(data) {
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(new(json.RawMessage)); errors.Is(err, io.ErrUnexpectedEOF) {
			return r.cut(err)
		}
		return r.invalid("malformed", "the answer is not JSON")
	}
	if err := r.take("", data); err != nil {
		return err
	}
	if r.finish == "" && r.chose {
		return r.cut(io.ErrUnexpectedEOF)
	}
	return nil
}

// take adds one chunk.
func (r *reply) take(kind string, data []byte) error {
	switch kind {
	case "error":
		f, _ := parseFault(data)
		return r.exchange.fault(f, 0)
	case "", "message":
	default:
		if data[0] != '{' {
			return nil // an event of a kind that nobody knows yet
		}
	}
	if data[0] == '[' { // Google's way to fail
		if f, ok := parseFault(data); ok {
			return r.exchange.fault(f, 0)
		}
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.invalid("malformed", "a part of the answer is not what the protocol says")
	}
	if u := parseUsage(c.Usage); !u.IsZero() {
		r.usage = u
	}
	if c.Model != "" {
		r.model = c.Model
	}
	if present(c.Error) || strings.EqualFold(c.Object, "error") {
		f, _ := parseFault(data)
		return r.exchange.fault(f, 0)
	}
	for i := range c.Choices {
		if err := r.choose(&c.Choices[i]); err != nil {
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
	if present(c.Error) {
		f, _ := parseFault(c.Error)
		return r.exchange.fault(f, 0)
	}
	for _, m := range []*message{&c.Delta, &c.Message} {
		r.show(r.think.next(string(m.Content)))
		if m.Refusal != "" {
			r.refused = true
			r.show(r.think.end() + m.Refusal)
		}
		if !r.calls.add(m.ToolCalls) {
			return r.invalid("malformed", "a tool call without a place")
		}
	}
	if c.FinishReason != "" {
		r.finish = c.FinishReason
		r.exchange.ended()
		r.show(r.think.end())
	}
	return nil
}

func (r *reply) show(text string) {
	if text == "" {
		return
	}
	r.text.WriteString(text)
	r.emit(provider.Chunk{Text: text})
}

// response judges the whole reply.
func (r *reply) response() (*provider.Response, error) {
	stop, failed := r.stop()
	if failed != nil {
		return r.known(), failed
	}
	calls, ok := r.calls.done()
	if !ok && stop != provider.StopLength { // a call that was cut at the limit is no call
		return r.known(), r.invalid("malformed", "the arguments of a tool call are not JSON")
	}
	if len(calls) > 0 && stop == provider.StopEnd {
		stop = provider.StopTool // some servers say stop
	}
	text := r.text.String()
	if strings.TrimSpace(text) == "" && len(calls) == 0 {
		switch stop {
		case provider.StopRefusal, provider.StopFilter: // the reason says enough
		case provider.StopLength:
			return r.known(), r.invalid("blank", "thinking used up all output tokens; allow more")
		default:
			return r.known(), r.invalid("blank", "the reply has no text")
		}
	}
	return &provider.Response{Text: text, Calls: calls, Stop: stop, Usage: r.usage, Model: r.model}, nil
}

// known is what there is to return beside an error.
func (r *reply) known() *provider.Response {
	if r.usage.IsZero() {
		return nil
	}
	return &provider.Response{Usage: r.usage, Model: r.model}
}

// stop translates the reason for the end. An unknown one is a failure: it could stand for a reply
// that was broken off.
func (r *reply) stop() (provider.StopReason, *provider.Error) {
	reason := strings.ToLower(r.finish)
	is := func(names ...string) bool { return slices.Contains(names, reason) }
	switch {
	case r.refused || is("refusal"):
		return provider.StopRefusal, nil
	case reason == "":
		return "", r.invalid("no_choices", "the answer has no reply in it")
	case is("stop", "eos", "eos_token", "stop_sequence", "end_turn", "end", "complete", "completed"):
		return provider.StopEnd, nil
	case is("length", "max_tokens", "model_length", "incomplete"):
		return provider.StopLength, nil
	case is("tool_calls", "function_call", "tool_use"):
		return provider.StopTool, nil
	case is("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "moderation"):
		return provider.StopFilter, nil
	case is("model_context_window_exceeded"):
		return "", r.exchange.fault(fault{code: reason, message: "the reply filled the model's window"}, 0)
	case is("error", "abort", "aborted", "cancelled", "insufficient_system_resource"):
		return "", r.exchange.fault(fault{code: reason, message: "the server broke the reply off"}, 0)
	default:
		return "", r.invalid("finish_reason", "unknown finish_reason "+reason)
	}
}

func (r *reply) invalid(code, message string) *provider.Error {
	return &provider.Error{
		Kind: provider.KindInvalidResponse, Status: r.exchange.response.StatusCode, Code: code,
		Message: r.secrets.clean(message), RequestID: r.requestID(),
	}
}

// firstByte looks at the first byte that is neither white space nor a byte-order mark.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		default:
			return c, r.UnreadByte()
		}
	}
}
