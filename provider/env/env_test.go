package env_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

const canary = "sk-canary-5f1d7a0c93be"

func from(vars map[string]string) map[string]provider.Provider {
	return env.From(func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	})
}

func TestFrom(t *testing.T) {
	tests := map[string]struct {
		vars map[string]string
		want []string // names
	}{
		"nothing":               {nil, nil},
		"blank":                 {map[string]string{"OPENAI_API_KEY": " \n", "OLLAMA_HOST": ""}, nil},
		"openai":                {map[string]string{"OPENAI_API_KEY": canary}, []string{"openai"}},
		"a server of one's own": {map[string]string{"OPENAI_BASE_URL": "http://box/v1"}, []string{"openai"}},
		"google's other name":   {map[string]string{"GOOGLE_API_KEY": canary}, []string{"google"}},
		"all": {map[string]string{
			"OPENAI_API_KEY": canary, "ANTHROPIC_API_KEY": canary, "GEMINI_API_KEY": canary, "OPENROUTER_API_KEY": canary,
			"MISTRAL_API_KEY": canary, "GROQ_API_KEY": canary, "DEEPSEEK_API_KEY": canary, "XAI_API_KEY": canary,
			"MOONSHOT_API_KEY": canary, "AZURE_OPENAI_API_KEY": canary, "AZURE_OPENAI_ENDPOINT": "https://acme.openai.azure.com/",
			"SNOWFLAKE_TOKEN": canary, "SNOWFLAKE_ACCOUNT": "acme", "LMSTUDIO_BASE_URL": "http://box:1234/v1",
			"OLLAMA_HOST": "box", "VLLM_BASE_URL": "http://box:8000/v1",
		}, []string{
			"anthropic", "azure", "deepseek", "google", "groq", "lmstudio", "mistral", "moonshot", "ollama", "openai", "openrouter",
			"snowflake", "vllm", "xai",
		}},
		"half of what is needed": {map[string]string{"AZURE_OPENAI_API_KEY": canary, "SNOWFLAKE_ACCOUNT": "acme"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := from(tt.vars)
			assert.Equal(t, tt.want, slices.Sorted(maps.Keys(got)))
			for name, p := range got {
				v, ok := provider.As[provider.Vendor](p)
				require.True(t, ok)
				assert.Equal(t, name, v.Vendor(), "the model table knows it by this name")
				for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
					assert.NotContains(t, fmt.Sprintf(format, p), canary)
				}
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	all := from(map[string]string{
		"OPENAI_API_KEY": canary + "\n", "OPENAI_BASE_URL": "http://box/v1", "ANTHROPIC_API_KEY": canary,
		"ANTHROPIC_BASE_URL": "http://proxy", "GEMINI_API_KEY": "first", "GOOGLE_API_KEY": "second",
		"OLLAMA_HOST": "https://ollama.example/", "OLLAMA_API_KEY": canary, "VLLM_BASE_URL": "http://box:8000/v1", "VLLM_API_KEY": canary,
	})
	keyOf := func(k provider.Key) string {
		key, err := k(t.Context())
		require.NoError(t, err)
		return key
	}
	o := all["openai"].(*openai.Provider)
	assert.Equal(t, "http://box/v1", o.BaseURL)
	assert.Equal(t, canary, keyOf(o.Key), "without what a file adds")
	assert.Equal(t, "http://proxy", all["anthropic"].(*anthropic.Provider).BaseURL)
	assert.Equal(t, "first", keyOf(all["google"].(*google.Provider).Key))
	assert.Equal(t, "https://ollama.example", all["ollama"].(*ollama.Provider).BaseURL)
	assert.Equal(t, canary, keyOf(all["ollama"].(*ollama.Provider).Key))
	v := all["vllm"].(*openaicompat.Provider)
	assert.Equal(t, "http://box:8000/v1", v.BaseURL)
	assert.Equal(t, canary, keyOf(v.Key))

	for host, want := range map[string]string{
		"box": "http://box:11434", "box:80": "http://box:80", ":8080": "http://127.0.0.1:8080", "0.0.0.0": "http://127.0.0.1:11434",
		"0.0.0.0:1234": "http://127.0.0.1:1234", "http://box": "http://box", "https://box/": "https://box",
		"::1": "http://[::1]:11434", "[::1]": "http://[::1]:11434", "[::1]:80": "http://[::1]:80", "fe80::1": "http://[fe80::1]:11434",
		"::": "http://[::1]:11434", "[::]:80": "http://[::1]:80", "http://[::1]": "http://[::1]", "http://[::1]:80": "http://[::1]:80",
	} {
		assert.Equal(t, want, from(map[string]string{"OLLAMA_HOST": host})["ollama"].(*ollama.Provider).BaseURL, host)
	}
}

func TestFromEnv(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY",
		"GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "OLLAMA_HOST", "VLLM_BASE_URL",
		"MOONSHOT_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "SNOWFLAKE_TOKEN", "SNOWFLAKE_ACCOUNT", "LMSTUDIO_BASE_URL",
	} {
		t.Setenv(name, "")
	}
	assert.Empty(t, env.FromEnv())
	t.Setenv("MISTRAL_API_KEY", canary)
	assert.Equal(t, []string{"mistral"}, slices.Sorted(maps.Keys(env.FromEnv())))
}

func ExampleFrom() {
	vault := map[string]string{"ANTHROPIC_API_KEY": "…", "OLLAMA_HOST": "localhost"}
	providers := env.From(func(name string) (string, bool) {
		value, ok := vault[name]
		return value, ok
	})
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		fmt.Println(name, providers[name])
	}
	// Output:
	// anthropic anthropic
	// ollama ollama
}
