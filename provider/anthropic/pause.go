package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// maxPauses is how often a reply is continued. The vendor pauses it after ten searches or so.
const maxPauses = 8

// piece is a block of a reply that may be paused. A paused reply is continued by a request that ends with the blocks
// that have come, as they came.
type piece struct {
	start                            json.RawMessage
	text, thinking, signature, input strings.Builder
	citations                        []json.RawMessage
}

// pausable reports whether the vendor runs tools of its own for a request, for which it may pause the reply.
func pausable(req *provider.Request) bool {
	return req.Options != nil && (req.Options.Search || req.Options.Extra["tools"] != nil)
}

// record notes the beginning of a block.
func (r *reply) record(index int, start json.RawMessage) {
	if r.pausable {
		p := &piece{start: slices.Clone(start)}
		r.turn = append(r.turn, p)
		r.open[index] = p
	}
}

// add notes a piece of a block.
func (p *piece) add(d *delta) {
	if p == nil {
		return
	}
	p.text.WriteString(string(d.Text))
	p.thinking.WriteString(string(d.Thinking))
	p.signature.WriteString(d.Signature)
	p.input.WriteString(string(d.PartialJSON))
	if len(d.Citation) > 0 {
		p.citations = append(p.citations, slices.Clone(d.Citation))
	}
}

// block returns the block as it goes back to the vendor; nil if that is impossible or would be refused.
func (p *piece) block() json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(p.start, &fields) != nil || fields == nil {
		return nil
	}
	for name, b := range map[string]*strings.Builder{"text": &p.text, "thinking": &p.thinking, "signature": &p.signature} {
		if b.Len() == 0 {
			continue
		}
		var begun string
		_ = json.Unmarshal(fields[name], &begun) // "" if it has none
		fields[name] = text(wire.Joined(begun + b.String()))
	}
	if input := wire.Joined(p.input.String()); json.Valid([]byte(input)) {
		fields["input"] = json.RawMessage(input)
	}
	if string(fields["citations"]) == "null" || string(fields["citations"]) == "[]" {
		delete(fields, "citations")
	}
	if len(p.citations) > 0 {
		fields["citations"], _ = json.Marshal(p.citations) //nolint:errchkjson // they were decoded from JSON
	}
	var said string
	if kind := string(fields["type"]); kind == `"text"` && (json.Unmarshal(fields["text"], &said) != nil || blank(said)) {
		return nil
	}
	data, _ := json.Marshal(fields) //nolint:errchkjson // so were the fields
	return data
}

func text(s string) json.RawMessage {
	data, _ := json.Marshal(s) //nolint:errchkjson // a string always marshals
	return data
}

// paused reports whether the vendor has paused the reply, and adds to the request what continues it. The limit of output
// is that of all pieces together. If nothing of it is left, the reply ends at its limit.
func (r *reply) paused(w *request) bool {
	if r.reason != stopPause || !r.pausable || r.pauses == maxPauses {
		return false
	}
	var blocks []json.RawMessage
	for _, p := range r.turn {
		if block := p.block(); block != nil {
			blocks = append(blocks, block)
		}
	}
	if len(blocks) == 0 {
		return false
	}
	left := w.MaxTokens - int64(r.usage.output)
	if left < 1 || w.Thinking != nil && left <= w.Thinking.BudgetTokens {
		r.reason = stopLimit
		return false
	}
	r.pauses++
	r.uncounted = r.uncounted || !r.usage.complete
	r.before = r.before.Add(r.usage.tokens())
	w.MaxTokens = left
	if r.pauses > 1 { // the blocks of the whole turn replace those of its beginning
		w.Messages = w.Messages[:len(w.Messages)-1]
	}
	w.Messages = append(slices.Clip(w.Messages), continuation{Content: blocks, Role: assistant})
	return true
}

// late returns the results of Generate for a request that did not get an answer. The vendor bills what came of a reply
// before it was paused, and nothing for a request that it refuses.
func (r *reply) late(err error) (*provider.Response, error) {
	e, ok := errors.AsType[*provider.Error](err)
	if r.pauses == 0 || !ok {
		return nil, err
	}
	free := e.NotSent || e.Status >= http.StatusBadRequest
	late := *e
	late.NotSent = false
	if late.Status >= http.StatusBadRequest { // the reply had begun under another one
		late.Status = http.StatusOK
	}
	if r.Usage, r.Settled = r.before, true; !free || r.uncounted {
		r.Usage = provider.Usage{}
	}
	return r.Failed(&late)
}
