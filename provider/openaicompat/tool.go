package openaicompat

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider/wire"
)

// toolCall is a call, or the piece of one that a chunk brings.
type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// add takes pieces of calls in; it reports whether each had a place.
func (r *reply) add(pieces []toolCall) bool {
	for _, p := range pieces {
		at := r.Calls() - 1
		switch {
		case p.Index != nil:
			at = *p.Index
		case p.ID != "" || at < 0:
			at++
		}
		if !r.Call(at, p.ID, p.Function.Name, wire.Plain(p.Function.Arguments)) {
			return false
		}
	}
	return true
}
