package bedrock

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider/wire"
)

// sealed is what is kept with a tool call: the thoughts that came before the call. They belong to the model that had
// them, in whatever region; another one may refuse them.
type sealed struct {
	Thoughts []thought `json:"thoughts"`
}

// thought is a signed thought, or a redacted one.
type thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// reasoned is a thought in a request.
type reasoned struct {
	Text     *signed `json:"reasoningText,omitempty"`
	Redacted string  `json:"redactedContent,omitempty"`
}

type signed struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// owner returns whose the thoughts are. Its regions are one owner.
func (p *Provider) owner(model string) wire.Owner {
	return p.Owner(baseModel(model), "amazonaws.com", "amazonaws.com.cn", "api.aws")
}

// unseal returns the thoughts that are kept for an owner.
func unseal(opaque json.RawMessage, owner wire.Owner) []*reasoned {
	s := wire.Unseal[sealed](opaque, owner)
	list := make([]*reasoned, len(s.Thoughts))
	for i, t := range s.Thoughts {
		if t.Redacted != "" {
			list[i] = &reasoned{Redacted: t.Redacted}
		} else {
			list[i] = &reasoned{Text: &signed{t.Text, t.Signature}}
		}
	}
	return list
}
