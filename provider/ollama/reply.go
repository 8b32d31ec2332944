package ollama

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// chunk is one line of an answer. Fields that are not listed here (durations and future ones) are not
// part of the reply.
type chunk struct {
	Model      wire.Name       `json:"model"`
	Message    *piece          `json:"message"`
	Done       bool            `json:"done"`
	DoneReason wire.Name       `json:"done_reason"`
	Error      json.RawMessage `json:"error"`
	usage
}

// piece is what a line has of the reply.
type piece struct {
	Content   wire.Text           `json:"content"`
	Thinking  json.RawMessage     `json:"thinking"`
	ToolCalls wire.List[toolCall] `json:"tool_calls"`
}

// toolCall is a complete tool call. Its index is ignored: some models number each call 0.
type toolCall struct {
	ID       wire.Name `json:"id"`
	Function struct {
		Name      wire.Name       `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// reply reads an answer.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	calls    []called
	window   int // tokens; 0: unknown
	limit    int // of output tokens; 0: none
}

// read reads the answer up to the line that says that it is done. It fails if the reply is not complete.
func (r *reply) read() error {
	lines := r.exchange.Lines()
	for {
		line, err := lines.Next()
		if err != nil {
			return r.exchange.Cut(err)
		}
		if done, err := r.take(line); done || err != nil {
			return err
		}
	}
}

// take adds one line. done reports that it was the last.
func (r *reply) take(line []byte) (done bool, err error) {
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return false, r.exchange.Unexpected(line, "malformed", "a line of the answer does not follow the API")
	}
	if c.Model != "" {
		r.Model = string(c.Model)
	}
	if wire.Present(c.Error) || c.Message == nil && !c.Done && r.exchange.IsFault(line) {
		return false, r.exchange.Fault(line)
	}
	if c.Message == nil {
		c.Message = new(piece)
	}
	r.Think(wire.Plain(c.Message.Thinking))
	r.Say(string(c.Message.Content))
	for i := range c.Message.ToolCalls {
		if !r.call(&c.Message.ToolCalls[i]) {
			return false, r.exchange.Invalid("malformed", "more tool calls than a reply can have")
		}
	}
	if !c.Done {
		return false, nil
	}
	r.Usage, r.Settled = c.tokens(), true // counts in earlier lines were not final
	return true, r.stop(string(c.DoneReason))
}

// called is a tool call that has come.
type called struct{ id, name, arguments string }

// call adds a tool call. It gives the call a unique id, by which results refer to it. A call that comes again whole, with its
// id, is the same one.
func (r *reply) call(c *toolCall) bool {
	one := called{string(c.ID), string(c.Function.Name), wire.Plain(c.Function.Arguments)}
	if one.id != "" && slices.Contains(r.calls, one) {
		return true
	}
	for n := r.Calls(); one.id == "" || slices.ContainsFunc(r.calls, func(c called) bool { return c.id == one.id }); n++ {
		one.id = "call_" + strconv.Itoa(n)
	}
	r.calls = append(r.calls, one)
	return r.Call(r.Calls(), one.id, one.name, one.arguments)
}

// windowSlack is how many tokens the server's counts may be short of a full window: the server does not
// count a few that it adds itself.
const windowSlack = 8

// stop translates the done reason. An unknown one is a failure, and a missing one is if nothing was said: some servers give none
// (mozilla-ai/any-llm#1378).
func (r *reply) stop(reason string) error {
	if reason == "" && r.Len()+r.Calls() > 0 {
		reason = "stop"
		if r.limit > 0 && r.Usage.Output >= r.limit {
			reason = "length"
		}
	}
	switch reason {
	case "stop":
		r.Stop = provider.StopEnd
	case "length":
		total := r.Usage.Input + r.Usage.Output
		if r.window > 0 && total+windowSlack >= r.window && (r.limit <= 0 || r.Usage.Output < r.limit) {
			return r.exchange.Broken("model_context_window_exceeded", "the reply filled the model's window")
		}
		r.Stop = provider.StopLength
	case "load", "unload":
		return r.exchange.Invalid("no_reply", "the server loaded or unloaded the model, and gave no reply")
	default:
		var err error
		r.Stop, err = r.exchange.Ending("done_reason", reason)
		return err
	}
	return nil
}
