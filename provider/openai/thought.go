package openai

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider/wire"
)

// sealed is what a tool call's Opaque holds: the thoughts that led to the call, as the model sealed them
// for itself. Another model cannot open them, and OpenAI refuses them there.
type sealed struct {
	Model    string            `json:"openai"`
	Thoughts []json.RawMessage `json:"reasoning"`
}

// seal writes the Opaque of a call; nil if there is nothing to keep.
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

// unseal reads the thoughts of a call that the same model made; what is not ours has none.
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

// keepable reports whether an output item is a thought that makes sense elsewhere. Without its content
// it is a mere reference to what OpenAI did not store.
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
