package bedrock

import "encoding/json"

// seal is sent back to the model with a tool call ([provider.ToolCall.Opaque]): the thoughts that came
// before the call. They belong to the model that had them; another one may refuse them.
type seal struct {
	Vendor   string    `json:"vendor"`
	Model    string    `json:"model"` // without the region of a profile, which may change
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

// opaque encodes a seal; nil if there are no thoughts.
func (s seal) opaque() json.RawMessage {
	if len(s.Thoughts) == 0 {
		return nil
	}
	s.Vendor = vendor
	data, _ := json.Marshal(s) //nolint:errchkjson // strings always marshal
	return data
}

// unseal returns the thoughts in an Opaque if they are of that model.
func unseal(opaque json.RawMessage, model string) []*reasoned {
	var s seal
	if len(opaque) == 0 || json.Unmarshal(opaque, &s) != nil || s.Vendor != vendor || s.Model != baseModel(model) {
		return nil
	}
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
