package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/agonist-dev/debate/provider/wire"
)

const maxItems = 1 << 10 // 128 calls, each with its thoughts, and words between

// reply reads an answer of the Responses API.
type reply struct {
	*wire.Reply

	exchange *wire.Exchange
	begun    func()                  // called when something of a reply has come
	owner    wire.Owner              // of the thoughts
	said     strings.Builder         // the text so far, as it came
	at       int                     // the output item that the text belongs to
	items    map[int]json.RawMessage // finished output items, by index
	mused    thoughtPlace            // of the last piece of thoughts; zero: none was streamed
}

// read reads the answer to its end. It fails if the reply is not complete.
func (r *reply) read() error {
	body := bufio.NewReaderSize(r.exchange, 8<<10)
	first, err := wire.FirstByte(body)
	switch {
	case err != nil:
		return r.exchange.Cut(err)
	case first == '{', first == '[':
		return r.readWhole(body)
	case first == '<':
		return r.exchange.Unexpected([]byte{first}, "not_a_reply", "")
	}
	events := r.exchange.EventsIn(body)
	for {
		e, err := events.Next()
		if err != nil {
			return r.exchange.Cut(err)
		}
		if ended, err := r.take(e.Kind, e.Data); err != nil || ended {
			return err
		}
	}
}

// readWhole reads an answer that is one JSON document. Some servers do not stream when they are asked to,
// and failures under a status of 200 have this form.
func (r *reply) readWhole(body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return r.exchange.Cut(err)
	}
	var w whole
	if err := json.Unmarshal(data, &w); err != nil {
		if errors.Is(err, wire.ErrLong) {
			return r.malformed()
		}
		cut := json.NewDecoder(bytes.NewReader(data)).Decode(new(json.RawMessage))
		if errors.Is(cut, io.ErrUnexpectedEOF) {
			return r.exchange.Cut(cut)
		}
		return r.exchange.Unexpected(data, "malformed", "the answer does not follow the protocol") // Google's list, or an error that is a text
	}
	if w.Status == "" && r.exchange.IsFault(data) {
		return r.exchange.Fault(data)
	}
	if w.Status != "" {
		r.begun()
	}
	return r.finish(&w)
}

// take adds one event. ended reports that it was the last.
func (r *reply) take(kind string, data []byte) (ended bool, err error) {
	if len(data) == 0 || data[0] != '{' {
		list := len(data) > 0 && data[0] == '[' // Google's form of an error
		if kind == "error" || (list && r.exchange.IsFault(data)) {
			return true, r.exchange.Fault(data)
		}
		return false, nil // "[DONE]", or something unknown
	}
	var head struct {
		Type  wire.Name       `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &head) != nil {
		return true, r.malformed()
	}
	name := cmp.Or(string(head.Type), kind)
	if strings.HasPrefix(name, "response.") {
		r.begun()
	}
	switch name {
	case "response.output_text.delta", "response.refusal.delta":
		return false, r.say(name, data)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return false, r.think(name, data)
	case "response.output_item.done":
		return false, r.keep(data)
	case "response.completed", "response.incomplete", "response.failed":
		var last struct {
			Response *whole `json:"response"`
		}
		if json.Unmarshal(data, &last) != nil || last.Response == nil {
			return true, r.malformed()
		}
		last.Response.ended(strings.TrimPrefix(name, "response."))
		return true, r.finish(last.Response)
	case "error":
		return true, r.exchange.Fault(data)
	case "", "message": // an event of a gateway
		if r.exchange.IsFault(data) {
			return true, r.exchange.Fault(data)
		}
	}
	return false, nil
}

func (r *reply) malformed() error {
	return r.exchange.Invalid("malformed", "a part of the answer does not follow the protocol")
}

// say adds a piece of the text, or of the words with which the model declines.
func (r *reply) say(name string, data []byte) error {
	var delta struct {
		Place wire.Index `json:"output_index"`
		Text  wire.Text  `json:"delta"`
	}
	if json.Unmarshal(data, &delta) != nil {
		return r.malformed()
	}
	if name == "response.refusal.delta" {
		r.Refused = true
	}
	r.show(delta.Place.At(), string(delta.Text))
	return nil
}

// think adds a piece of the text of thoughts: of a summary, or of the thoughts themselves, which open models show.
func (r *reply) think(name string, data []byte) error {
	var delta struct {
		Item    wire.Index `json:"output_index"`
		Summary wire.Index `json:"summary_index"`
		Content wire.Index `json:"content_index"`
		Text    wire.Text  `json:"delta"`
	}
	if json.Unmarshal(data, &delta) != nil {
		return r.malformed()
	}
	place := thoughtPlace{name, delta.Item, delta.Summary, delta.Content}
	if place != r.mused {
		r.mused = place
		r.ThinkApart()
	}
	r.Think(string(delta.Text))
	return nil
}

// thoughtPlace is a text of thoughts: the kind of event that has it, and its indexes.
type thoughtPlace struct {
	name                   string
	item, summary, content wire.Index
}

// show passes on a piece of the message at an index. Messages are separated as paragraphs.
func (r *reply) show(place int, text string) {
	if text == "" {
		return
	}
	if r.said.Len() > 0 && place != r.at {
		text = paragraph + text
	}
	r.at = place
	r.said.WriteString(text)
	if r.Refused { // the model's thoughts are over
		r.Show(text)
		return
	}
	r.Say(text)
}

const paragraph = "\n\n"

// keep keeps a finished output item: some servers omit it from their last event, or omit its encrypted
// content there.
func (r *reply) keep(data []byte) error {
	var done struct {
		Place wire.Index      `json:"output_index"`
		Item  json.RawMessage `json:"item"`
	}
	if json.Unmarshal(data, &done) != nil {
		return r.malformed()
	}
	if r.items == nil {
		r.items = map[int]json.RawMessage{}
	}
	if len(r.items) == maxItems {
		return r.malformed()
	}
	if !wire.Present(done.Item) {
		return nil
	}
	place := done.Place.At()
	if place < 0 {
		place = len(r.items)
	}
	r.items[place] = done.Item
	return nil
}
