package google

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// answer is one event of a reply. The types of the vendor's SDK take hundreds of bytes for an
// element of three bytes, and do not bound the number of elements.
type answer struct {
	Candidates     wire.List[*candidate] `json:"candidates"`
	PromptFeedback struct {
		BlockReason        wire.Name `json:"blockReason"`
		BlockReasonMessage wire.Name `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage        count     `json:"usageMetadata"`
	ModelVersion wire.Name `json:"modelVersion"`
	ResponseID   wire.Name `json:"responseId"`
}

// candidate is the part of an event about one of the replies.
type candidate struct {
	Index   wire.Index `json:"index"`
	Content struct {
		Parts wire.List[part] `json:"parts"`
	} `json:"content"`
	FinishReason  wire.Name       `json:"finishReason"`
	FinishMessage wire.Name       `json:"finishMessage"`
	Grounding     json.RawMessage `json:"groundingMetadata"`
}

// part is a piece of a reply.
type part struct {
	Text             wire.Text     `json:"text"`
	Thought          bool          `json:"thought"`
	ThoughtSignature []byte        `json:"thoughtSignature"`
	FunctionCall     *functionCall `json:"functionCall"`
}

type functionCall struct {
	ID   wire.Name       `json:"id"`
	Name wire.Name       `json:"name"`
	Args json.RawMessage `json:"args"` // an object, or none
}

// reply reads a streamed answer.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	owner    wire.Owner
	searched bool            // the request asked for a search
	said     strings.Builder // the text as it came, if the request asked for a search
	grounds  []ground
	answered bool // an event came
	chose    bool // there was a candidate
}

// The failure of an answer that is no stream.
const (
	notStream = "not_a_stream"
	strange   = "the server answered with something other than a reply"
)

// read reads the answer to its end. It fails if the reply is not complete.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := wire.FirstByte(body)
	switch {
	case err != nil:
		return r.exchange.Cut(err)
	case first == '<':
		return r.exchange.Unexpected([]byte{first}, notStream, strange)
	}
	events := r.exchange.EventsIn(body)
	for {
		e, err := events.Next()
		if err != nil {
			return r.end(err, events.Stray())
		}
		switch {
		case len(e.Data) == 0:
			continue
		case e.Kind == "error": // even after the reply's end: it shows that the reply has not ended
			return r.exchange.Fault(e.Data)
		case e.Kind != "" && e.Kind != "message":
			continue // an event of an unknown kind
		}
		if err := r.take(e.Data); err != nil {
			return err
		}
	}
}

// end returns the result of an answer that could not be read further. stray is what stood outside of events.
func (r *reply) end(err error, stray []byte) error {
	switch {
	case r.Stop != "":
		return nil // the reply is complete; only its usage may be missing
	case !errors.Is(err, io.EOF):
		return r.exchange.Cut(err)
	case r.answered && !r.chose:
		return r.exchange.Invalid("no_candidates", "the answer has no reply in it")
	case r.answered:
		return r.exchange.Cut(err)
	}
	if kind, _, _ := mime.ParseMediaType(r.exchange.Header("Content-Type")); kind == "text/html" || json.Valid(stray) {
		return r.exchange.Unexpected(stray, notStream, strange)
	}
	return r.exchange.Cut(err)
}

// take adds one event.
func (r *reply) take(data []byte) error {
	var failure struct {
		Error json.RawMessage `json:"error"`
	}
	switch {
	case data[0] == '[' && r.exchange.IsFault(data):
		return r.exchange.Fault(data)
	case json.Unmarshal(data, &failure) == nil && wire.Present(failure.Error):
		return r.exchange.Fault(data)
	}
	var a answer
	if !utf8.Valid(data) { // arguments stay exactly as they are written
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if data[0] != '{' || json.Unmarshal(data, &a) != nil {
		return r.exchange.Invalid("malformed", "a part of the answer does not follow the API")
	}
	u := a.Usage.tokens()
	if len(a.Candidates) == 0 && a.PromptFeedback.BlockReason == "" && u.IsZero() && r.exchange.IsFault(data) {
		return r.exchange.Fault(data)
	}
	r.answered = true
	if !u.IsZero() {
		r.Usage = u
	}
	if a.ModelVersion != "" {
		r.Model = string(a.ModelVersion)
	}
	if a.ResponseID != "" {
		r.ID = string(a.ResponseID)
	}
	for _, c := range a.Candidates {
		if c == nil || c.Index.At() > 0 {
			continue
		}
		r.chose = true
		if err := r.choose(c, u); err != nil {
			return err
		}
	}
	if f := a.PromptFeedback; f.BlockReason != "" {
		r.Usage, r.Settled = u, true
		return r.blocked(string(f.BlockReason), string(f.BlockReasonMessage))
	}
	return nil
}

// choose adds what one event has of the reply. counted is the usage in the same event.
func (r *reply) choose(c *candidate, counted provider.Usage) error {
	for i := range c.Content.Parts {
		part := &c.Content.Parts[i]
		if part.FunctionCall == nil && (part.Thought || part.Text == "") {
			if part.Thought && r.Stop == "" {
				r.Think(string(part.Text))
			}
			continue
		}
		if r.Stop != "" {
			r.Settled, r.Usage = false, provider.Usage{} // what follows is not counted yet
			return r.exchange.Invalid("malformed", "the reply went on after its end")
		}
		if part.FunctionCall == nil {
			if text := r.Say(string(part.Text)); r.searched {
				r.said.WriteString(text)
			}
		} else if err := r.call(part); err != nil {
			return err
		}
	}
	r.found(c.Grounding)
	if c.FinishReason == "" || c.FinishReason == "FINISH_REASON_UNSPECIFIED" || r.Stop != "" {
		return nil
	}
	r.Usage, r.Settled = counted, true // counts before the end are not final
	stop, err := r.stop(c)
	if err != nil {
		return err
	}
	r.Stop = stop
	r.exchange.Ended()
	return nil
}

// call adds a tool call, which comes in one piece. A call without an id gets one that is unique to this
// reply.
func (r *reply) call(p *part) error {
	f := p.FunctionCall
	var args bytes.Buffer
	if wire.Present(f.Args) && (f.Args[0] != '{' || json.Compact(&args, f.Args) != nil) {
		return r.exchange.Invalid("malformed", "the arguments of a tool call are not a JSON object")
	}
	at, id := r.Calls(), string(f.ID)
	if id == "" && r.ID != "" {
		id = "call_" + r.ID + "_" + strconv.Itoa(at)
	}
	if !r.Call(at, id, string(f.Name), args.String()) {
		return r.exchange.Invalid("malformed", "there are too many tool calls")
	}
	r.Seal(at, r.owner, sealed{ID: string(f.ID), Signature: p.ThoughtSignature})
	return nil
}

// stop translates the finish reason. A reason that says that the reply is broken is a failure. Of any other its words decide.
func (r *reply) stop(c *candidate) (provider.StopReason, error) {
	switch c.FinishReason {
	case "STOP":
		return provider.StopEnd, nil
	case "MAX_TOKENS", "CONTINUATION":
		return provider.StopLength, nil
	case "RECITATION", "LANGUAGE", "SPII", "IMAGE_RECITATION":
		return provider.StopFilter, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return "", r.broken(c, "the vendor could not use what the model wrote")
	case "MISSING_THOUGHT_SIGNATURE": // the same request would end so again
		return "", of(provider.KindValidation, r.broken(c, "the vendor misses a signature in the request"))
	}
	stop, err := r.exchange.Ending("finishReason", wire.Clip(string(c.FinishReason)))
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.KindInvalidResponse {
		return "", r.broken(c, "the reply ended for another reason")
	}
	return stop, err
}

func (r *reply) broken(c *candidate, message string) error {
	if c.FinishMessage != "" {
		message += ": " + string(c.FinishMessage)
	}
	return r.exchange.Invalid(wire.Clip(string(c.FinishReason)), message)
}

// blocked returns the failure of a prompt that the vendor's filters stopped.
func (r *reply) blocked(reason, said string) error {
	message := "the vendor blocked the prompt"
	if said != "" {
		message += ": " + said
	}
	return of(provider.KindContentFilter, r.exchange.Invalid(wire.Clip(reason), message))
}

// of returns a failure as one of another kind.
func of(kind provider.Kind, err error) error {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		e.Kind = kind
	}
	return err
}
