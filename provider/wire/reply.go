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

// Reply gathers a reply while it arrives, and judges it once it is whole. Its fields may be set at any
// time before that.
type Reply struct {
	Stop    provider.StopReason // "" until the vendor said why the reply ended
	Refused bool                // the model declined, whatever Stop says
	Usage   provider.Usage      // the last that the vendor reported
	// Settled: Usage is the vendor's last word though the reply has no Stop, as in an event that says that
	// the reply has failed. What is counted before the end is no price: the rest may be paid for as well.
	Settled bool
	Model   string

	exchange *Exchange
	emit     func(provider.Chunk)
	text     strings.Builder
	calls    []partialCall
}

// partialCall is a tool call that is put together from its pieces.
type partialCall struct {
	id, name  string
	arguments bytes.Buffer
	opaque    json.RawMessage
}

// NewReply begins a reply whose text goes to emit as it comes.
func (x *Exchange) NewReply(emit func(provider.Chunk)) *Reply { return &Reply{exchange: x, emit: emit} }

// Show takes a piece of the text and hands it on.
func (r *Reply) Show(text string) {
	if text == "" {
		return
	}
	r.text.WriteString(text)
	r.emit(provider.Chunk{Text: text})
}

// Len yields the bytes of text so far.
func (r *Reply) Len() int { return r.text.Len() }

// Calls yields how many tool calls there are so far.
func (r *Reply) Calls() int { return len(r.calls) }

// Call takes a piece of the tool call at a place: calls are counted from 0 and begin in their order.
// id and name count if they are not empty; arguments are appended. It reports whether there is such a
// place.
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

// Replace sets the arguments of a tool call to the whole that the vendor sent after their pieces.
func (r *Reply) Replace(at int, arguments string) {
	if at < 0 || at >= len(r.calls) {
		return
	}
	r.calls[at].arguments.Reset()
	r.calls[at].arguments.WriteString(arguments)
}

// Seal gives a tool call what its adapter wants back with it ([provider.ToolCall.Opaque]).
func (r *Reply) Seal(at int, opaque json.RawMessage) {
	if at >= 0 && at < len(r.calls) {
		r.calls[at].opaque = slices.Clone(opaque)
	}
}

// Failed is what Generate returns for a reply that failed: err, and beside it the usage, if the vendor
// had said how the reply ended, or if it is Settled. Of a reply that was cut the price is unknown.
func (r *Reply) Failed(err error) (*provider.Response, error) {
	if r.Usage.IsZero() || r.Stop == "" && !r.Settled {
		return nil, err
	}
	return &provider.Response{Usage: r.Usage, Model: r.Model}, err
}

// Done is what Generate returns once the vendor said that the reply is complete. A reply without a
// Stop is none: it was cut. One that is blank is invalid, and so is one with a tool call that cannot be
// read, unless the reply ended at its limit.
func (r *Reply) Done() (*provider.Response, error) {
	if r.Refused {
		r.Stop = provider.StopRefusal
	}
	if r.Stop == "" {
		return r.Failed(r.exchange.Cut(errCut))
	}
	if !slices.Contains(stops, r.Stop) {
		return r.Failed(r.exchange.Invalid("stop", "the reply ended for a reason that nobody knows: "+string(r.Stop)))
	}
	calls, ok := r.done()
	switch {
	case r.Stop == provider.StopLength: // what the limit has cut is no call, and nobody knows which it is
		calls = nil
	case ok && len(calls) > 0 && r.Stop == provider.StopEnd:
		r.Stop = provider.StopTool // some servers say stop
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

// done yields the calls; ok is false if one has no name or its arguments are not JSON.
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
