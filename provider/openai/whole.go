package openai

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// whole is the response object. The last event of a stream holds it, and an answer that is not streamed
// is one.
type whole struct {
	ID         wire.Name       `json:"id"`
	Status     wire.Name       `json:"status"`
	Model      wire.Name       `json:"model"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason wire.Name `json:"reason"`
	} `json:"incomplete_details"`
	Output wire.List[json.RawMessage] `json:"output"`
	Usage  json.RawMessage            `json:"usage"`
}

// ended combines the status with the name of the last event. A gateway that always uses the same name may
// report in the object that the reply was broken off.
func (w *whole) ended(status string) {
	switch w.Status {
	case "incomplete", "failed", "cancelled":
		if status == "completed" {
			return
		}
	}
	w.Status = wire.Name(status)
}

// finish checks the whole reply.
func (r *reply) finish(w *whole) error {
	r.ID, r.Model = string(w.ID), string(w.Model)
	r.Usage = usage(w.Usage)
	r.Settled = w.Status != "in_progress" && w.Status != "queued"
	if wire.Present(w.Error) {
		return r.exchange.Fault(w.Error)
	}
	switch w.Status {
	case "completed":
		r.Stop = provider.StopEnd
	case "incomplete":
		switch w.Incomplete.Reason {
		case "max_output_tokens", "":
			r.Stop = provider.StopLength
		case "content_filter":
			r.Stop = provider.StopFilter
		default:
			var err error
			if r.Stop, err = r.exchange.Ending("incomplete", string(w.Incomplete.Reason)); err != nil {
				return err
			}
		}
	case "in_progress", "queued":
		return r.exchange.Cut(io.ErrUnexpectedEOF)
	case "failed", "cancelled":
		return r.exchange.Broken(string(w.Status), "the server broke the reply off")
	default:
		return r.exchange.Invalid("no_output", "the answer has no reply in it")
	}
	return r.gather(w.Output)
}

// gathering is the output that has been read so far.
type gathering struct {
	silent   bool // nothing was streamed
	text     strings.Builder
	thoughts []json.RawMessage // since the last call
}

// gather reads the output items in order: tool calls, and the text if it was not streamed. If it was
// streamed, the texts must be equal.
func (r *reply) gather(output []json.RawMessage) error {
	if len(output) == 0 {
		for _, place := range slices.Sorted(maps.Keys(r.items)) {
			output = append(output, r.items[place])
		}
	}
	if len(output) == 0 {
		return nil // what was streamed is everything
	}
	g := gathering{silent: r.said.Len() == 0}
	for place, item := range output {
		if err := r.add(&g, place, item); err != nil {
			return err
		}
	}
	// Some servers trim one of the two. The parts of a reply that was broken off may be joined
	// differently.
	if r.Stop == provider.StopEnd && strings.TrimSpace(g.text.String()) != strings.TrimSpace(wire.Joined(r.said.String())) {
		return r.exchange.Invalid("contradiction", "the streamed text is not the text of the reply")
	}
	return nil
}

// add adds one output item. Items other than text, thoughts and calls are not part of the reply.
func (r *reply) add(g *gathering, place int, item json.RawMessage) error {
	var head struct {
		Type wire.Name `json:"type"`
	}
	if json.Unmarshal(item, &head) != nil {
		return r.malformed()
	}
	switch head.Type {
	case "message":
		from := g.text.Len()
		if from > 0 {
			from += len(paragraph)
		}
		words, err := r.words(item, from)
		if err != nil {
			return err
		}
		if words != "" && g.text.Len() > 0 {
			g.text.WriteString(paragraph)
		}
		g.text.WriteString(words)
		if g.silent {
			r.show(place, words)
		}
	case "reasoning":
		if r.mused == (thoughtPlace{}) {
			r.muse(item)
		}
		if !keepable(item) {
			item = r.items[place]
		}
		if keepable(item) {
			g.thoughts = append(g.thoughts, item)
		}
	case "function_call":
		err := r.call(item, g.thoughts)
		g.thoughts = nil
		return err
	}
	return nil
}

// muse adds the text of a thought that was not streamed, if it has one.
func (r *reply) muse(item json.RawMessage) {
	type text struct {
		Text string `json:"text"`
	}
	var thought struct {
		Summary wire.List[text] `json:"summary"`
		Content wire.List[text] `json:"content"`
	}
	if json.Unmarshal(item, &thought) != nil {
		return // it may still be given back
	}
	for _, t := range slices.Concat(thought.Summary, thought.Content) {
		r.ThinkApart()
		r.Think(t.Text)
	}
}

// words returns the text of a message that begins at a byte of the reply, and notes the sources that it names.
func (r *reply) words(item json.RawMessage, from int) (string, error) {
	var message struct {
		Content wire.List[struct {
			Type    wire.Name `json:"type"`
			Text    string    `json:"text"`
			Refusal string    `json:"refusal"`

			Annotations json.RawMessage `json:"annotations"`
		}] `json:"content"`
	}
	if json.Unmarshal(item, &message) != nil {
		return "", r.malformed()
	}
	var b strings.Builder
	for i := range message.Content {
		switch part := &message.Content[i]; part.Type {
		case "output_text":
			r.annotate(part.Annotations, from+b.Len())
			b.WriteString(part.Text)
		case "refusal":
			r.Refused = true
			b.WriteString(part.Refusal)
		}
	}
	return b.String(), nil
}

// annotate notes the sources of a text that begins at a byte of the reply. What cannot be read names none, and does not
// spoil the reply.
func (r *reply) annotate(data json.RawMessage, from int) {
	var list wire.List[annotation]
	if !wire.Present(data) || json.Unmarshal(data, &list) != nil {
		return
	}
	for _, a := range list {
		if a.Type == "url_citation" {
			r.CiteCharacters(provider.Citation{Title: a.Title, URL: a.URL, Start: int(a.Start), End: int(a.End)}, from)
		}
	}
}

// annotation is a source of a text. Its place is counted in characters of that text.
type annotation struct {
	Type  string     `json:"type"`
	URL   string     `json:"url"`
	Title string     `json:"title"`
	Start wire.Count `json:"start_index"`
	End   wire.Count `json:"end_index"`
}

// call adds a call with the thoughts that led to it. A call that was cut at the limit is dropped, even if
// it can be read.
func (r *reply) call(item json.RawMessage, thoughts []json.RawMessage) error {
	var c struct {
		ID        wire.Name `json:"call_id"`
		Name      wire.Name `json:"name"`
		Arguments string    `json:"arguments"`
		Status    wire.Name `json:"status"`
	}
	if json.Unmarshal(item, &c) != nil {
		return r.malformed()
	}
	if r.Stop != provider.StopEnd && c.Status == "incomplete" {
		return nil
	}
	at := r.Calls()
	if !r.Call(at, string(c.ID), string(c.Name), c.Arguments) {
		return r.exchange.Invalid("malformed", "more tool calls than a reply may have")
	}
	if len(thoughts) > 0 {
		r.Seal(at, r.owner, sealed{Thoughts: thoughts})
	}
	return nil
}

// usage reads a usage object. Anything else is the zero Usage.
func usage(data json.RawMessage) provider.Usage {
	var u struct {
		Input  wire.Count `json:"input_tokens"`
		Output wire.Count `json:"output_tokens"`
		Total  wire.Count `json:"total_tokens"`
		In     struct {
			Cached wire.Count `json:"cached_tokens"`
			Write  wire.Count `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		Out struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if !wire.Present(data) || json.Unmarshal(data, &u) != nil {
		return provider.Usage{}
	}
	return wire.Tokens{
		Input: u.Input, Output: u.Output, Total: u.Total, Cached: u.In.Cached, Written: u.In.Write, Reasoning: u.Out.Reasoning,
	}.Usage()
}
