package bedrock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// message has the fields of all events of a reply.
type message struct {
	Index int `json:"contentBlockIndex"`
	Start struct {
		ToolUse *struct {
			ID   string `json:"toolUseId"`
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"toolUse"`
		ToolResult json.RawMessage `json:"toolResult"`
	} `json:"start"`
	Delta struct {
		Text      wire.Text  `json:"text"`
		Reasoning *reasoning `json:"reasoningContent"`
		ToolUse   *struct {
			Input wire.Text `json:"input"`
		} `json:"toolUse"`
	} `json:"delta"`
	StopReason string  `json:"stopReason"`
	Usage      *tokens `json:"usage"`
}

// reasoning is a piece of a thought.
type reasoning struct {
	Text      wire.Text `json:"text"`
	Signature string    `json:"signature"`
	Redacted  string    `json:"redactedContent"` // in base64
}

// tokens is the usage object of the vendor. Its input leaves out what the cache was used for.
type tokens struct {
	Input      wire.Count `json:"inputTokens"`
	Output     wire.Count `json:"outputTokens"`
	CacheRead  wire.Count `json:"cacheReadInputTokens"`
	CacheWrite wire.Count `json:"cacheWriteInputTokens"`
}

func (t *tokens) usage() provider.Usage {
	return provider.Usage{
		Input: int(t.Input + t.CacheRead + t.CacheWrite), CachedInput: int(t.CacheRead), CacheWrite: int(t.CacheWrite),
		Output: int(t.Output),
	}
}

// reply reads a streamed answer.
type reply struct {
	*wire.Reply

	exchange  *wire.Exchange
	owner     wire.Owner     // of the thoughts
	answering bool           // the model answers by a call of the tool that stands for the schema
	blocks    map[int]*block // by the vendor's index
	thoughts  []thought      // since the last tool call
	ended     bool           // messageStop has come
	failure   error          // what its reason says, if the reply is no good
}

// block is a part of the reply whose pieces are not all text.
type block struct {
	call    int // the index of the tool call; -1: none
	answer  bool
	foreign bool // a tool of the vendor's own
	text    strings.Builder
	sign    strings.Builder
	closed  strings.Builder // a redacted thought
}

// read reads the answer to its end. It fails if the reply is not complete.
func (r *reply) read(maxFrame int) error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	if first, err := wire.FirstByte(body); err == nil && (first == '{' || first == '[') {
		return r.document(body)
	}
	s := events{exchange: r.exchange, body: body, max: maxFrame}
	for {
		e, err := s.next()
		if err != nil && r.ended && broken(err) {
			return r.failure // the reply is complete; only its usage is missing
		}
		if err != nil {
			return err
		}
		if done, err := r.take(e); done || err != nil {
			return err
		}
	}
}

// broken reports whether a failure is one of the transfer, and nothing that the vendor said.
func broken(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && (e.Kind == provider.KindNetwork || e.Kind == provider.KindTimeout || e.Code == "too_large")
}

// document returns the failure for an answer that is one JSON document.
func (r *reply) document(body io.Reader) error {
	data, err := io.ReadAll(body)
	switch {
	case err != nil:
		return r.exchange.Cut(err)
	case !json.Valid(data):
		return r.exchange.Cut(errCut)
	}
	return r.exchange.Unexpected(data, "not_a_stream", "the server did not stream its answer")
}

// take adds one event. done reports that nothing follows it.
func (r *reply) take(e event) (done bool, err error) {
	switch e.kind {
	case "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
	default: // messageStart, and future events
		return false, nil
	}
	data := e.data
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	var m message
	if json.Unmarshal(data, &m) != nil {
		return false, r.malformed("a part of the answer does not follow the API")
	}
	if r.ended && e.kind != "metadata" {
		if e.kind == "contentBlockStop" || e.kind == "messageStop" {
			return false, nil
		}
		return false, r.malformed("the reply went on after its end")
	}
	switch e.kind {
	case "contentBlockStart":
		return false, r.begin(&m)
	case "contentBlockDelta":
		return false, r.extend(&m)
	case "contentBlockStop":
		r.finish(m.Index)
	case "messageStop":
		r.Stop, r.failure = r.stop(m.StopReason)
		r.ended = true
		r.exchange.Ended()
	case "metadata":
		if m.Usage != nil && r.ended { // before the end it is not final
			r.Usage, r.Settled = m.Usage.usage(), true
		}
		return r.ended, r.failure
	}
	return false, nil
}

func (r *reply) malformed(message string) error { return r.exchange.Invalid("malformed", message) }

// begin handles the beginning of a block. Text has none.
func (r *reply) begin(m *message) error {
	b := r.block(m.Index)
	tool := m.Start.ToolUse
	switch {
	case tool == nil:
		b.foreign = wire.Present(m.Start.ToolResult)
	case tool.Type != "" && tool.Type != "tool_use": // a tool of the vendor's own
		b.foreign = true
	case r.answering && tool.Name == answerTool:
		b.answer = true
	default:
		b.call = r.Calls()
		if !r.Call(b.call, tool.ID, tool.Name, "") {
			return r.malformed("there are too many tool calls")
		}
		if len(r.thoughts) > 0 {
			r.Seal(b.call, r.owner, sealed{r.thoughts})
		}
		r.thoughts = nil
	}
	return nil
}

// block returns the block at an index, a new one if none has begun there.
func (r *reply) block(index int) *block {
	if r.blocks[index] == nil {
		r.blocks[index] = &block{call: -1}
	}
	return r.blocks[index]
}

// extend adds a piece to a block.
func (r *reply) extend(m *message) error {
	b, d := r.block(m.Index), &m.Delta
	switch {
	case b.foreign:
	case d.ToolUse != nil && b.answer:
		r.Show(string(d.ToolUse.Input))
	case d.ToolUse != nil && b.call < 0:
		return r.malformed("a piece came of a tool call that has not begun")
	case d.ToolUse != nil:
		r.Call(b.call, "", "", string(d.ToolUse.Input))
	case d.Reasoning != nil:
		b.text.WriteString(string(d.Reasoning.Text))
		b.sign.WriteString(d.Reasoning.Signature)
		b.closed.WriteString(d.Reasoning.Redacted)
	default:
		r.Say(string(d.Text))
	}
	return nil
}

// finish handles the end of a block. A thought without a signature cannot be sent back.
func (r *reply) finish(index int) {
	b := r.blocks[index]
	if b == nil {
		return
	}
	if b.sign.Len() > 0 || b.closed.Len() > 0 {
		r.thoughts = append(r.thoughts, thought{Text: wire.Joined(b.text.String()), Signature: b.sign.String(), Redacted: b.closed.String()})
	}
	delete(r.blocks, index)
}

// stop translates the stop reason. An unknown one is a failure, because it could mean that the reply was
// broken off.
func (r *reply) stop(reason string) (provider.StopReason, error) {
	switch reason {
	case "end_turn", "stop_sequence":
		return provider.StopEnd, nil
	case "tool_use":
		if r.answering && r.Calls() == 0 {
			return provider.StopEnd, nil
		}
		return provider.StopTool, nil
	case "max_tokens":
		return provider.StopLength, nil
	case "guardrail_intervened":
		return provider.StopFilter, nil
	case "refusal": // Claude's own, which the API's list does not have
		return provider.StopRefusal, nil
	case "malformed_model_output", "malformed_tool_use":
		return "", r.exchange.Invalid(reason, "the vendor could not use what the model wrote")
	case "":
		return "", r.exchange.Invalid("no_reason", "the reply ended without a reason")
	default:
		return r.exchange.Ending("stop_reason", reason)
	}
}
