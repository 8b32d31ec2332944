package openai

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider/wire"
)

// sealed is the Opaque of a tool call: the thoughts that led to the call, encrypted by the model for
// itself. Another model cannot read them, and OpenAI refuses them there.
type sealed struct {
	Model    string            `json:"openai"`
	Thoughts []json.RawMessage `json:"reasoning"`
}

// seal encodes the Opaque of a call; nil if there is nothing to keep.
func seal(model string, thoughts []json.RawMessage) json.RawMessage {
	if len(thoughts) == 0 {
		return nil
	}
	opaque, err := json.Marshal(sealed{Model: model, Thoughts: thoughts})
	if err != nil {
		return nil
	}
	return opaque
}

// unseal reads the thoughts of a call that the same model made. An Opaque of another model or adapter has
// none.
func unseal(opaque json.RawMessage, model string) []json.RawMessage {
	var s sealed
	if len(opaque) == 0 || json.Unmarshal(opaque, &s) != nil || s.Model != model {
		return nil
	}
	for _, t := range s.Thoughts {
		if !keepable(t) {
			return nil
		}
	}
	return s.Thoughts
}

// keepable reports whether an output item is a thought that can be sent back. Without its content, it is
// only a reference to something that OpenAI did not store.
func keepable(item json.RawMessage) bool {
	var t struct {
		Type    string          `json:"type"`
		Sealed  string          `json:"encrypted_content"`
		Content json.RawMessage `json:"content"` // of open models
	}
	if json.Unmarshal(item, &t) != nil || t.Type != "reasoning" {
		return false
	}
	return t.Sealed != "" || (wire.Present(t.Content) && t.Content[0] == '[')
}
