package openai

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider/wire"
)

// sealed is what is kept with a tool call: the thoughts that led to the call, encrypted by the model for
// itself. Another model cannot read them, and OpenAI refuses them there.
type sealed struct {
	Thoughts []json.RawMessage `json:"reasoning"`
}

// owner returns whose the thoughts of a model are.
func (p *Provider) owner(model string) wire.Owner { return p.Owner(model, domain) }

// unseal reads the thoughts of a call that are kept for an owner.
func unseal(opaque json.RawMessage, owner wire.Owner) []json.RawMessage {
	thoughts := wire.Unseal[sealed](opaque, owner).Thoughts
	for _, t := range thoughts {
		if !keepable(t) {
			return nil
		}
	}
	return thoughts
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
