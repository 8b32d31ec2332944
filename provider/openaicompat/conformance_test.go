package openaicompat_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, connect)
	providertest.RunAbilities(t, connect)
	providertest.RunThoughts(t, connect)
}

func connect(t *testing.T, s providertest.Scenario) provider.Provider {
	t.Helper()
	server := httptest.NewServer(adaptertest.Chat{Scenario: s, JSONObject: true})
	t.Cleanup(server.Close)
	p := openaicompat.Compatible(server.URL+"/v1", s.Key)
	p.Client = server.Client()
	return p
}

// presets are the vendors' settings by the names that fixtures have for the vendors.
func presets() map[string]func(key string) *openaicompat.Provider {
	return map[string]func(key string) *openaicompat.Provider{
		"openai": openaicompat.OpenAI, "openrouter": openaicompat.OpenRouter, "mistral": openaicompat.Mistral, "groq": openaicompat.Groq,
		"deepseek": openaicompat.DeepSeek, "xai": openaicompat.XAI, "moonshot": openaicompat.Moonshot, "gemini": openaicompat.Gemini,
		"snowflake": func(key string) *openaicompat.Provider { return openaicompat.Snowflake("acme", key) },
		"azure":     func(key string) *openaicompat.Provider { return openaicompat.Azure("acme", key) },
		"lmstudio":  func(key string) *openaicompat.Provider { return openaicompat.LMStudio("", key) },
		"vllm":      func(key string) *openaicompat.Provider { return openaicompat.VLLM("", key) },
		"ollama": func(key string) *openaicompat.Provider {
			p := openaicompat.Ollama("")
			p.Key = provider.StaticKey(key)
			return p
		},
	}
}

// preset returns the settings of a vendor, those of any server if it has none.
func preset(vendor string) func(key string) *openaicompat.Provider {
	if p, ok := presets()[vendor]; ok {
		return p
	}
	return func(key string) *openaicompat.Provider { return openaicompat.Compatible("", key) }
}

// TestPresetsConform: each preset speaks the protocol as its server wants it, and loses nothing by that.
func TestPresetsConform(t *testing.T) {
	for name, preset := range presets() {
		t.Run(name, func(t *testing.T) {
			if name != "vllm" && name != "openrouter" {
				longform.Lone(t) // a preset is fields of a provider, whose goroutines are those of the two others
			}
			at := func(t *testing.T, s providertest.Scenario) provider.Provider {
				t.Helper()
				server := httptest.NewServer(adaptertest.Chat{Scenario: s, JSONObject: true})
				t.Cleanup(server.Close)
				p := preset(s.Key)
				p.BaseURL, p.Client = server.URL+"/v1", server.Client()
				return p
			}
			providertest.Run(t, at)
			providertest.RunAbilities(t, at)
			providertest.RunThoughts(t, at)
		})
	}
}

func TestFaults(t *testing.T) {
	names := []string{
		"stream_openai", "stream_openrouter", "stream_deepseek", "stream_think_tags", "stream_tools", "stream_no_done", "stream_cr_only",
		"stream_crlf_bom_events", "stream_second_choice_ignored", "whole_json", "whole_json_tools",
	}
	var wholes []providertest.Whole
	answers := fixtures(t, "answer/*.http")
	for _, name := range names {
		r, _, err := ask(t, played(answers[name]), request()) // its golden file holds what it says
		require.NoError(t, err)
		wholes = append(wholes, providertest.Whole{Name: name, Answer: answers[name], Text: r.Text})
	}
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := preset(s.Vendor)(s.Key)
			p.BaseURL = s.URL + "/v1"
			p.Client, p.IdleTimeout, p.MaxBody, p.MaxLine = s.Client, s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		Wholes: append(wholes, providertest.Wholes(t, "testdata/whole")...),
	}, names...)
}

// What the preset for OpenAI sends to /chat/completions is what OpenAI describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	adaptertest.Published(t, "openai.json", "CreateChatCompletionRequest", "openai.json", "preset_openai.golden", "preset_openai_tools.golden")
}
