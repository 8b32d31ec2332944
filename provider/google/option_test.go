package google_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/google"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// TestRefusedParameters: what a model refuses is left out, and remembered for the model.
func TestRefusedParameters(t *testing.T) {
	for _, tt := range []struct{ name, holds, message, left string }{
		{"thinking", "thinkingConfig", "Thinking level is not supported for this model.", "generationConfig.thinkingConfig"},
		{"a level, on Vertex AI", "thinkingConfig", "This cannot be sent because thinking_level MEDIUM is not supported by this model.", "generationConfig.thinkingConfig"},
		{"no thinking", "thinkingConfig", "Thinking is not enabled for models/gemini-2.5-flash-image", "generationConfig.thinkingConfig"},
		{"thoughts without thinking", "thinkingConfig", "This cannot be sent because Thinking_config.include_thoughts is only enabled when thinking is enabled.", "generationConfig.thinkingConfig"},
		{"always thinking", "thinkingConfig", "Budget 0 is invalid. This model only works in thinking mode.", "generationConfig.thinkingConfig"},
		{"an unknown field", "thinkingConfig", "Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.", "generationConfig.thinkingConfig"},
		{"JSON", "responseMimeType", "JSON mode is not enabled for models/gemma-3-27b-it", "generationConfig.responseMimeType"},
		{"a large schema", "responseJsonSchema", "The specified schema produces a constraint that has too many states for serving.", "generationConfig.responseJsonSchema"},
		{"the schema", "responseJsonSchema", "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.", "generationConfig.responseJsonSchema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, _ := json.Marshal(map[string]any{"error": map[string]any{"code": 400, "message": tt.message, "status": "INVALID_ARGUMENT"}})
			picky := &adaptertest.Picky{Refuses: [][2]string{{tt.holds, string(answer)}}, Say: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, yes)
			}}
			server := httptest.NewServer(picky)
			defer server.Close()
			p := google.New(canary)
			p.BaseURL = server.URL
			p.Thinking = &google.Thinking{Level: "LOW"}
			req := request()
			req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","minimum":0}}}`)}
			last := picky.Learns(t, p, req, tt.left)
			if tt.name == "JSON" {
				assert.NotContains(t, last, "responseJsonSchema", "there is none without JSON")
			}
		})
	}
}
