package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const minThinking = 1024 // tokens, the vendor's minimum

// shares are how much of the limit of output goes to thinking, by effort. OpenRouter documents the same shares for the
// models of Anthropic that take a budget.
//
//nolint:gochecknoglobals // read only
var shares = map[provider.Effort]float64{
	provider.EffortMinimal: 0.1, provider.EffortLow: 0.2, provider.EffortMedium: 0.5, provider.EffortHigh: 0.8, provider.EffortMax: 0.95,
}

// thinking is how a request asks for thinking.
type thinking struct {
	adaptive bool
	budget   int64  // tokens; 0: none
	off      string // the type that switches it off; "": it is not switched off
	effort   string // "": the vendor's default
	shown    bool   // the vendor is asked for a text of the thoughts
}

// plan returns how a request asks for thinking: as its options say, and otherwise as the provider's fields do.
func (p *Provider) plan(req *provider.Request, maxTokens int64) thinking {
	plan := thinking{adaptive: p.AdaptiveThinking, effort: p.Effort}
	if p.ThinkingBudget > 0 && !p.AdaptiveThinking {
		plan.budget = max(int64(p.ThinkingBudget), minThinking)
	}
	o := req.Options
	if o == nil {
		return plan
	}
	t, known := traitsOf(req.Model)
	switch {
	case o.Effort == provider.EffortNone && t.adaptive:
		plan = thinking{off: t.off}
	case o.Effort == provider.EffortNone:
		plan = thinking{}
	case o.Effort != "":
		plan = thinking{adaptive: t.adaptive}
		plan.effort, _ = wire.Nearest(o.Effort, t.steps)
		if t.budget {
			plan.budget = max(int64(shares[o.Effort]*float64(maxTokens)), minThinking)
		}
	}
	if plan.shown = o.Reasoning == provider.ReasoningAsk && plan.off == ""; plan.shown && known && t.adaptive && plan.budget == 0 {
		plan.adaptive = true // the API takes the wish only there
	}
	return plan
}

// option returns the thinking option of a request. It is nil if no thinking is requested, or if thinking does not fit
// the limit of output or the conversation.
func (t *thinking) option(maxTokens int64, turns []turn) *thinkingOption {
	var option *thinkingOption
	switch {
	case t.off != "":
		return &thinkingOption{Type: t.off}
	case t.adaptive:
		option = &thinkingOption{Type: thinkingAdaptive}
	case t.budget > 0 && t.budget < maxTokens && thoughtful(turns):
		option = &thinkingOption{BudgetTokens: t.budget, Type: thinkingEnabled}
	default:
		return nil
	}
	if t.shown {
		option.Display = "summarized"
	}
	return option
}

// thoughtful reports whether the last message that calls tools begins with a thought. With a budget, the
// API refuses it otherwise; with adaptive thinking it does not.
func thoughtful(turns []turn) bool {
	for _, t := range slices.Backward(turns) {
		if slices.ContainsFunc(t.Content, func(c content) bool { return c.Type == typeToolUse }) {
			return t.Content[0].Type == typeThinking || t.Content[0].Type == typeRedacted
		}
	}
	return true
}

// sealed is what is kept with a tool call: the thoughts that came before the call.
type sealed struct {
	Thoughts []thought `json:"blocks"`
}

// thought is a block of type thinking, or of type redacted_thinking, which has only data.
type thought struct {
	Text      string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"redacted,omitempty"`
}

// owner returns whose the thoughts are. Signatures are valid at Anthropic and on Vertex AI alike, as Anthropic documents it.
func (p *Provider) owner() wire.Owner {
	domains := []string{"anthropic.com"}
	if p.Vertex != "" {
		domains = append(domains, "googleapis.com")
	}
	return p.Owner("", domains...)
}

// unseal returns the thoughts that are kept for an owner, as blocks of a request.
func unseal(opaque json.RawMessage, owner wire.Owner) []content {
	s := wire.Unseal[sealed](opaque, owner)
	blocks := make([]content, len(s.Thoughts))
	for i, t := range s.Thoughts {
		if t.Data != "" {
			blocks[i] = content{Data: t.Data, Type: typeRedacted}
		} else {
			blocks[i] = content{Signature: &t.Signature, Thinking: &t.Text, Type: typeThinking}
		}
	}
	return blocks
}
