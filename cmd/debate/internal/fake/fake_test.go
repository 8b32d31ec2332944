package fake_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/fake"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

// ask asks a server through the adapter for OpenAI.
func ask(t *testing.T, server *fake.Server, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	p := openai.New("sk-of-the-test")
	p.BaseURL = listening.URL + "/v1"
	req.Model = "gpt-4.1"
	return p.Generate(t.Context(), req, func(provider.Chunk) {})
}

func TestAnswersAndFaults(t *testing.T) {
	for name, chatOnly := range map[string]bool{"responses": false, "chat completions": true} {
		t.Run(name, func(t *testing.T) {
			said := func(rule fake.Rule) (*provider.Response, error) {
				return ask(t, &fake.Server{ChatOnly: chatOnly, Rules: []fake.Rule{rule}},
					&provider.Request{ID: "one/r1.propose.ada/1", Last: provider.Message{Text: "Design a cache."}})
			}
			got, err := said(fake.Rule{})
			require.NoError(t, err)
			assert.Equal(t, "What r1.propose.ada says.", got.Text)
			got, err = said(fake.Rule{Text: "Héllo, wörld!"})
			require.NoError(t, err)
			assert.Equal(t, "Héllo, wörld!", got.Text)
			for want, rule := range map[provider.Kind]fake.Rule{
				provider.KindAuthentication: {Status: 401},
				provider.KindRateLimit:      {Status: 429, RetryAfter: "2"},
				provider.KindAPI:            {Status: 500},
				provider.KindNetwork:        {Fault: fake.FaultCut},
			} {
				_, err := said(rule)
				var failure *provider.Error
				require.ErrorAs(t, err, &failure)
				assert.Equal(t, want, failure.Kind, "%v", rule)
				if want == provider.KindRateLimit {
					assert.Equal(t, 2*time.Second, failure.RetryAfter)
				}
			}
			got, err = said(fake.Rule{Fault: fake.FaultLength})
			require.NoError(t, err)
			assert.Equal(t, provider.StopLength, got.Stop)
			got, err = said(fake.Rule{Fault: fake.FaultRefusal})
			require.NoError(t, err)
			assert.Equal(t, provider.StopRefusal, got.Stop)
		})
	}
}

func TestRulesThatAreNoRules(t *testing.T) {
	for _, text := range []string{`{}`, `[{"cal": "r1.*"}]`, `[{"delay": "soon"}]`} {
		_, err := fake.ParseRules([]byte(text))
		assert.Error(t, err, text)
	}
}
