package openaicompat

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// OpenAI is a Provider for api.openai.com. The nested module provider/openai speaks the vendor's newer
// Responses API too.
func OpenAI(key string) *Provider {
	p := vendor("openai", "https://api.openai.com/v1", key)
	p.MaxCompletionTokens = true
	return p
}

// OpenRouter is a Provider for openrouter.ai.
func OpenRouter(key string) *Provider {
	p := vendor("openrouter", "https://openrouter.ai/api/v1", key)
	p.KeyPath = "key"
	return p
}

// Mistral is a Provider for api.mistral.ai. Its own models behind other servers may want the fields
// AssistantAfterTools and ShortIDs too.
func Mistral(key string) *Provider {
	p := vendor("mistral", "https://api.mistral.ai/v1", key)
	p.NoStreamOptions, p.AssistantAfterTools, p.ShortIDs = true, true, true
	return p
}

// Groq is a Provider for api.groq.com. With tools, a schema is asked for in words alone.
func Groq(key string) *Provider {
	p := vendor("groq", "https://api.groq.com/openai/v1", key)
	p.MaxCompletionTokens, p.WholeSchema, p.SchemaOrTools = true, true, true
	return p
}

// DeepSeek is a Provider for api.deepseek.com, whose reasoning models want roles to alternate.
func DeepSeek(key string) *Provider {
	p := vendor("deepseek", "https://api.deepseek.com/v1", key)
	p.JSONObject, p.JoinRoles = true, true
	return p
}

// XAI is a Provider for api.x.ai.
func XAI(key string) *Provider { return vendor("xai", "https://api.x.ai/v1", key) }

// Ollama is a Provider for the compatible endpoint of an Ollama server, "http://localhost:11434/v1" if
// baseURL is empty. It asks with truncate false, so that a conversation that is too long fails with kind
// context_overflow instead of losing its beginning. Servers that do not heed it there do so in
// their own API, which package ollama speaks. Neighbours of one role are joined.
func Ollama(baseURL string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:11434/v1"
	}
	p := vendor("ollama", baseURL, "")
	p.Extra, p.JoinRoles = map[string]any{"truncate": false}, true
	return p
}

// VLLM is a Provider for a vLLM server, "http://localhost:8000/v1" if baseURL is empty. An empty key
// sends none. Neighbours of one role are joined, because many models' templates refuse them.
func VLLM(baseURL, key string) *Provider {
	if baseURL == "" {
		baseURL = "http://localhost:8000/v1"
	}
	p := vendor("vllm", baseURL, key)
	p.JoinRoles = true
	return p
}

// Compatible is a Provider for any other server: a gateway, llama.cpp, LM Studio. An empty key sends
// none. Neighbours of one role are joined, because nobody knows what the server's models refuse.
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
