package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func TestCheck(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"llama3"},{"id":"acme/m:latest"}]}`
	tests := map[string]struct {
		model  string
		status int
		body   string
		list   string // what /models answers; "": it must not be asked
		kind   provider.Kind
		code   string
	}{
		"known":              {"gpt-5", 200, `{"id":"gpt-5","object":"model","created":1,"owned_by":"system"}`, "", "", ""},
		"an alias":           {"gpt-5", 200, `{"id":"gpt-5-2025-08-07","object":"model"}`, "", "", ""},
		"a name with a path": {"acme/m", 200, `{"id":"acme/m"}`, "", "", ""},
		"unknown":            {"gpt-9", 404, `{"error":{"message":"The model 'gpt-9' does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, "", provider.KindValidation, "model_not_found"},
		"unknown to Ollama":  {"gpt-9", 404, `{"error":{"message":"model 'gpt-9' not found","type":"api_error"}}`, "", provider.KindValidation, "model_not_found"},
		"a wrong key":        {"gpt-5", 401, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-***4242"}}`, "", provider.KindAuthentication, "invalid_api_key"},
		"a key without":      {"gpt-5", 403, `{"error":{"code":"missing_scope","message":"Missing scopes: api.model.read"}}`, "", provider.KindAuthentication, "missing_scope"},
		"down":               {"gpt-5", 503, ``, "", provider.KindAPI, ""},
		"a failure":          {"gpt-5", 200, `{"error":{"message":"no","code":"insufficient_quota"}}`, "", provider.KindQuota, "insufficient_quota"},
		"a page":             {"gpt-5", 200, `<html></html>`, "", provider.KindInvalidResponse, "endpoint"},
		"LM Studio":          {"llama3", 200, `{"error":"Unexpected endpoint or method. (GET /models/llama3)"}`, list, "", ""},
		"no model":           {"gpt-5", 200, `{"object":"list","data":[]}`, "", provider.KindInvalidResponse, "not_a_model"},
		"only a list":        {"llama3", 404, `{"detail":"Not Found"}`, list, "", ""},
		"not in the list":    {"gpt-9", 404, `{"detail":"Not Found"}`, list, provider.KindValidation, "model_not_found"},
		"neither":            {"gpt-9", 405, ``, "404", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, http.MethodGet, r.Method)
				assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
				if r.URL.Path != "/v1/models" {
					assert.Equal(t, "/v1/models/"+tt.model, r.URL.Path)
					answerJSON(w, tt.status, tt.body)
					return
				}
				switch tt.list {
				case "":
					t.Error("the list was asked for")
				case "404":
					http.NotFound(w, r)
				default:
					answerJSON(w, 200, tt.list)
				}
			})
			err := p.Check(t.Context(), tt.model)
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.code, failure(t, err, tt.kind).Code)
		})
	}
}
