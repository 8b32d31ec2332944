// Package adapter_test holds the tests of all vendors' adapters together, behind the engine.
package adapter_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/ollama"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/vertex"
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
	responses.BaseURL, responses.Client, responses.API = url+"/v1", client, openai.Responses
	messages := anthropic.New(key)
	messages.BaseURL, messages.Client = url, client
	gemini := google.New(key)
	gemini.BaseURL, gemini.Client = url, client
	local := ollama.New(url)
	local.Key, local.Client = provider.StaticKey(key), client
	signed := bedrock.New(aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: key, SecretAccessKey: key, SessionToken: key}, nil
	})})
	signed.BaseURL, signed.Client = url, client
	cloud := vertex.New("debates", "global", provider.StaticKey(key))
	cloud.Gemini.BaseURL, cloud.Gemini.Client = url, client
	const most = 1 << 18 // bytes of an answer
	compat.MaxBody, responses.MaxBody, messages.MaxBody, gemini.MaxBody, local.MaxBody = most, most, most, most, most
	signed.MaxBody, cloud.Gemini.MaxBody = most, most
	return map[string]provider.Provider{
		"openaicompat": compat, "openai": responses, "anthropic": messages, "google": gemini, "ollama": local,
		"bedrock": signed, "vertex": cloud,
	}
}
