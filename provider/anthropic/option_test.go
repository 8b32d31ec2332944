package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// TestRefusedParameters: what a model refuses is left out, and remembered for the model.
func TestRefusedParameters(t *testing.T) {
	refuse := func(message string) string {
		data, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": message}})
		return string(data)
	}
	for _, tt := range []struct{ name, holds, answer, left string }{
		{"temperature", `"temperature"`, refuse("`temperature` is deprecated for this model."), "temperature"},
		{"effort", `"effort"`, refuse("This model does not support the effort parameter."), "output_config.effort"},
		{"thinking", `"budget_tokens"`, refuse(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".`), "thinking"},
		{"bounds", `"minItems"`, refuse("output_config.format.schema: For 'array' type, 'minItems' values other than 0 or 1 are not supported"), ""},
		{"a large schema", `"format"`, refuse("Schema is too complex for compilation."), "output_config.format"},
		{"schema", `"format"`, refuse("output_config.format: Extra inputs are not permitted"), "output_config.format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			picky := &adaptertest.Picky{Refuses: [][2]string{{tt.holds, tt.answer}}, Say: func(w http.ResponseWriter, _ *http.Request) { say(w) }}
			p := serve(t, picky.ServeHTTP)
			req := request()
			req.MaxTokens = 9000
			switch warm := 0.5; tt.name {
			case "thinking":
				p.ThinkingBudget = 2000
			case "effort":
				p.Effort = "low"
			default:
				req.Temperature = &warm
				req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"type":"string"}}}}`)}
			}
			var left []string
			if tt.left != "" {
				left = []string{tt.left}
			}
			assert.Contains(t, picky.Learns(t, p, req, left...), "Open.")
		})
	}
}

// TestBoundsOfASchema: of the bounds, the API gets those that its guide names.
func TestBoundsOfASchema(t *testing.T) {
	for bound, kept := range map[string]bool{
		`"minItems":0`: true, `"minItems":1`: true, `"minItems":2`: false, `"maxItems":3`: false, `"minimum":0`: false, `"maximum":10`: false,
		`"multipleOf":2`: false, `"minLength":1`: false, `"pattern":"^a"`: false, `"format":"date"`: true, `"format":"phone"`: false,
	} {
		p, bodies := recording(t)
		req := request()
		req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},` + bound + `}},"required":["a"]}`,
		)}
		adaptertest.Answer(t, p, req)
		assert.Equal(t, kept, strings.Contains(string((*bodies)[0]), bound), bound)
	}
}
