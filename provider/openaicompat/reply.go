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
	"github.com/agonist-dev/debate/provider/wire"
)

const maxParts = 1 << 12 // of a message's content

// chunk is one event of a stream, or a whole answer that was not streamed. Fields that are not listed
// here are not part of the reply.
type chunk struct {
	ID      wire.Name         `json:"id"`
	Object  wire.Name         `json:"object"`
	Model   wire.Name         `json:"model"`
	Choices wire.List[choice] `json:"choices"`
	Usage   json.RawMessage   `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	sources
}

type choice struct {
	Index        wire.Index      `json:"index"`
	Delta        message         `json:"delta"`
	Message      message         `json:"message"`
	FinishReason wire.Name       `json:"finish_reason"`
	Native       wire.Name       `json:"native_finish_reason"` // OpenRouter
	Error        json.RawMessage `json:"error"`                // OpenRouter
	Usage        json.RawMessage `json:"usage"`                // Moonshot
}

type message struct {
	Content   content             `json:"content"`
	Refusal   wire.Text           `json:"refusal"`
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
		var text wire.Text
		err := json.Unmarshal(data, &text)
		c.text = string(text)
		return err
	}
	if wire.Longer(data, maxParts) {
		return wire.ErrLong
	}
	var parts []struct {
		Type     wire.Name       `json:"type"`
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
	text     soFar // as it came
	mused    soFar // thoughts
	declined soFar // words with which the model declines
	slots    []slot
	thoughts kept // what goes back with tool calls
	detailed bool // pieces of them came

	finish  string
	decided bool // it says more than that the model finished
	whole   bool // the server has ended the reply
	closing bool // it has, if nothing but the end of the answer follows
	early   bool // it went on after what seemed to be its end
	begun   bool // a piece of the reply came
	divided bool // one came without a finish
	chose   bool // the answer had a choice
	silent  bool // the server gives no finish_reason
	limit   int  // of output tokens; 0: none
	tools   []provider.Tool
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
	if kind, _, _ := mime.ParseMediaType(r.exchange.Header("Content-Type")); kind == "text/html" || first == '<' {
		return r.exchange.Unexpected([]byte{first}, "not_a_reply", "the server answered with something other than a reply")
	}
	return r.readStream(r.exchange.EventsIn(body))
}

func (r *reply) readStream(events *wire.Events) error {
	for {
		e, err := events.Next()
		if err != nil {
			if r.whole || r.closing && errors.Is(err, io.EOF) {
				return nil // the reply is complete, whatever follows; only its usage may be missing
			}
			return r.exchange.Cut(err)
		}
		switch {
		case len(e.Data) == 0:
		case string(e.Data) == "[DONE]":
			if r.unfinished() {
				return r.unended()
			}
			return nil
		default:
			ended := r.whole
			if err := r.take(e.Kind, e.Data); err != nil {
				if ended {
					return nil // what follows a complete reply does not undo it
				}
				return err
			}
		}
	}
}

// unended returns the failure of an answer that has ended without a finish reason.
func (r *reply) unended() error {
	err := r.exchange.Cut(io.ErrUnexpectedEOF)
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.KindNetwork {
		e.Message += ": no finish_reason came (if this server never gives one, set NoFinishReason)"
	}
	return err
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
		return r.unended()
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
	return false
}

// take adds one chunk.
func (r *reply) take(kind string, data []byte) error {
	ours := kind == "" || kind == "message"
	switch {
	case kind == "error", ours && data[0] == '[' && r.exchange.IsFault(data): // a list is Google's form of an error
		return r.exchange.Fault(data)
	case data[0] != '{' && (!ours || json.Valid(data)):
		return nil // an event of an unknown kind
	}
	var c chunk
	if err := r.exchange.Decode(data, &c); err != nil {
		return err
	}
	u := r.charge(&c)
	if c.Model != "" {
		r.Model = string(c.Model)
	}
	if r.ID == "" {
		r.ID = string(c.ID)
	}
	r.cite(&c.sources)
	if wire.Present(c.Error) || strings.EqualFold(string(c.Object), "error") {
		r.Settled = !u.IsZero() // the failure reports its own cost
		return r.exchange.Fault(data)
	}
	if len(c.Choices) == 0 && ours && u.IsZero() && r.exchange.IsFault(data) {
		return r.exchange.Fault(data)
	}
	counted := wire.Present(c.Usage)
	if len(c.Choices) == 0 {
		r.ends(false, counted, "")
	}
	first := slices.ContainsFunc(c.Choices, func(c choice) bool { return c.Index.At() <= 0 })
	for i := range c.Choices {
		if first && c.Choices[i].Index.At() > 0 {
			continue // one is asked for; some servers count chunks by its index (microsoft/foundry-local#144)
		}
		if err := r.choose(&c.Choices[i], counted); err != nil {
			r.Settled = !u.IsZero()
			return err
		}
	}
	return nil
}

// charge takes the price that a chunk has, and returns its usage.
func (r *reply) charge(c *chunk) provider.Usage {
	thinks := r.thoughts.form == ThoughtsSignature
	u, ok := parseUsage(c.Usage, thinks)
	for i := 0; i < len(c.Choices) && !ok; i++ {
		u, ok = parseUsage(c.Choices[i].Usage, thinks)
	}
	if ok {
		r.Usage = u
	}
	if usd, ok := parseCost(c.Usage); ok {
		r.Charge(usd)
	}
	return u
}

// choose adds what a chunk has of the reply: a piece of it, the whole message so far, or both. counted says that the chunk
// has its price.
func (r *reply) choose(c *choice, counted bool) error {
	r.chose = true
	if wire.Present(c.Error) {
		return r.exchange.Fault(c.Error)
	}
	piece, ok := r.add(&c.Delta, (*soFar).piece, r.pieces)
	if !ok {
		return r.exchange.Invalid("malformed", "there are too many tool calls")
	}
	r.detailed = r.detailed || wire.Present(c.Delta.thoughts.Details)
	if r.detailed {
		c.Message.thoughts.Details = nil // it repeats them
	}
	message, ok := r.add(&c.Message, (*soFar).message, r.wholes)
	if !ok {
		return r.exchange.Invalid("malformed", "there are too many tool calls")
	}
	r.ends(piece || message, counted || wire.Present(c.Usage), r.told(c))
	return nil
}

// add adds what a message has, as far as it is new by take and calls. added reports whether something is.
func (r *reply) add(m *message, take func(t *soFar, text string) string, calls func([]toolCall) (added, ok bool)) (added, ok bool) {
	thought, text, declined := take(&r.mused, m.thought()), take(&r.text, m.Content.text), take(&r.declined, string(m.Refusal))
	r.thoughts.think(r.ThinkTagged(thought), m.thoughts.Details)
	r.Say(text)
	r.cite(&m.sources)
	for _, source := range m.Content.sources {
		r.Cite(source)
	}
	if declined != "" {
		r.Refused = true
		r.Show(declined)
	}
	added, ok = calls(m.ToolCalls)
	return added || thought+text+declined != "", ok
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
