package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/model"
)

// TestOwnTemperature: models that refuse a temperature are sent none, by whatever name they go.
func TestOwnTemperature(t *testing.T) {
	for name, own := range map[string]bool{
		"openai/gpt-4.1": false, "openai/gpt-4o": false, "openai/gpt-5": true, "openai/gpt-5-mini": true, "openai/gpt-5.2-chat": true,
		"openai/gpt-5-chat-latest": false, "openai/gpt-5.1-chat-latest": true, "openai/gpt-5.2-chat-latest": true,
		"openai/gpt-5.3-chat-latest": true, "openai/gpt-5.1": true, "openai/gpt-5.5-instant": false, "openai/gpt-6-astra": true,
		"openai/ft:o4-mini-2025-04-16:acme::abc": true, "openai/ft:gpt-5-mini:acme::abc": true, "openai/ft:gpt-4.1-mini:acme::abc": false,
		"openai/codex-mini-latest": true, "openai/O3": true, "ollama/olmo-3": false, "ollama/o": false,
		"moonshot/kimi-k2.5": true, "moonshot/kimi-k2.6": true, "moonshot/kimi-k2.7-code": true, "openrouter/moonshotai/kimi-k2.6": true,
		"moonshot/kimi-k2-thinking": false, "moonshot/kimi-k2-0905-preview": false, "moonshot/kimi-latest": false,
		"bedrock/anthropic.claude-opus-4-7-v1:0": true, "bedrock/us.anthropic.claude-opus-4-8": true,
		"bedrock/global.anthropic.claude-sonnet-5-v1:0": true, "bedrock/eu.anthropic.claude-opus-4-6-v1": false,
		"bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0": false, "bedrock/moonshotai.kimi-k2.5": false,
		"vertex/claude-opus-4-7@20260416": true, "vertex/claude-opus-4-5@20251101": false, "google/claude-opus-4@default": false,
		"openai/gpt-6-oss": false, "openai/gpt-oss-20b": false, "openai/o1": true, "openai/o3-mini": true, "openai/o4-mini": true,
		"anthropic/claude-3-7-sonnet-20250219": false, "anthropic/claude-4-opus-20250514": false, "anthropic/claude-opus-4-20250514": false,
		"anthropic/claude-opus-4-6": false, "anthropic/claude-opus-4-6-20260205": false, "anthropic/claude-opus-4-7": true,
		"anthropic/claude-opus-4-7-20260416": true, "anthropic/claude-opus-4-8": true, "anthropic/claude-sonnet-4-6": false,
		"anthropic/claude-haiku-4-5-20251001": false, "anthropic/claude-opus-5": true, "anthropic/claude-sonnet-5": true,
		"anthropic/claude-fable-5": true, "anthropic/claude-new-7-1-20290101": true, "anthropic/claude-opus": false, "anthropic/claude-x-y": false,
		"openrouter/anthropic/claude-opus-4.7": true, "openrouter/anthropic/claude-opus-4.5": false, "openrouter/anthropic/claude-sonnet-5.5": true,
		"openrouter/openai/gpt-5": true, "mistral/mistral-small-latest": false, "google/gemini-2.5-flash": false,
	} {
		_, id, _ := strings.Cut(name, "/")
		assert.Equal(t, own, model.OwnTemperature(id), name)
	}
}
