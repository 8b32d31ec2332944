package ollama_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   provider.Kind
		says   string
	}{
		{"there", 200, `{"details":{"family":"llama"},"capabilities":["completion","tools"]}`, "", ""},
		{"old server", 200, `{"details":{"family":"llama"}}`, "", ""},
		{"embeds alone", 200, `{"capabilities":["embedding"]}`, provider.KindValidation, "model-1 cannot chat"},
		{"not there", 404, `{"error":"model 'model-1' not found"}`, provider.KindValidation, "ollama pull model-1"},
		{"no such path", 404, "404 page not found", provider.KindValidation, "nothing at /api/show below BaseURL: check the path of BaseURL"},
		{"bad name", 400, `{"error":"invalid model name"}`, provider.KindValidation, "invalid model name"},
		{"error under 200", 200, `{"error":"upstream ` + canary + `"}`, provider.KindAPI, "upstream"},
		{"page", 200, "<html>", provider.KindInvalidResponse, "BaseURL"},
		{"cut", 200, `{"details":{"fam`, provider.KindNetwork, ""},
		{"nothing", 200, ``, provider.KindInvalidResponse, ""},
		{"another kind of answer", 200, `[1]`, provider.KindInvalidResponse, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				assert.Equal(t, "POST /api/show", r.Method+" "+r.URL.Path)
				assert.JSONEq(t, `{"model":"model-1"}`, string(body))
				assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			err := p.Check(t.Context(), "model-1")
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Contains(t, failure(t, err, tt.want).Message, tt.says)
		})
	}
}

// The name of a model is shown, but not at any length, and without what controls a terminal.
func TestLongNames(t *testing.T) {
	long := answering(t, 404, `{"error":"model not found"}`)
	e := failure(t, long.Check(t.Context(), string(bytes.Repeat([]byte("\x1b[2J"), 1<<10))), provider.KindValidation)
	assert.Less(t, len(e.Message), 1000)
	assert.NotContains(t, e.Message, "\x1b")
}
