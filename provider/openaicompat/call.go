package openaicompat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/provider/wire"
)

// toolCall is a tool call, or the piece of one in a chunk.
type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// slot is what tells a call of the reply apart from the others. Its place in the list is the call's in the reply.
type slot struct {
	id, name string
	index    int // -1: it has none
}

// newCall is the place of a call that has not begun.
const newCall = -1

// pieces adds the pieces of calls that a chunk has. ok is false if there are too many calls. added reports whether they
// are something new.
func (r *reply) pieces(list []toolCall) (added, ok bool) {
	for i := range list {
		p := &list[i]
		arguments := wire.Plain(p.Function.Arguments)
		at := r.place(p, arguments)
		added = added || at == newCall || arguments != "" && !r.repeats(at, arguments)
		if !r.extend(at, p, arguments) {
			return added, false
		}
	}
	return added, true
}

// wholes adds the calls of a message that may have been streamed before: the message so far, or the whole one.
func (r *reply) wholes(list []toolCall) (added, ok bool) {
	before := len(r.slots)
	used := map[int]bool{}
	for i := range list {
		p := &list[i]
		arguments := wire.Plain(p.Function.Arguments)
		at := newCall
		for k := range before {
			s := &r.slots[k]
			known := p.ID != "" && s.id == p.ID || k == i && s.name == p.Function.Name && (s.id == "" || p.ID == "")
			if known && !used[k] {
				at = k
				break
			}
		}
		if at == newCall {
			added = true
		} else {
			used[at] = true
			had, whole := r.Arguments(at)
			if len(arguments) > len(had) && (!whole || compact(had) == "{}") {
				r.Replace(at, arguments)
				added = true
			}
			arguments = ""
		}
		if !r.extend(at, p, arguments) {
			return added, false
		}
	}
	return added, true
}

// extend adds a piece of the call at a place. It fails if there are too many calls.
func (r *reply) extend(at int, p *toolCall, arguments string) bool {
	if at == newCall {
		at = len(r.slots)
	}
	if !r.Call(at, p.ID, p.Function.Name, arguments) {
		return false
	}
	if at == len(r.slots) {
		r.slots = append(r.slots, slot{index: -1})
	}
	s := &r.slots[at]
	if p.ID != "" {
		s.id = p.ID
	}
	if p.Function.Name != "" {
		s.name = p.Function.Name
	}
	if p.Index != nil {
		s.index = *p.Index
	}
	r.thoughts.sign(at, p.Extra)
	return true
}

// place returns where the call of a piece is. An id tells calls apart before an index does: some servers give all calls of a
// reply one index (ollama/ollama#15457), number them from 1 (AstrBotDevs/AstrBot#9593) or with gaps, or count the pieces. A
// piece without either begins a call if it has a name while the call before has one: Gemini's endpoint gives no index and
// an empty id. Otherwise it goes on with that call.
func (r *reply) place(p *toolCall, arguments string) int {
	last := len(r.slots) - 1
	name := p.Function.Name
	switch {
	case p.ID != "":
		for at := last; at >= 0; at-- {
			if s := &r.slots[at]; s.id == p.ID && !r.another(at, p, arguments) {
				return at
			}
		}
		// The id of a call that has begun without one.
		if at := r.indexed(p.Index); at >= 0 && r.slots[at].id == "" && !r.another(at, p, arguments) {
			return at
		}
		return newCall
	case p.Index != nil:
		at := r.indexed(p.Index)
		switch {
		case at >= 0 && r.another(at, p, arguments):
			return newCall
		case at >= 0:
			return at
		case last < 0, name != "" && !r.goesOn(last, name, arguments):
			return newCall
		}
		return last
	case last < 0, name != "" && r.slots[last].name != "":
		return newCall
	}
	return last
}

// indexed returns the latest call with an index, newCall if there is none.
func (r *reply) indexed(index *int) int {
	for at := len(r.slots) - 1; index != nil && at >= 0; at-- {
		if r.slots[at].index == *index {
			return at
		}
	}
	return newCall
}

// another reports whether a piece with the id or the index of a call is one of another call: it has another name, or other
// arguments that are whole.
func (r *reply) another(at int, p *toolCall, arguments string) bool {
	s := &r.slots[at]
	if p.Function.Name == "" || s.name == "" {
		return false
	}
	_, whole := r.Arguments(at)
	return p.Function.Name != s.name || whole && isObject(arguments) && !r.repeats(at, arguments)
}

// repeats reports whether a piece is all the arguments that have come of a call, or one of both is none.
func (r *reply) repeats(at int, arguments string) bool {
	had, whole := r.Arguments(at)
	had, arguments = compact(had), compact(arguments)
	return whole && (had == arguments || had == "{}" || arguments == "{}")
}

// compact returns a JSON value without white space, and anything else unchanged.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// goesOn reports whether a piece under a new index goes on with the last call: its arguments are in the middle.
func (r *reply) goesOn(last int, name, arguments string) bool {
	_, whole := r.Arguments(last)
	return !whole && r.slots[last].name == name && arguments != "" && !strings.HasPrefix(strings.TrimSpace(arguments), "{")
}

// isObject reports whether a text is a JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}
