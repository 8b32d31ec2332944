package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

// entryVersion changes with the fields of an entry. Entries of other versions are not read.
const entryVersion = 1

// entry is a reply as it is stored, in JSON. Its texts are in canonical form, except Opaque, which only
// its owner may change.
type entry struct {
	Version   int                 `json:"version"`
	Key       string              `json:"key"` // it detects a store that mixes up its values
	Text      string              `json:"text,omitempty"`
	Calls     []entryCall         `json:"calls,omitempty"`
	Stop      provider.StopReason `json:"stop"`
	ID        string              `json:"id,omitempty"`
	Model     string              `json:"model,omitempty"`
	Reasoning string              `json:"reasoning,omitempty"`
	Citations []provider.Citation `json:"citations,omitempty"` // with their places in the text as it came
	Size      int                 `json:"size,omitempty"`      // bytes of that text, if there are citations
	Uncited   int                 `json:"uncited,omitempty"`
	Left      []string            `json:"left,omitempty"`
}

// entryCall is a [provider.ToolCall]. Strings keep the bytes of JSON exactly as they are.
type entryCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
	Opaque    string `json:"opaque,omitempty"`
}

// codec writes and reads the stored form of replies to one request.
type codec struct {
	key    string
	fences *fences
	limit  int // bytes
}

// encode returns the stored form of a reply, or nil if the reply is not to be stored.
func (c *codec) encode(r *provider.Response) []byte {
	if r == nil {
		return nil
	}
	held := *r // the places of sources as the engine takes them
	held.Citations = slices.Clone(r.Citations)
	for i := range held.Citations {
		held.Citations[i] = held.Citations[i].Within(r.Text)
	}
	if r = &held; whole(r) != nil {
		return nil
	}
	e := entry{
		Version: entryVersion, Key: c.key, Text: c.fences.hide(r.Text), Stop: r.Stop, ID: r.ID, Model: r.Model,
		Reasoning: c.fences.hide(r.Reasoning), Uncited: r.Uncited, Left: r.Left,
	}
	for _, source := range r.Citations {
		source.Title, source.Quote = c.fences.hide(source.Title), c.fences.hide(source.Quote)
		e.Citations, e.Size = append(e.Citations, source), len(r.Text)
	}
	for i := range r.Calls {
		t := &r.Calls[i]
		e.Calls = append(e.Calls, entryCall{
			ID: c.fences.hide(t.ID), Name: c.fences.hide(t.Name),
			Arguments: c.fences.hide(string(t.Arguments)), Opaque: string(t.Opaque),
		})
	}
	value, err := json.Marshal(&e)
	if err != nil || len(value) > c.limit {
		return nil
	}
	return value
}

// decode reads a value from a store. The value may be anything.
func (c *codec) decode(value []byte) (*provider.Response, error) {
	if len(value) > c.limit {
		return nil, errTooLong
	}
	var e entry
	if err := json.Unmarshal(value, &e); err != nil {
		return nil, fmt.Errorf("the value cannot be read: %w", err)
	}
	switch {
	case e.Version != entryVersion:
		return nil, fmt.Errorf("the value is of version %d", e.Version)
	case e.Key != c.key:
		return nil, errors.New("the value is another request's")
	}
	var failure error
	left := c.limit
	show := func(form string) (text string) {
		if failure == nil {
			text, failure = c.fences.show(form, left)
			left -= len(text)
		}
		return text
	}
	r := &provider.Response{
		Text: show(e.Text), Stop: e.Stop, ID: e.ID, Model: e.Model, Reasoning: show(e.Reasoning), Uncited: e.Uncited, Left: e.Left,
		Cached: true,
	}
	for _, source := range e.Citations {
		source.Title, source.Quote = show(source.Title), show(source.Quote)
		if len(r.Text) != e.Size { // this request's fence words are longer or shorter: places have moved
			source.Start, source.End = 0, 0
		}
		r.Citations = append(r.Citations, source)
	}
	for i := range e.Calls {
		t := &e.Calls[i]
		call := provider.ToolCall{ID: show(t.ID), Name: show(t.Name)}
		if t.Arguments != "" {
			call.Arguments = json.RawMessage(show(t.Arguments))
		}
		if t.Opaque != "" {
			call.Opaque = json.RawMessage(t.Opaque)
		}
		r.Calls = append(r.Calls, call)
	}
	if failure != nil {
		return nil, failure
	}
	return r, whole(r)
}

// whole returns why a reply is not complete enough to be stored or returned from the store.
func whole(r *provider.Response) error {
	switch {
	case r == nil:
		return errors.New("there is no reply")
	case r.Stop != provider.StopEnd && r.Stop != provider.StopTool:
		return errors.New("the reply is not complete")
	case strings.TrimSpace(r.Text) == "" && len(r.Calls) == 0:
		return errors.New("the reply is blank")
	}
	// JSON would change bytes that are not valid UTF-8.
	valid := utf8.ValidString(r.Text) && utf8.ValidString(r.Model) && utf8.ValidString(r.ID) && utf8.ValidString(r.Reasoning)
	for _, c := range r.Citations {
		valid = valid && utf8.ValidString(c.Title) && utf8.ValidString(c.URL) && utf8.ValidString(c.Quote)
		valid = valid && c.Start >= 0 && c.Start <= c.End && c.End <= len(r.Text)
	}
	for _, name := range r.Left {
		valid = valid && utf8.ValidString(name)
	}
	for i := range r.Calls {
		t := &r.Calls[i]
		valid = valid && utf8.ValidString(t.ID) && utf8.ValidString(t.Name) && sound(t.Arguments) && sound(t.Opaque)
	}
	if !valid {
		return errors.New("the reply holds invalid UTF-8, invalid JSON or a source without a place")
	}
	return nil
}

// sound reports whether a part of a tool call is valid JSON or empty.
func sound(raw json.RawMessage) bool {
	return len(raw) == 0 || json.Valid(raw) && utf8.Valid(raw)
}
