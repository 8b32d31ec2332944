package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

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

// OpenAI's policies have codes that nobody else has, wherever they are told.
func TestPolicies(t *testing.T) {
	for code, want := range map[string]provider.Kind{
		"invalid_prompt":                provider.KindContentFilter,
		"bio_policy":                    provider.KindContentFilter,
		"cyber_policy":                  provider.KindContentFilter,
		"misalignment_policy_violation": provider.KindContentFilter,
		"data_residency_mismatch":       provider.KindValidation,
	} {
		said := `"error":{"code":"` + code + `","message":"no"}`
		t.Run(code, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusBadRequest, "{"+said+"}") })
			_, err := ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "a reply")
			_, err = p.CountTokens(t.Context(), request())
			assert.Equal(t, code, failure(t, err, want).Code, "a count")
			_, err = p.Embed(t.Context(), "model-1", []string{"cars"})
			assert.Equal(t, code, failure(t, err, want).Code, "vectors")

			p = answering(t, delta("0", "Half"), `{"type":"response.failed","response":{"status":"failed",`+said+`}}`)
			_, err = ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "in a stream")
		})
	}
}
