package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

const minThinking = 1024 // tokens, the vendor's minimum

// thinking returns the thinking option of a request. It is empty if no thinking is requested, or if
// thinking does not fit the limit of output or the conversation.
func (p *Provider) thinking(maxTokens int64, messages []sdk.MessageParam) sdk.ThinkingConfigParamUnion {
	if p.AdaptiveThinking {
		return sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{}}
	}
	budget := max(int64(p.ThinkingBudget), minThinking)
	if p.ThinkingBudget <= 0 || budget >= maxTokens || !thoughtful(messages) {
		return sdk.ThinkingConfigParamUnion{}
	}
	return sdk.ThinkingConfigParamOfEnabled(budget)
}

// thoughtful reports whether the last message that calls tools begins with a thought. With a budget, the
// API refuses it otherwise; with adaptive thinking it does not.
func thoughtful(messages []sdk.MessageParam) bool {
	for _, m := range slices.Backward(messages) {
		blocks := m.Content
		if slices.ContainsFunc(blocks, func(b sdk.ContentBlockParamUnion) bool { return b.OfToolUse != nil }) {
			return blocks[0].OfThinking != nil || blocks[0].OfRedactedThinking != nil
		}
	}
	return true
}

// sealed is the Opaque of a tool call: the thoughts that came before the call.
type sealed struct {
	Thoughts []thought `json:"anthropic"`
}

// thought is a block of type thinking, or of type redacted_thinking, which has only data.
type thought struct {
	Text      string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"redacted,omitempty"`
}

// seal encodes thoughts; nil if there are none.
func seal(thoughts []thought) json.RawMessage {
	if len(thoughts) == 0 {
		return nil
	}
	data, _ := json.Marshal(sealed{thoughts}) //nolint:errchkjson // strings always marshal
	return data
}

// unseal returns the thoughts as blocks of a request. An Opaque of another adapter has none.
func unseal(opaque json.RawMessage) []sdk.ContentBlockParamUnion {
	var s sealed
	if len(opaque) == 0 || json.Unmarshal(opaque, &s) != nil {
		return nil
	}
	blocks := make([]sdk.ContentBlockParamUnion, len(s.Thoughts))
	for i, t := range s.Thoughts {
		if t.Data != "" {
			blocks[i] = sdk.NewRedactedThinkingBlock(t.Data)
		} else {
			blocks[i] = sdk.NewThinkingBlock(t.Signature, t.Text)
		}
	}
	return blocks
}
