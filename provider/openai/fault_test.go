package openai_test

import (
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestFaults(t *testing.T) {
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := openai.New(s.Key)
			p.BaseURL, p.Client, p.API = s.URL+"/v1", s.Client, openai.Responses
			p.IdleTimeout, p.MaxBody = s.IdleTimeout, s.MaxBody
			if s.MaxLine > 0 {
				p.MaxLine = s.MaxLine
			}
			return p
		},
		Wholes: providertest.Wholes(t, "testdata/whole"),
		Faults: providertest.Faults(t, "testdata/fault"),
		Lacks: map[string]string{
			"budget-in-flight": "OpenAI takes no budget in advance",
			"moderation":       "OpenAI gives no reasons for a 403; what it filters is told as content_filter or as a policy",
		},
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
}
