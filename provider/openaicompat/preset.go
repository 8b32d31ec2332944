package openaicompat

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

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
	p.KeyPath, p.Thoughts = "key", ThoughtsDetails
	return p
}

// Mistral returns a Provider for api.mistral.ai. Its own models behind other servers may need the field ShortIDs
// too.
func Mistral(key string) *Provider {
	p := vendor("mistral", "https://api.mistral.ai/v1", key)
	p.NoStreamOptions, p.ShortIDs = true, true
	return p
}

// Groq returns a Provider for api.groq.com. With tools, a schema is only described in the last message.
func Groq(key string) *Provider {
	p := vendor("groq", "https://api.groq.com/openai/v1", key)
	p.MaxCompletionTokens, p.WholeSchema, p.SchemaOrTools, p.NoBounds = true, true, true, true
	return p
}

// DeepSeek returns a Provider for api.deepseek.com. Its reasoning models require alternating roles.
func DeepSeek(key string) *Provider {
	p := vendor("deepseek", "https://api.deepseek.com/v1", key)
	p.JSONObject, p.JoinRoles, p.Thoughts = true, true, ThoughtsAlways
	return p
}

// XAI returns a Provider for api.x.ai.
func XAI(key string) *Provider { return vendor("xai", "https://api.x.ai/v1", key) }

// Moonshot returns a Provider for api.moonshot.ai, the maker of Kimi. Keys of its Chinese platform are for
// another host: set BaseURL to "https://api.moonshot.cn/v1".
func Moonshot(key string) *Provider {
	p := vendor("moonshot", "https://api.moonshot.ai/v1", key)
	p.Thoughts = ThoughtsText
	return p
}

// Gemini returns a Provider for the compatible endpoint of Google's Gemini API. Package provider/google
// speaks Google's own API. The vendor is "google": both have its models.
func Gemini(key string) *Provider {
	p := vendor("google", "https://generativelanguage.googleapis.com/v1beta/openai", key)
	p.Thoughts = ThoughtsSignature
	return p
}

// Snowflake returns a Provider for the chat completions of Cortex, Snowflake's REST API. account is the
// name in the host of the account ("myorg-myaccount"), or a base URL. token is a programmatic access
// token; for another kind of token, set the header X-Snowflake-Authorization-Token-Type.
func Snowflake(account, token string) *Provider {
	if !strings.Contains(account, "://") {
		account = "https://" + account + ".snowflakecomputing.com/api/v2/cortex/v1"
	}
	p := vendor("snowflake", account, token)
	p.MaxCompletionTokens, p.NoFinishReason = true, true
	return p
}

// Azure returns a Provider for a resource of Azure OpenAI, by its name, or by a base URL:
//
//	myresource                                                        its v1 endpoint; models are deployments
//	https://myresource.openai.azure.com                               the same
//	https://myresource.openai.azure.com/openai/v1                     the same
//	https://myresource.openai.azure.com/openai/deployments/mydeployment?api-version=2024-10-21
//	                                                                  one deployment, of a version of the older API
//
// The key is sent as the header api-key. For a token of Entra ID, set Key to a function that returns one,
// and Authorize to nil.
func Azure(resource, key string) *Provider {
	if !strings.Contains(resource, "://") {
		resource = "https://" + resource + ".openai.azure.com"
	}
	if u, err := url.Parse(resource); err == nil && strings.Trim(u.Path, "/") == "" {
		resource = u.JoinPath("openai/v1").String()
	}
	p := vendor("azure", resource, key)
	p.MaxCompletionTokens = true
	p.Authorize = func(header http.Header, key string) { header.Set("Api-Key", key) }
	return p
}

// Ollama returns a Provider for the compatible endpoint of an Ollama server, "http://localhost:11434/v1"
// if baseURL is empty. It sends truncate false, so that a conversation that is too long fails with kind
// context_overflow instead of losing its beginning. Some servers ignore that field at this endpoint, but
// not in their own API; use package ollama for them. Neighbouring messages of one role are joined.
func Ollama(baseURL string) *Provider {
	return joining("ollama", cmp.Or(baseURL, "http://localhost:11434/v1"), "")
}

// VLLM returns a Provider for a vLLM server, "http://localhost:8000/v1" if baseURL is empty. If key is
// empty, none is sent. Neighbouring messages of one role are joined, because many models' templates
// refuse them.
func VLLM(baseURL, key string) *Provider {
	return joining("vllm", cmp.Or(baseURL, "http://localhost:8000/v1"), key)
}

// LMStudio returns a Provider for the server of LM Studio, "http://localhost:1234/v1" if baseURL is empty. If
// key is empty, none is sent. Neighbouring messages of one role are joined, because many models' templates
// refuse them.
func LMStudio(baseURL, key string) *Provider {
	return joining("lmstudio", cmp.Or(baseURL, "http://localhost:1234/v1"), key)
}

// Compatible returns a Provider for any other server: a gateway, llama.cpp. If key is empty,
// none is sent. Neighbouring messages of one role are joined, because it is unknown what the server's
// models refuse.
func Compatible(baseURL, key string) *Provider { return joining("", baseURL, key) }

// joining returns a Provider that joins neighbouring messages of one role.
func joining(name, baseURL, key string) *Provider {
	p := vendor(name, baseURL, key)
	p.JoinRoles = true
	return p
}

func vendor(name, baseURL, key string) *Provider {
	p := &Provider{Endpoint: wire.Endpoint{BaseURL: baseURL}, VendorName: name, Dialect: dialects[name]}
	if key != "" {
		p.Key = provider.StaticKey(key)
	}
	return p
}
