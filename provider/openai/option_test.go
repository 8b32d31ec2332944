package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// TestRefusedParameters: what a model refuses is left out, and remembered for the model, in both APIs.
func TestRefusedParameters(t *testing.T) {
	answer := func(param, code, message string) string {
		data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": param, "code": code}})
		return string(data)
	}
	temperature := answer("temperature", "", "Unsupported parameter: 'temperature' is not supported with this model.")
	for _, tt := range []struct {
		name, holds, answer string
		left                []string
		api                 openai.API
	}{
		{"temperature", `"temperature"`, temperature, []string{"temperature"}, openai.Responses},
		{"temperature of a chat", `"temperature"`, temperature, []string{"temperature"}, openai.ChatCompletions},
		{"sealed thoughts", `"include"`, answer("include", "", "Encrypted content is not supported with this model."), nil, openai.Responses},
		{"bounds", `"minimum"`, answer("text.format.schema", "invalid_json_schema", "Invalid schema for response_format 's': In context=('properties', 'a'), 'minimum' is not permitted."), nil, openai.Responses},
		{"a strict schema", `"strict":true`, answer("text.format.schema", "invalid_json_schema", "Invalid schema for response_format 's': too deep"), []string{"text.format.strict"}, openai.Responses},
		{"a schema", `"json_schema"`, answer("text.format", "", "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model."), []string{"text.format"}, openai.Responses},
	} {
		t.Run(tt.name, func(t *testing.T) {
			picky := &adaptertest.Picky{Refuses: [][2]string{{tt.holds, tt.answer}}, Say: func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/chat/completions") {
					sayChat(w, "Yes.")
					return
				}
				say(w)
			}}
			p := serve(t, picky.ServeHTTP)
			p.API = tt.api
			req := request()
			warm := 0.5
			req.Temperature = &warm
			req.Tools = []provider.Tool{{Name: "now"}}
			req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","minimum":0}}}`)}
			last := picky.Learns(t, p, req, tt.left...)
			if tt.name == "a schema" {
				assert.Contains(t, last, "must match this JSON schema")
			}
		})
	}
}

// TestChatsKnowTheirModels: by Chat Completions too, a model of OpenAI is not asked for an effort that it does not have. Another
// server's models are asked.
func TestChatsKnowTheirModels(t *testing.T) {
	for base, requests := range map[string]int{"https://api.openai.com/v1": 0, "https://gateway.test/v1": 1} {
		sent := 0
		p := openai.New("k")
		p.BaseURL, p.API = base, openai.ChatCompletions
		p.Client = &http.Client{Transport: adaptertest.Transport(func(r *http.Request) (*http.Response, error) {
			sent++
			return (&adaptertest.Playback{Answer: refused}).RoundTrip(r)
		})}
		req := request()
		req.Model, req.Options = "gpt-4.1", &provider.Options{Effort: provider.EffortLow}
		_, err := ask(t, p, req)
		require.Error(t, err)
		assert.Equal(t, requests, sent, base)
	}
}
