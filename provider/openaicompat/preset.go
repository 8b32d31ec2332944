package openaicompat

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// OpenAI returns a Provider for api.openai.com. The nested module provider/openai also supports the
// vendor's newer Responses API.
func OpenAI(key string) *Provider {
	p := vendor("openai", "https://api.openai.com/v1", key)
	p.MaxCompletionTokens = true
	return p
}

// OpenRouter returns a Provider for openrouter.ai.
func OpenRouter(key string) *Provider {
	p := vendor("openrouter", "https://openrouter.ai/api/v1", key)
	p.KeyPath = "key"
	return p
}

// Mistral returns a Provider for api.mistral.ai. Its own models behind other servers may need the fields
// AssistantAfterTools and ShortIDs too.
func Mistral(key string) *Provider {
	p := vendor("mistral", "https://api.mistral.ai/v1", key)
	p.NoStreamOptions, p.AssistantAfterTools, p.ShortIDs = true, true, true
	return p
}

// Groq returns a Provider for api.groq.com. With tools, a schema is only described in the last message.
func Groq(key string) *Provider {
	p := vendor("groq", "https://api.groq.com/openai/v1", key)
	p.MaxCompletionTokens, p.WholeSchema, p.SchemaOrTools = true, true, true
	return p
}

// DeepSeek returns a Provider for api.deepseek.com. Its reasoning models require alternating roles.
func DeepSeek(key string) *Provider {
	p := vendor("deepseek", "https://api.deepseek.com/v1", key)
	p.JSONObject, p.JoinRoles = true, true
	return p
}

// XAI returns a Provider for api.x.ai.
func XAI(key string) *Provider { return vendor("xai", "https://api.x.ai/v1", key) }

// Ollama returns a Provider for the compatible endpoint of an Ollama server, "http://localhost:11434/v1"
// if baseURL is empty. It sends truncate false, so that a conversation that is too long fails with kind
// context_overflow instead of losing its beginning. Some servers ignore that field at this endpoint, but
// not in their own API; use package ollama for them. Neighbouring messages of one role are joined.
func Ollama(baseURL string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:11434/v1"
	}
	p := vendor("ollama", baseURL, "")
	p.Extra, p.JoinRoles = map[string]any{"truncate": false}, true
	return p
}

// VLLM returns a Provider for a vLLM server, "http://localhost:8000/v1" if baseURL is empty. If key is
// empty, none is sent. Neighbouring messages of one role are joined, because many models' templates
// refuse them.
func VLLM(baseURL, key string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:8000/v1"
	}
	p := vendor("vllm", baseURL, key)
	p.JoinRoles = true
	return p
}

// Compatible returns a Provider for any other server: a gateway, llama.cpp, LM Studio. If key is empty,
// none is sent. Neighbouring messages of one role are joined, because it is unknown what the server's
// models refuse.
func Compatible(baseURL, key string) *Provider {
	p := vendor("", baseURL, key)
	p.JoinRoles = true
	return p
}

func vendor(name, baseURL, key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL}, VendorName: name}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}
