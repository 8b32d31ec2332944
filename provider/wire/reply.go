package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

const maxToolCalls = 128 // in one reply

//nolint:gochecknoglobals // read only
var stops = []provider.StopReason{
	provider.StopEnd, provider.StopLength, provider.StopTool, provider.StopRefusal, provider.StopFilter,
}

// Reply collects a reply while it arrives, and checks it once it is complete. Its exported fields may be
// set at any time before that.
type Reply struct {
	Stop    provider.StopReason // "" until the vendor said why the reply ended
	Refused bool                // the model declined, whatever Stop says
	Usage   provider.Usage      // the latest that the vendor reported
	// Settled reports that Usage is final although the reply has no Stop, as in an event that says that
	// the reply failed. Tokens counted before the end are not a price, because the rest may be charged
	// too.
	Settled bool
	Model   string

	exchange *Exchange
	emit     func(provider.Chunk)
	text     strings.Builder
	calls    []partialCall
}

// partialCall is a tool call that is assembled from pieces.
type partialCall struct {
	id, name  string
	arguments bytes.Buffer
	opaque    json.RawMessage
}

// NewReply begins a reply whose text is passed to emit as it arrives.
func (x *Exchange) NewReply(emit func(provider.Chunk)) *Reply { return &Reply{exchange: x, emit: emit} }

// Show adds a piece of text and passes it to emit.
func (r *Reply) Show(text string) {
	if text == "" {
		return
	}
	r.text.WriteString(text)
	r.emit(provider.Chunk{Text: text})
}

// Len returns the length of the text so far, in bytes.
func (r *Reply) Len() int { return r.text.Len() }

// Calls returns the number of tool calls so far.
func (r *Reply) Calls() int { return len(r.calls) }

// Call adds a piece of the tool call at an index. Calls are counted from 0 and begin in order. id and
// name are set if they are not empty; arguments are appended. Call reports whether the index is valid.
func (r *Reply) Call(at int, id, name, arguments string) bool {
	if at < 0 || at > len(r.calls) || at >= maxToolCalls {
		return false
	}
	if at == len(r.calls) {
		r.calls = append(r.calls, partialCall{})
	}
	call := &r.calls[at]
	if id != "" {
		call.id = id
	}
	if name != "" {
		call.name = name
	}
	call.arguments.WriteString(arguments)
	return true
}

// Replace sets the arguments of a tool call to the complete arguments that the vendor sent after their
// pieces.
func (r *Reply) Replace(at int, arguments string) {
	if at < 0 || at >= len(r.calls) {
		return
	}
	r.calls[at].arguments.Reset()
	r.calls[at].arguments.WriteString(arguments)
}

// Seal sets the data that an adapter wants to get back with a tool call ([provider.ToolCall.Opaque]).
func (r *Reply) Seal(at int, opaque json.RawMessage) {
	if at >= 0 && at < len(r.calls) {
		r.calls[at].opaque = slices.Clone(opaque)
	}
}

// Failed returns the results of Generate for a reply that failed: err and, if the vendor had said how the
// reply ended or Usage is Settled, a Response with the usage. The price of a reply that was cut off is
// unknown.
func (r *Reply) Failed(err error) (*provider.Response, error) {
	if r.Usage.IsZero() || r.Stop == "" && !r.Settled {
		return nil, err
	}
	return &provider.Response{Usage: r.Usage, Model: r.Model}, err
}

// Done returns the results of Generate once the vendor has said that the reply is complete. A reply
// without a Stop was cut off and is a failure. A reply is invalid if it is blank. It is also invalid if a
// tool call cannot be read, unless the reply ended at its limit.
func (r *Reply) Done() (*provider.Response, error) {
	if r.Refused {
		r.Stop = provider.StopRefusal
	}
	if r.Stop == "" {
		return r.Failed(r.exchange.Cut(errCut))
	}
	if !slices.Contains(stops, r.Stop) {
		return r.Failed(r.exchange.Invalid("stop", "the reply ended for an unknown reason: "+string(r.Stop)))
	}
	calls, ok := r.done()
	switch {
	case r.Stop == provider.StopLength: // the last call may be cut, and it is unknown which calls are complete
		calls = nil
	case ok && len(calls) > 0 && r.Stop == provider.StopEnd:
		r.Stop = provider.StopTool // some servers report stop
	case ok:
	default:
		return r.Failed(r.exchange.Invalid("malformed", "the arguments of a tool call are not JSON"))
	}
	text := r.text.String()
	if strings.TrimSpace(text) == "" && len(calls) == 0 {
		switch r.Stop {
		case provider.StopRefusal, provider.StopFilter: // the reason says enough
		case provider.StopLength:
			return r.Failed(r.exchange.Invalid("blank", "thinking used up all output tokens; allow more"))
		default:
			return r.Failed(r.exchange.Invalid("blank", "the reply has no text"))
		}
	}
	return &provider.Response{Text: text, Calls: calls, Stop: r.Stop, Usage: r.Usage, Model: r.Model}, nil
}

// done returns the calls. ok is false if one has no name or its arguments are not JSON.
func (r *Reply) done() (calls []provider.ToolCall, ok bool) {
	for i := range r.calls {
		call := &r.calls[i]
		arguments := bytes.TrimSpace(call.arguments.Bytes())
		if len(arguments) == 0 {
			arguments = []byte("{}")
		}
		if !json.Valid(arguments) || call.name == "" {
			return nil, false
		}
		id := call.id
		if id == "" {
			id = "call_" + strconv.Itoa(i)
		}
		calls = append(calls, provider.ToolCall{ID: id, Name: call.name, Arguments: arguments, Opaque: call.opaque})
	}
	return calls, true
}
