package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/thought"
	"github.com/agonist-dev/debate/provider"
)

const maxToolCalls = 128 // in one reply

//nolint:gochecknoglobals // read only
var stops = []provider.StopReason{
	provider.StopEnd, provider.StopLength, provider.StopTool, provider.StopRefusal, provider.StopFilter,
}

// Reply collects a reply while it arrives, and checks it once it is complete. Its exported fields may be
// set at any time before that; Hide and Keep act on what comes afterwards. A Reply is for one goroutine. The methods that add
// text or thoughts, and Done, call emit.
//
// A reply that repeats the key does not show it. "[redacted]" replaces any 20 bytes of the key in the text, in the text
// of thoughts, in the arguments of tool calls, in sources, in ID and in Model, whether they are plain, wrapped, escaped
// or encoded. What may be the beginning of a key is held back until that is known. So the text is always the
// concatenation of its chunks since the last that recalls the text ([provider.Chunk.Recall]), and the text of thoughts that of
// all of its own.
type Reply struct {
	Stop    provider.StopReason // "" until the vendor said why the reply ended
	Refused bool                // the model declined, whatever Stop says
	Usage   provider.Usage      // the latest that the vendor reported
	// Settled reports that Usage is final although the reply has no Stop, as in an event that says that
	// the reply failed. Tokens counted before the end are a part of the price, because the rest may be charged
	// too.
	Settled bool
	ID      string // of the reply, as the vendor reports it
	Model   string
	Hide    bool // drops the text of thoughts
	Keep    bool // leaves thoughts in the text where the model has written them

	exchange *Exchange
	emit     func(provider.Chunk)
	text     strings.Builder // that was shown
	came     int             // bytes of text that came
	stream   *redact.Stream
	said     soFar           // of the text
	joiner   joiner          // of the text
	speech   thought.Divider // of the text
	tagged   thought.Divider // of thoughts that have marks of their own
	calls    []partialCall
	thoughts thoughts
	cited    []cited
	uncited  int // sources beyond provider.MaxCitations
	cost     *float64
}

// partialCall is a tool call that is assembled from pieces.
type partialCall struct {
	id, name  string
	arguments arguments
	opaque    json.RawMessage
}

// NewReply begins a reply whose text is passed to emit as it arrives.
func (x *Exchange) NewReply(emit func(provider.Chunk)) *Reply {
	r := &Reply{exchange: x, emit: emit, stream: redact.NewStream(x.secrets.reply())}
	r.speech = thought.Divider{Say: r.show, Think: r.thinkAloud, Recall: r.recall}
	r.tagged = thought.Divider{Say: r.thinkInField, Think: r.thinkInField, Recall: func() {}}
	return r
}

// Heed sets Hide and Keep to what the options of the request say of thoughts. nil changes nothing. An adapter calls it before
// the first Say.
func (r *Reply) Heed(o *provider.Options) {
	if o != nil {
		r.Hide, r.Keep = o.Reasoning == provider.ReasoningHide, o.Reasoning == provider.ReasoningInText
	}
}

// Resume continues the reply with the answer of another exchange: a vendor may pause a reply and continue it in the answer
// of the next request. What was collected stays. If the key was renewed in between, the rest of the reply shows neither.
func (r *Reply) Resume(x *Exchange) {
	if x != r.exchange {
		x.Follow(r.exchange)
		added := x.secrets.beyond(&r.exchange.secrets)
		r.stream.Also(added)
		if r.thoughts.stream != nil {
			r.thoughts.stream.Also(added)
		}
	}
	r.exchange, r.Stop, r.Settled = x, "", false
}

// Say adds a piece of free text, or of JSON that the model writes as text, and passes it to emit. Thoughts that the model has
// written between marks in it are passed on as thoughts, unless Keep is set. An end without a beginning makes thoughts of all
// the text before it. These are no marks:
//   - what stands in code, or in quotation marks
//   - what stands in JSON: the text begins with an object, or with a list of objects or texts
//   - a beginning without an end, unless the text begins with it or the reply ended at its limit
//   - tags that an answer may have too, such as <reason>, unless the text begins with them
//
// The end of a piece that may be the beginning of a mark or of a key follows with the next piece, or from Done. Some servers send
// with each piece all of the text so far. Of pieces that each begin with the one before, the rest counts, once it is certain that
// this is no repetition. Until then they are held back. Say returns what was new.
func (r *Reply) Say(text string) string {
	text = r.said.next(text)
	r.say(text)
	return text
}

func (r *Reply) say(text string) {
	text = r.joiner.next(text)
	r.came += len(text)
	if r.Keep {
		r.show(text)
		return
	}
	r.speech.Next(text)
}

// Show adds a piece of text in which the model writes no thoughts: a refusal of the vendor, or the arguments of a tool call that
// carry the reply. It is passed to emit as it is, but for an end that may be the beginning of a key.
func (r *Reply) Show(text string) {
	r.say(r.said.end())
	text = r.joiner.next(text)
	r.came += len(text)
	r.speech.End(false)
	r.show(text)
}

func (r *Reply) show(text string) {
	if text != "" {
		r.pass(r.stream.Next(text))
	}
}

func (r *Reply) pass(text string) {
	if text == "" {
		return
	}
	r.text.WriteString(text)
	r.emit(provider.Chunk{Text: text})
}

// Len returns the length of the text that has come so far, in bytes, as if nothing of what Say holds back were a repetition.
func (r *Reply) Len() int { return r.came + r.said.held.Len() }

// Calls returns the number of tool calls so far.
func (r *Reply) Calls() int { return len(r.calls) }

// Call adds a piece of the tool call at an index. Calls are counted from 0 and begin in order. id and
// name are set if they are not empty; arguments are appended, unless what came before is a whole JSON value: then they
// replace it. Two values that differ, neither of them {}, are a failure. Halves of a character that two pieces share are joined.
// Call reports whether the index is valid.
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
	call.arguments.add(arguments)
	return true
}

// Arguments returns the arguments of a tool call without white space, once they are one whole JSON value, "" before. It
// copies nothing, so an adapter may ask with each piece.
func (r *Reply) Arguments(at int) string {
	if at < 0 || at >= len(r.calls) {
		return ""
	}
	return r.calls[at].arguments.whole
}

// Replace sets the arguments of a tool call to the complete arguments that the vendor sent after their
// pieces.
func (r *Reply) Replace(at int, whole string) {
	if at < 0 || at >= len(r.calls) {
		return
	}
	r.calls[at].arguments = arguments{}
	r.calls[at].arguments.add(whole)
}

// Seal keeps with a tool call what the owner wants to get back with it ([provider.ToolCall.Opaque]); see [Unseal].
// kept is written as JSON. What is larger than the record takes, 1 MiB, is dropped.
func (r *Reply) Seal(at int, owner Owner, kept any) {
	if at >= 0 && at < len(r.calls) {
		r.calls[at].opaque = owner.seal(kept)
	}
}

// Failed returns the results of Generate for a reply that failed: err and, if the vendor has counted tokens, a Response with
// the usage. It is a partial one unless the vendor had said how the reply ended or Usage is Settled.
func (r *Reply) Failed(err error) (*provider.Response, error) {
	if r.Usage.IsZero() {
		return nil, err
	}
	return r.described(provider.Response{Partial: r.Stop == "" && !r.Settled}), err
}

// Done returns the results of Generate once the vendor has said that the reply is complete. A reply
// without a Stop was cut off and is a failure. A reply is invalid if it is blank. It is also invalid if a
// tool call cannot be read, unless its limit, a filter or a refusal ended the reply.
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
	case r.Stop == provider.StopLength, // the last call may be cut, and it is unknown which calls are complete
		!ok && (r.Stop == provider.StopFilter || r.Stop == provider.StopRefusal):
		calls = nil
	case ok && len(calls) > 0 && r.Stop == provider.StopEnd:
		r.Stop = provider.StopTool // some servers report stop
	case ok:
	case slices.ContainsFunc(r.calls, func(c partialCall) bool { return c.name == "" }):
		return r.Failed(r.exchange.Invalid("malformed", "a tool call has no name"))
	default:
		return r.Failed(r.exchange.Invalid("malformed", "the arguments of a tool call are not JSON"))
	}
	r.say(r.said.end())
	r.speech.Next(r.joiner.end())
	r.speech.End(r.Stop == provider.StopLength)
	reasoning := r.reasoning()
	r.pass(r.stream.End())
	text := r.text.String()
	if strings.TrimSpace(text) == "" && len(calls) == 0 {
		switch r.Stop {
		case provider.StopRefusal, provider.StopFilter: // the reason says enough
		case provider.StopLength:
			return r.Failed(r.exchange.capped(len(r.calls) > 0))
		default:
			return r.Failed(r.exchange.Invalid("blank", "the reply has no text"))
		}
	}
	return r.described(provider.Response{
		Text: text, Calls: calls, Stop: r.Stop, Reasoning: reasoning, Citations: r.citations(text), Uncited: r.uncited,
	}), nil
}

// done returns the calls. ok is false if one has no name or its arguments are not JSON.
func (r *Reply) done() (calls []provider.ToolCall, ok bool) {
	for i := range r.calls {
		call := &r.calls[i]
		arguments, ok := call.arguments.value()
		if !ok || call.name == "" {
			return nil, false
		}
		calls = append(calls, provider.ToolCall{
			ID: r.callID(i), Name: r.callName(call.name), Arguments: r.exchange.redactJSON(arguments), Opaque: r.opaque(call.opaque),
		})
	}
	return calls, true
}

// callID returns the id of a call. A call has one that is unique to the reply if the vendor gave it none, that of an earlier
// call, or one that holds the key.
func (r *Reply) callID(at int) string {
	id := r.calls[at].id
	taken := slices.ContainsFunc(r.calls[:at], func(c partialCall) bool { return c.id == id })
	if id != "" && !taken && r.exchange.Redact(id) == id {
		return id
	}
	id = "call_" + strconv.Itoa(at)
	for slices.ContainsFunc(r.calls, func(c partialCall) bool { return c.id == id }) {
		id += "_"
	}
	return id
}

// callName returns the name of the tool. No tool has one that holds the key, but the name goes back to the vendor.
func (r *Reply) callName(name string) string {
	if r.exchange.Redact(name) != name {
		return "redacted"
	}
	return name
}

// opaque returns what the adapter wants to get back, nil if that cannot be kept without the key.
func (r *Reply) opaque(data json.RawMessage) json.RawMessage {
	if !json.Valid(data) {
		if r.exchange.Redact(string(data)) != string(data) {
			return nil
		}
		return data
	}
	return r.exchange.redactJSON(data)
}
