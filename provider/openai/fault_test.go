package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
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
		Long:   longform.Asked(),
		NoSignal: map[string]string{
			"budget-in-flight": "OpenAI takes no budget in advance",
			"moderation":       "OpenAI gives no reasons for a 403; what it filters is told as content_filter or as a policy",
		},
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
	golden(t, "evidence.golden", h.Evidence(t))
	for _, f := range h.Faults {
		assert.NotEmpty(t, f.Source.Origin, "%s does not say where it is from", f.Name)
	}
	for _, w := range h.Wholes {
		assert.NotEmpty(t, w.Source.Origin, "%s does not say where it is from", w.Name)
	}
}

// Every code that the API description names for a reply that failed, and those of OpenAI's policies, which
// nobody else has: they mean the same wherever they are told.
func TestCodes(t *testing.T) {
	for code, want := range map[string]provider.Kind{
		"invalid_prompt":                 provider.KindContentFilter,
		"bio_policy":                     provider.KindContentFilter,
		"cyber_policy":                   provider.KindContentFilter,
		"misalignment_policy_violation":  provider.KindContentFilter,
		"image_content_policy_violation": provider.KindContentFilter,
		"data_residency_mismatch":        provider.KindValidation,
		"invalid_image":                  provider.KindValidation,
		"invalid_image_format":           provider.KindValidation,
		"invalid_base64_image":           provider.KindValidation,
		"invalid_image_url":              provider.KindValidation,
		"image_too_large":                provider.KindValidation,
		"image_too_small":                provider.KindValidation,
		"image_parse_error":              provider.KindValidation,
		"invalid_image_mode":             provider.KindValidation,
		"image_file_too_large":           provider.KindValidation,
		"unsupported_image_media_type":   provider.KindValidation,
		"empty_image_file":               provider.KindValidation,
		"failed_to_download_image":       provider.KindValidation,
		"image_file_not_found":           provider.KindValidation,
		"vector_store_timeout":           provider.KindTimeout,
	} {
		said := `"error":{"code":"` + code + `","message":"no"}`
		t.Run(code, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusBadRequest, "{"+said+"}") })
			_, err := ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "a reply")

			p = answering(t, delta("0", "Half"), `{"type":"response.failed","response":{"status":"failed",`+said+`}}`)
			_, err = ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "in a stream")
		})
	}
}
