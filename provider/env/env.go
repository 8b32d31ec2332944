// Package env reads from the environment which vendors a program can use:
//
//	engine := &debate.Engine{Providers: env.FromEnv()}
//
// It is a module of its own because it depends on the adapters, which are modules. A program that needs one vendor
// imports that vendor's package instead.
package env

import (
	"net/netip"
	"os"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// FromEnv returns a provider for each vendor whose variable is set and not blank. The key of the map is
// the vendor's name in a model's name, as in "anthropic/claude-opus-4-1":
//
//	openai      OPENAI_API_KEY      and OPENAI_BASE_URL for another server
//	anthropic   ANTHROPIC_API_KEY   and ANTHROPIC_BASE_URL
//	google      GEMINI_API_KEY      or else GOOGLE_API_KEY
//	openrouter  OPENROUTER_API_KEY
//	mistral     MISTRAL_API_KEY
//	groq        GROQ_API_KEY
//	deepseek    DEEPSEEK_API_KEY
//	xai         XAI_API_KEY
//	moonshot    MOONSHOT_API_KEY
//	azure       AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT
//	snowflake   SNOWFLAKE_TOKEN     and SNOWFLAKE_ACCOUNT
//	ollama      OLLAMA_HOST         the server's address; OLLAMA_API_KEY if it wants one
//	vllm        VLLM_BASE_URL       and VLLM_API_KEY if it wants one
//	lmstudio    LMSTUDIO_BASE_URL   and LMSTUDIO_API_KEY if it wants one
//
// Vertex AI and Bedrock are not among them: their credentials may come from files and from other servers.
// vertex.Default and bedrock.New with the config of AWS find them.
//
// OPENAI_BASE_URL without a key is enough for a local server. The environment is read once. The map
// belongs to the caller; it is empty if no variable is set.
func FromEnv() map[string]provider.Provider { return From(os.LookupEnv) }

// From is FromEnv for another environment, such as one that was read from a file or a vault. lookup is
// called only during From.
func From(lookup func(name string) (string, bool)) map[string]provider.Provider {
	get := func(names ...string) string {
		for _, name := range names {
			if value, _ := lookup(name); strings.TrimSpace(value) != "" {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	all := map[string]provider.Provider{}
	if key, base := get("OPENAI_API_KEY"), get("OPENAI_BASE_URL"); key != "" || base != "" {
		all["openai"] = openAI(key, base)
	}
	if key := get("ANTHROPIC_API_KEY"); key != "" {
		p := anthropic.New(key)
		if base := get("ANTHROPIC_BASE_URL"); base != "" {
			p.BaseURL = base
		}
		all["anthropic"] = p
	}
	if key := get("GEMINI_API_KEY", "GOOGLE_API_KEY"); key != "" {
		all["google"] = google.New(key)
	}
	for name, compatible := range map[string]func(string) *openaicompat.Provider{
		"openrouter": openaicompat.OpenRouter, "mistral": openaicompat.Mistral, "groq": openaicompat.Groq,
		"deepseek": openaicompat.DeepSeek, "xai": openaicompat.XAI, "moonshot": openaicompat.Moonshot,
	} {
		if key := get(strings.ToUpper(name) + "_API_KEY"); key != "" {
			all[name] = compatible(key)
		}
	}
	if key, endpoint := get("AZURE_OPENAI_API_KEY"), get("AZURE_OPENAI_ENDPOINT"); key != "" && endpoint != "" {
		all["azure"] = openaicompat.Azure(endpoint, key)
	}
	if token, account := get("SNOWFLAKE_TOKEN"), get("SNOWFLAKE_ACCOUNT"); token != "" && account != "" {
		all["snowflake"] = openaicompat.Snowflake(account, token)
	}
	if host := get("OLLAMA_HOST"); host != "" {
		p := ollama.New(address(host))
		if key := get("OLLAMA_API_KEY"); key != "" {
			p.Key = provider.StaticKey(key)
		}
		all["ollama"] = p
	}
	if base := get("VLLM_BASE_URL"); base != "" {
		all["vllm"] = openaicompat.VLLM(base, get("VLLM_API_KEY"))
	}
	if base := get("LMSTUDIO_BASE_URL"); base != "" {
		all["lmstudio"] = openaicompat.LMStudio(base, get("LMSTUDIO_API_KEY"))
	}
	return all
}

// openAI returns a provider for OpenAI's server or another one. If key is empty, none is sent.
func openAI(key, base string) provider.Provider {
	p := openai.New(key)
	if base != "" {
		p.BaseURL = base
	}
	return p
}

// address returns the URL for a value of OLLAMA_HOST: a host, with or without scheme and port. An address
// that means all interfaces is replaced by this machine's.
func address(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	rest = strings.TrimSuffix(rest, "/")
	if ip, err := netip.ParseAddr(strings.Trim(rest, "[]")); err == nil && ip.Is6() { // without a port
		rest = "[" + strings.Trim(rest, "[]") + "]"
	} else if strings.HasPrefix(rest, ":") {
		rest = "127.0.0.1" + rest
	}
	rest = strings.Replace(rest, "0.0.0.0", "127.0.0.1", 1)
	if rest == "[::]" || strings.HasPrefix(rest, "[::]:") {
		rest = strings.Replace(rest, "[::]", "[::1]", 1)
	}
	if !ok && (strings.HasSuffix(rest, "]") || !strings.Contains(rest, ":")) {
		rest += ":11434"
	}
	return scheme + "://" + rest
}
