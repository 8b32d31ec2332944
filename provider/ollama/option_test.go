package ollama_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// TestAModelThatCannotThink: it is asked without, and that is remembered.
func TestAModelThatCannotThink(t *testing.T) {
	asks := 0
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asks++
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"think"`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"\"llama3.2\" does not support thinking"}`)
			return
		}
		_, _ = io.WriteString(w, `{"model":"llama3.2","message":{"role":"assistant","content":"Yes."},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}`+"\n")
	})
	p.Think = true
	for range 2 {
		r, err := p.Generate(t.Context(), &provider.Request{Model: "llama3.2", Last: provider.Message{Text: "Go."}}, func(provider.Chunk) {})
		require.NoError(t, err)
		assert.Equal(t, []string{"think"}, r.Left)
	}
	assert.Equal(t, 3, asks)
}
