// Package adapter_test holds the tests of all vendors' adapters together, behind the engine.
package adapter_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// TestMain looks for goroutines that are left. OpenCensus, which a part of the SDKs imports, starts one of its own.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// adapters are the providers of this module at a server of the test's.
func adapters(url, key string, client *http.Client) map[string]provider.Provider {
	compat := openaicompat.Compatible(url+"/v1", key)
	compat.Client = client
	responses := openai.New(key)
	responses.BaseURL, responses.Client = url+"/v1", client
	messages := anthropic.New(key)
	messages.BaseURL, messages.Client = url, client
	gemini := google.New(key)
	gemini.BaseURL, gemini.Client = url, client
	local := ollama.New(url)
	local.Key, local.Client = provider.StaticKey(key), client
	const most = 1 << 18 // bytes of an answer
	compat.MaxBody, responses.MaxBody, messages.MaxBody, gemini.MaxBody, local.MaxBody = most, most, most, most, most
	return map[string]provider.Provider{
		"openaicompat": compat, "openai": responses, "anthropic": messages, "google": gemini, "ollama": local,
	}
}
