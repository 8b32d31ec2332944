package openaicompat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// toolCall is a tool call, or the piece of one in a chunk.
type toolCall struct {
	Index    wire.Index      `json:"index"`
	ID       wire.Name       `json:"id"`
	Function called          `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
	called                   // some servers leave the wrapper out (acon96/home-llm#349)
}

// called is the tool of a call.
type called struct {
	Name      wire.Name       `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// slot is what tells a call of the reply apart from the others. Its place in the list is the call's in the reply.
type slot struct {
	id, name string
	index    int  // -1: it has none
	size     int  // bytes of arguments that came
	again    bool // its name came once more behind its whole arguments
}

// newCall is the place of a call that has not begun.
const newCall = -1

// piece is what a chunk has of a call.
type piece struct {
	*toolCall

	id, name  string
	arguments string
	value     string // the arguments without white space, if they are a whole JSON value
}

func pieceOf(call *toolCall) piece {
	p := piece{toolCall: call, id: string(call.ID), name: string(cmp.Or(call.Function.Name, call.Name))}
	if p.arguments = wire.Plain(call.Function.Arguments); p.arguments == "" {
		p.arguments = wire.Plain(call.Arguments)
	}
	if strings.TrimSpace(p.id) == "" { // vercel/ai#18440
		p.id = ""
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(p.arguments)) == nil {
		p.value = b.String()
	}
	return p
}

// pieces adds the pieces of calls that a chunk has. ok is false if there are too many calls. added reports whether they
// are something new.
func (r *reply) pieces(list []toolCall) (added, ok bool) {
	for i := range list {
		p := pieceOf(&list[i])
		at := r.place(&p)
		if at != newCall && r.repeats(at, &p) {
			p.arguments = ""
		}
		added = added || at == newCall || strings.TrimSpace(p.arguments) != ""
		if !r.extend(at, &p) {
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
		p := pieceOf(&list[i])
		at := newCall
		for k := range before {
			if !used[k] && r.known(k, i, &p) {
				at = k
				break
			}
		}
		if at == newCall {
			added = true
		} else {
			used[at] = true
			had := r.Arguments(at)
			if s := &r.slots[at]; len(p.arguments) > s.size && (had == "" || had == "{}") {
				r.Replace(at, p.arguments)
				s.size, added = len(p.arguments), true
			}
			p.arguments = ""
		}
		if !r.extend(at, &p) {
			return added, false
		}
	}
	return added, true
}

// known reports whether the call at a place of a message is one that has come. A gateway may give it another id than its
// pieces had.
func (r *reply) known(at, place int, p *piece) bool {
	s := &r.slots[at]
	if p.id != "" && s.id == p.id {
		return true
	}
	return at == place && s.name == p.name && (s.id == "" || p.id == "" || p.value != "" && p.value == r.Arguments(at))
}

// extend adds a piece of the call at a place. It fails if there are too many calls. A call keeps its first id.
func (r *reply) extend(at int, p *piece) bool {
	if at == newCall {
		at = len(r.slots)
	}
	id := p.id
	if at < len(r.slots) && r.slots[at].id != "" {
		id = ""
	}
	if !r.Call(at, id, p.name, p.arguments) {
		return false
	}
	if at == len(r.slots) {
		r.slots = append(r.slots, slot{index: -1})
	}
	s := &r.slots[at]
	s.size += len(p.arguments)
	moves := s.index < 0 || p.id != "" && p.id == s.id // an index that led to no call is that of its piece
	if id != "" {
		s.id = id
	}
	if p.name != "" {
		had := r.Arguments(at)
		s.name, s.again = p.name, p.arguments == "" && had != "" && had != "{}"
	}
	if index := p.Index.At(); index >= 0 && moves {
		s.index = index
	}
	r.thoughts.sign(at, p.Extra)
	return true
}

// place returns where the call of a piece is. An id tells calls apart before an index does: some servers give all calls of a
// reply one index (ollama/ollama#15457), number them from 1 (AstrBotDevs/AstrBot#9593) or with gaps, or count the pieces.
// Others change the id from piece to piece (poolsideai/pool#9), so only a name begins a call: a piece without one belongs to
// the latest call of its index, or else to the last call.
func (r *reply) place(p *piece) int {
	last := len(r.slots) - 1
	if last < 0 {
		return newCall
	}
	if at := r.spelled(p); at >= 0 {
		return at
	}
	at := r.identified(p)
	same := at >= 0
	if !same {
		at = r.indexed(p.Index.At())
		same = at >= 0 && (p.id == "" || r.slots[at].id == "" || r.slots[at].name == "") && !r.another(at, p)
	}
	if at < 0 {
		at = last
	}
	s := &r.slots[at]
	switch {
	case p.name == "" && s.again && strings.TrimSpace(p.arguments) != "" && !r.repeats(at, p):
		p.id, p.name = s.id, s.name // the server gives all calls one id
		return newCall
	case same, p.name == "", s.name == "" && p.Index.At() < 0, r.goesOn(at, p):
		return at
	}
	return newCall
}

// spelled returns the call of which a piece has the next part of the name, newCall if there is none. The part is added to what came
// before it: some models' names come in pieces (continuedev/continue#5849).
func (r *reply) spelled(p *piece) int {
	at := r.indexed(p.Index.At())
	if at < 0 {
		at = len(r.slots) - 1
	}
	s := &r.slots[at]
	if p.name == "" || s.name == "" || s.size > 0 || p.id != "" && s.id != "" && p.id != s.id {
		return newCall
	}
	name := s.name + p.name
	if slices.ContainsFunc(r.tools, func(t provider.Tool) bool { return t.Name == p.name }) ||
		!slices.ContainsFunc(r.tools, func(t provider.Tool) bool { return strings.HasPrefix(t.Name, name) }) {
		return newCall
	}
	p.name = name
	return at
}

// identified returns the latest call with the id of a piece, newCall if there is none.
func (r *reply) identified(p *piece) int {
	for at := len(r.slots) - 1; p.id != "" && at >= 0; at-- {
		if r.slots[at].id == p.id && !r.another(at, p) {
			return at
		}
	}
	return newCall
}

// indexed returns the latest call with an index, newCall if there is none.
func (r *reply) indexed(index int) int {
	for at := len(r.slots) - 1; index >= 0 && at >= 0; at-- {
		if r.slots[at].index == index {
			return at
		}
	}
	return newCall
}

// another reports whether a piece with the id or the index of a call is one of another call: it has another name, or begins
// other arguments behind whole ones, which {} are not.
func (r *reply) another(at int, p *piece) bool {
	s := &r.slots[at]
	if p.name == "" || s.name == "" {
		return false
	}
	had := r.Arguments(at)
	return p.name != s.name || had != "" && had != "{}" && p.begins() && !r.repeats(at, p)
}

// begins reports whether a piece has the beginning of arguments.
func (p *piece) begins() bool { return strings.HasPrefix(strings.TrimSpace(p.arguments), "{") }

// repeats reports whether a piece is all the arguments that have come of a call, or {} behind them.
func (r *reply) repeats(at int, p *piece) bool {
	had := r.Arguments(at)
	return had != "" && (had == p.value || p.value == "{}")
}

// goesOn reports whether a piece with the name of a call has the middle of its arguments.
func (r *reply) goesOn(at int, p *piece) bool {
	s := &r.slots[at]
	return s.name == p.name && s.size > 0 && r.Arguments(at) == "" && p.arguments != "" && !p.begins()
}
