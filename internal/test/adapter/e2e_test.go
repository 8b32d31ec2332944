//go:build vendors

package adapter_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/provider/vertex"
)

// models are small ones, by vendor. DEBATE_MODEL_OPENAI and its like name others.
var models = map[string]string{
	"openai":     "gpt-5-nano",
	"anthropic":  "claude-haiku-4-5",
	"google":     "gemini-2.5-flash-lite",
	"openrouter": "openai/gpt-5-nano",
	"mistral":    "mistral-small-latest",
	"groq":       "openai/gpt-oss-20b",
	"deepseek":   "deepseek-chat",
	"xai":        "grok-4-fast-non-reasoning",
	"ollama":     "",
	"vllm":       "",
	"vertex":     "gemini-2.5-flash-lite",
	"bedrock":    "us.amazon.nova-micro-v1:0",
}

// TestVendors holds a debate with each vendor whose key is set, and prints its cost:
//
//	go test -tags vendors -run TestVendors -v ./internal/test/adapter
//
// It costs money (0.05 USD at most for each vendor whose price is known), so that only the build tag runs it.
func TestVendors(t *testing.T) {
	all := env.FromEnv()
	clouds(t, all)
	if len(all) == 0 {
		t.Skip("no vendor's key is set")
	}
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			model := cmp.Or(os.Getenv("DEBATE_MODEL_"+strings.ToUpper(name)), models[name])
			if model == "" {
				t.Skipf("set DEBATE_MODEL_%s to a model of the server", strings.ToUpper(name))
			}
			checked(t, p, model)
			hold(t, name, model, p)
		})
	}
}

// clouds adds the clouds whose project or region is set. Their credentials are where their own tools look for them.
func clouds(t *testing.T, all map[string]provider.Provider) {
	t.Helper()
	if os.Getenv("GOOGLE_CLOUD_PROJECT") != "" {
		p, err := vertex.Default(t.Context())
		require.NoError(t, err)
		all["vertex"] = p
	}
	if os.Getenv("AWS_REGION") != "" {
		cfg, err := config.LoadDefaultConfig(t.Context())
		require.NoError(t, err)
		all["bedrock"] = bedrock.New(cfg)
	}
}
