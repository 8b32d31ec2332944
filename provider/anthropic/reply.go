package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Reasons for the end of a reply that this package sets or asks for.
const (
	stopLimit = "max_tokens"
	stopPause = "pause_turn"
)

// message is one event of a reply. In the union type of the vendor's SDK, each byte of a hostile event takes three hundred bytes of
// memory.
type message struct {
	Type    wire.Name  `json:"type"`
	Index   wire.Index `json:"index"`
	Message struct {
		ID    wire.Name `json:"id"`
		Model wire.Name `json:"model"`
		Usage figures   `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        figures         `json:"usage"`
}

// contentBlock is the beginning of a block.
type contentBlock struct {
	Type      wire.Name       `json:"type"`
	ID        wire.Name       `json:"id"`
	Name      wire.Name       `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      wire.Text       `json:"text"`
	Thinking  wire.Text       `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

// delta is a piece of a block, or what is reported about the reply at its end.
type delta struct {
	Type        wire.Name `json:"type"`
	Text        wire.Text `json:"text"`
	Thinking    wire.Text `json:"thinking"`
	Signature   string    `json:"signature"`
	PartialJSON wire.Text `json:"partial_json"`
	StopReason  wire.Name `json:"stop_reason"`

	Citation json.RawMessage `json:"citation"`
}

// reply reads an answer, or several that are pieces of one reply.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	owner    wire.Owner // of the thoughts
	usage    usage
	blocks   map[int]*block // by the vendor's index

	unfinished map[int]bool // blocks that have begun: whether they have not ended

	thoughts []thought // since the last tool call
	reason   string
	ended    bool // message_stop has come
	whole    bool // the reason has come, and no block is open

	pausable  bool
	pauses    int
	turn      []*piece       // all blocks, if the reply may be paused
	open      map[int]*piece // by the vendor's index
	before    provider.Usage // of the pieces before
	uncounted bool           // one of them was not counted
}

// begins makes r read the answer of an exchange: the first one, or the next piece of a reply.
func (r *reply) begins(x *wire.Exchange, emit func(provider.Chunk), req *provider.Request) {
	if r.Reply == nil {
		r.Reply = x.NewReply(emit)
		r.Heed(req.Options)
	}
	r.Resume(x)
	r.exchange, r.usage, r.reason, r.ended, r.whole = x, usage{}, "", false, false
	r.blocks, r.open, r.unfinished = map[int]*block{}, map[int]*piece{}, map[int]bool{}
}

// block is a part of the reply.
type block struct {
	passage *passage        // nil: no text
	thought *partialThought // nil: no text, and no thought: a tool call
	call    int             // its index
	input   string          // its arguments, if they do not come in pieces
	start   wire.Text       // its beginning, until a piece has come
}

// passage is a text, and the sources that the vendor's search has found for it.
type passage struct {
	start   int // in bytes of the reply
	sources []provider.Citation
}

// partialThought is a thought that is assembled from pieces.
type partialThought struct {
	text, signature strings.Builder
	data            string // of a redacted one, which comes in one piece
}

// response returns the results of Generate. err is the result of reading.
func (r *reply) response(err error) (*provider.Response, error) {
	r.Usage, r.Settled = r.usage.tokens(), r.reason != ""
	if r.usage.complete {
		r.Usage = r.Usage.Add(r.before)
	}
	if r.uncounted {
		r.Usage = provider.Usage{}
	}
	if err == nil {
		r.Stop, err = r.stop()
	}
	if err != nil {
		if !r.usage.complete && !r.pausable { // what a search finds is input that is counted later
			r.Usage, r.Settled = r.usage.counted(), false
		}
		return r.Failed(explain(r.exchange, err))
	}
	return r.Done()
}

// read reads the answer up to message_stop. Without that, a reply is whole if its reason has come after all of its blocks:
// some servers leave the last event out. Otherwise read fails.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := wire.FirstByte(body)
	if err != nil {
		return r.exchange.Cut(err)
	}
	if first == '{' {
		return r.unstreamed(body)
	}
	if kind, _, _ := mime.ParseMediaType(r.exchange.Header("Content-Type")); kind == "text/html" || first == '<' {
		return r.exchange.Unexpected([]byte{first}, "not_a_reply", "the server answered with something other than a reply")
	}
	events := r.exchange.EventsIn(body)
	for !r.ended {
		e, err := events.Next()
		if err != nil && r.whole {
			return nil
		}
		if err != nil {
			return r.exchange.Cut(err)
		}
		if err := r.take(e.Kind, e.Data); err != nil {
			return err
		}
	}
	return nil
}

// unstreamed returns the failure for an answer that is one JSON document: an error under a status of 200,
// or a reply in a form that was not asked for.
func (r *reply) unstreamed(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return r.exchange.Cut(err)
	}
	if !json.Valid(data) {
		return r.exchange.Cut(io.ErrUnexpectedEOF)
	}
	return r.exchange.Unexpected(data, "not_a_stream", "the server did not stream its answer")
}

// failure reports whether a JSON value is an error, and not just one with a null in it.
func failure(data []byte) bool {
	var f struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(data, &f) == nil && (f.Type == "error" || wire.Present(f.Error))
}

// take adds one event. The type in its data counts, because its kind is less precise.
func (r *reply) take(kind string, data []byte) error {
	if kind == "error" {
		return r.exchange.Fault(data)
	}
	if !utf8.Valid(data) { // the input of a tool stays exactly as it is written
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	var e message
	if err := json.Unmarshal(data, &e); err != nil {
		if kind == "" || kind == "message" || strings.HasPrefix(kind, "message_") || strings.HasPrefix(kind, "content_block_") {
			return r.malformed("a part of the answer does not follow the protocol")
		}
		return nil // an event of an unknown kind
	}
	index := max(0, e.Index.At()) // some servers leave out a zero
	switch e.Type {
	case "message_start":
		if len(r.blocks) > 0 {
			return r.malformed("the reply began again before it ended") // a proxy asked twice
		}
		r.ID, r.Model = string(e.Message.ID), string(e.Message.Model)
		r.usage.update(&e.Message.Usage)
	case "content_block_start":
		return r.begin(index, e.ContentBlock)
	case "content_block_delta":
		return r.extend(index, &e.Delta)
	case "content_block_stop":
		return r.finish(index)
	case "message_delta":
		r.usage.update(&e.Usage)
		r.usage.complete = r.usage.complete || e.Usage.Output != nil
		if e.Delta.StopReason != "" {
			r.ends(string(e.Delta.StopReason))
		}
	case "message_stop":
		r.ended = true
	default: // ping, and future events
		if failure(data) || e.Type == "" && (kind == "" || kind == "message") && r.exchange.IsFault(data) {
			return r.exchange.Fault(data)
		}
	}
	return nil
}

// ends notes why the reply ends.
func (r *reply) ends(reason string) {
	r.reason, r.whole = reason, true
	for _, open := range r.unfinished {
		r.whole = r.whole && !open
	}
	if r.whole {
		r.exchange.Ended()
	}
}

// goesOn notes that the reply goes on, whatever has come.
func (r *reply) goesOn() {
	if r.whole {
		r.whole = false
		r.exchange.GoesOn()
	}
}

func (r *reply) malformed(message string) error { return r.exchange.Invalid("malformed", message) }

// begin handles the beginning of a block. Blocks of other types are not part of the reply.
func (r *reply) begin(index int, start json.RawMessage) error {
	var b contentBlock
	if len(start) > 0 && json.Unmarshal(start, &b) != nil {
		return r.malformed("a part of the answer does not follow the protocol")
	}
	r.goesOn()
	r.blocks[index], r.unfinished[index] = nil, true
	r.record(index, start)
	switch b.Type {
	case "text":
		r.blocks[index] = &block{passage: &passage{start: r.Len()}, start: b.Text}
		r.Say(string(b.Text))
	case "thinking":
		t := &partialThought{}
		r.ThinkApart()
		r.Think(string(b.Thinking))
		t.text.WriteString(string(b.Thinking))
		t.signature.WriteString(b.Signature)
		r.blocks[index] = &block{thought: t, start: b.Thinking}
	case "redacted_thinking":
		r.blocks[index] = &block{thought: &partialThought{data: b.Data}}
	case "tool_use":
		at := r.Calls()
		if !r.Call(at, string(b.ID), string(b.Name), "") {
			return r.malformed("too many tool calls")
		}
		changed := slices.ContainsFunc(r.thoughts, func(t thought) bool { return r.exchange.Redact(t.Text) != t.Text })
		if len(r.thoughts) > 0 && !changed { // the vendor refuses thoughts that were changed, and does without any
			r.Seal(at, r.owner, sealed{r.thoughts})
		}
		r.thoughts = nil
		r.blocks[index] = &block{call: at, input: string(b.Input)}
	}
	return nil
}

// extend adds a piece to a block.
func (r *reply) extend(index int, d *delta) error {
	b, begun := r.blocks[index]
	if !begun {
		return r.malformed("a piece came of a block that has not begun")
	}
	r.goesOn()
	if b != nil && d.Text+d.Thinking != "" { // MiniMax's endpoint repeats the beginning (cline/cline#9215)
		d.Text, d.Thinking, b.start = cut(d.Text, b.start), cut(d.Thinking, b.start), ""
	}
	r.open[index].add(d)
	switch {
	case d.Type == "text_delta":
		r.Say(string(d.Text))
	case b == nil: // of an unknown type
	case b.passage != nil:
		b.passage.cite(d.Citation)
	case b.thought != nil:
		r.Think(string(d.Thinking))
		b.thought.text.WriteString(string(d.Thinking))
		b.thought.signature.WriteString(d.Signature)
	case d.PartialJSON != "":
		b.input = ""
		r.Call(b.call, "", "", string(d.PartialJSON))
	}
	return nil
}

// cut returns a piece without the beginning that it repeats.
func cut(piece, start wire.Text) wire.Text {
	return wire.Text(strings.TrimPrefix(string(piece), string(start)))
}

// cite notes a source. What cannot be read names none, and does not spoil the reply.
func (p *passage) cite(data json.RawMessage) {
	var c struct {
		Type  string `json:"type"`
		URL   string `json:"url"`
		Title string `json:"title"`
		Quote string `json:"cited_text"`
	}
	if len(data) == 0 || json.Unmarshal(data, &c) != nil || c.Type != "web_search_result_location" || len(p.sources) == maxSources {
		return
	}
	p.sources = append(p.sources, provider.Citation{Title: c.Title, URL: c.URL, Quote: c.Quote})
}

const maxSources = 256 // of one text

// finish handles the end of a block.
func (r *reply) finish(index int) error {
	b, begun := r.blocks[index]
	switch {
	case !begun:
		return r.malformed("the end came of a block that has not begun")
	case b == nil:
	case b.passage != nil:
		for _, c := range b.passage.sources {
			c.Start, c.End = b.passage.start, r.Len()
			r.Cite(c)
		}
	case b.thought != nil:
		t := b.thought
		r.thoughts = append(r.thoughts, thought{Text: wire.Joined(t.text.String()), Signature: t.signature.String(), Data: t.data})
	default:
		r.Call(b.call, "", "", b.input)
	}
	r.blocks[index], r.unfinished[index] = nil, false
	return nil
}

// stop translates the stop reason. An unknown one is a failure, because it could mean that the reply was
// broken off.
func (r *reply) stop() (provider.StopReason, error) {
	switch r.reason {
	case "end_turn", "stop_sequence":
		return provider.StopEnd, nil
	case stopLimit:
		return provider.StopLength, nil
	case "tool_use":
		return provider.StopTool, nil
	case "refusal":
		return provider.StopRefusal, nil
	case stopPause:
		return "", r.exchange.Invalid(r.reason, "the server paused the reply for its own tools, and it was not continued")
	case "":
		return "", r.exchange.Invalid("no_reason", "the reply ended without a reason")
	default:
		return r.exchange.Ending("stop_reason", r.reason)
	}
}
