package openaicompat

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/agonist-dev/debate/provider"
)

const maxToolCalls = 128 // in one reply

// toolCall is a call, or the piece of one that a chunk brings.
type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// toolCalls puts calls together from their pieces.
type toolCalls []partialCall

type partialCall struct {
	id, name  string
	arguments bytes.Buffer
}

// add takes pieces in; it reports whether each had a place.
func (t *toolCalls) add(pieces []toolCall) bool {
	for _, p := range pieces {
		at := len(*t) - 1
		switch {
		case p.Index != nil:
			at = *p.Index
		case p.ID != "" || at < 0:
			at++
		}
		if at < 0 || at > len(*t) || at >= maxToolCalls {
			return false
		}
		if at == len(*t) {
			*t = append(*t, partialCall{})
		}
		call := &(*t)[at]
		if p.ID != "" {
			call.id = p.ID
		}
		if p.Function.Name != "" {
			call.name = p.Function.Name
		}
		call.arguments.WriteString(plain(p.Function.Arguments))
	}
	return true
}

// done yields the calls; ok is false if the arguments of one are not JSON.
func (t *toolCalls) done() (calls []provider.ToolCall, ok bool) {
	for i := range *t {
		call := &(*t)[i]
		arguments := call.arguments.Bytes()
		if len(bytes.TrimSpace(arguments)) == 0 {
			arguments = []byte("{}")
		}
		if !json.Valid(arguments) || call.name == "" {
			return nil, false
		}
		id := call.id
		if id == "" {
			id = "call_" + strconv.Itoa(i)
		}
		calls = append(calls, provider.ToolCall{ID: id, Name: call.name, Arguments: arguments})
	}
	return calls, true
}
