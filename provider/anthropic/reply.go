package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// message is one event of a reply. It replaces the SDK's union type, which takes three hundred bytes of
// memory for each byte of a hostile event.
type message struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Model string  `json:"model"`
		Usage figures `json:"usage"`
	} `json:"message"`
	ContentBlock contentBlock `json:"content_block"`
	Delta        delta        `json:"delta"`
	Usage        figures      `json:"usage"`
}

// contentBlock is the beginning of a block.
type contentBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

// delta is a piece of a block, or what is reported about the reply at its end.
type delta struct {
	Type        string         `json:"type"`
	Text        string         `json:"text"`
	Thinking    string         `json:"thinking"`
	Signature   string         `json:"signature"`
	PartialJSON string         `json:"partial_json"`
	StopReason  sdk.StopReason `json:"stop_reason"`
}

// reply reads an answer.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	usage    usage
	blocks   map[int64]*block // by the vendor's index
	thoughts []thought        // since the last tool call
	reason   sdk.StopReason
	ended    bool // message_stop has come
}

// block is a part of the reply that is not text.
type block struct {
	thought *partialThought // nil: a tool call
	call    int             // its index
	input   string          // its arguments, if they do not come in pieces
}

// partialThought is a thought that is assembled from pieces.
type partialThought struct {
	text, signature strings.Builder
	data            string // of a redacted one, which comes in one piece
}

// response returns the results of Generate. err is the result of reading.
func (r *reply) response(err error) (*provider.Response, error) {
	r.Usage, r.Settled = r.usage.tokens(), r.reason != ""
	if err == nil {
		r.Stop, err = r.stop()
	}
	if err != nil {
		return r.Failed(explain(r.exchange, err))
	}
	return r.Done()
}

// read reads the answer up to message_stop. It fails if that does not come.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := body.Peek(1)
	if err != nil {
		return r.exchange.Cut(err)
	}
	if first[0] == '{' {
		return r.unstreamed(body)
	}
	if kind, _, _ := mime.ParseMediaType(r.exchange.Header("Content-Type")); kind == "text/html" {
		return r.exchange.Invalid("not_a_reply", "the server answered with a web page; is BaseURL the URL of the API?")
	}
	events := r.exchange.EventsIn(body)
	for !r.ended {
		e, err := events.Next()
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
	if failure(data) {
		return r.exchange.Fault(data)
	}
	return r.exchange.Invalid("not_a_stream", "the server did not stream its answer")
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
	switch e.Type {
	case "message_start":
		r.Model = e.Message.Model
		r.usage.update(&e.Message.Usage)
	case "content_block_start":
		return r.begin(e.Index, &e.ContentBlock)
	case "content_block_delta":
		return r.extend(e.Index, &e.Delta)
	case "content_block_stop":
		return r.finish(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.reason = e.Delta.StopReason
		}
		r.usage.update(&e.Usage)
		r.usage.complete = r.usage.complete || e.Usage.Output != nil
	case "message_stop":
		r.ended = true
	default: // ping, and future events
		if failure(data) {
			return r.exchange.Fault(data)
		}
	}
	return nil
}

func (r *reply) malformed(message string) error { return r.exchange.Invalid("malformed", message) }

// begin handles the beginning of a block. Blocks of other types are not part of the reply.
func (r *reply) begin(index int64, b *contentBlock) error {
	r.blocks[index] = nil
	switch b.Type {
	case "text":
		r.Show(b.Text)
	case "thinking":
		t := &partialThought{}
		t.text.WriteString(b.Thinking)
		t.signature.WriteString(b.Signature)
		r.blocks[index] = &block{thought: t}
	case "redacted_thinking":
		r.blocks[index] = &block{thought: &partialThought{data: b.Data}}
	case "tool_use":
		at := r.Calls()
		if !r.Call(at, b.ID, b.Name, "") {
			return r.malformed("too many tool calls")
		}
		r.Seal(at, seal(r.thoughts))
		r.thoughts = nil
		r.blocks[index] = &block{call: at, input: string(b.Input)}
	}
	return nil
}

// extend adds a piece to a block.
func (r *reply) extend(index int64, d *delta) error {
	b, begun := r.blocks[index]
	if !begun {
		return r.malformed("a piece came of a block that has not begun")
	}
	switch {
	case d.Type == "text_delta":
		r.Show(d.Text)
	case b == nil: // of an unknown type
	case b.thought != nil:
		b.thought.text.WriteString(d.Thinking)
		b.thought.signature.WriteString(d.Signature)
	case d.PartialJSON != "":
		b.input = ""
		r.Call(b.call, "", "", d.PartialJSON)
	}
	return nil
}

// finish handles the end of a block.
func (r *reply) finish(index int64) error {
	b, begun := r.blocks[index]
	switch {
	case !begun:
		return r.malformed("the end came of a block that has not begun")
	case b == nil:
	case b.thought != nil:
		t := b.thought
		r.thoughts = append(r.thoughts, thought{Text: t.text.String(), Signature: t.signature.String(), Data: t.data})
	default:
		r.Call(b.call, "", "", b.input)
	}
	r.blocks[index] = nil
	return nil
}

// stop translates the stop reason. An unknown one is a failure, because it could mean that the reply was
// broken off.
func (r *reply) stop() (provider.StopReason, error) {
	switch r.reason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return provider.StopEnd, nil
	case sdk.StopReasonMaxTokens:
		return provider.StopLength, nil
	case sdk.StopReasonToolUse:
		return provider.StopTool, nil
	case sdk.StopReasonRefusal:
		return provider.StopRefusal, nil
	case sdk.StopReasonModelContextWindowExceeded:
		return "", r.exchange.Broken(string(r.reason), "the reply filled the model's window")
	case sdk.StopReasonPauseTurn:
		return "", r.exchange.Invalid(string(r.reason), "the server paused the turn for its own tools, but none are offered")
	case "":
		return "", r.exchange.Invalid("no_reason", "the reply ended without a reason")
	default:
		return "", r.exchange.Invalid("stop_reason", "unknown stop_reason "+string(r.reason))
	}
}
