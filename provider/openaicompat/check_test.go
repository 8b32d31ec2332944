package openaicompat_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

func TestCheck(t *testing.T) {
	list := `{"object":"list","data":[{"id":"gpt-5"},{"id":"llama3:latest"},{"id":"acme/one"}]}`
	tests := []struct {
		name   string
		model  string
		status int
		list   string
		single int // status of /models/{model}
		want   provider.Kind
	}{
		{"listed", "gpt-5", 200, list, 500, ""},
		{"latest", "llama3", 200, list, 500, ""},
		{"variant", "acme/one:free", 200, list, 500, ""},
		{"known by name", "models/alias", 200, list, 200, ""},
		{"unknown", "gone", 200, list, 404, provider.KindValidation},
		{"no look-up", "gone", 200, list, 405, ""},
		{"broken look-up", "gone", 200, list, 500, provider.KindAPI},
		{"no list", "any", 404, "", 500, ""},
		{"no method", "any", 405, "", 500, ""},
		{"page", "any", 200, "<html>", 500, ""},
		{"empty list", "any", 200, `{"data":[]}`, 500, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, http.MethodGet, r.Method)
				assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
				if r.URL.Path == "/v1/models" {
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.list)
					return
				}
				assert.Equal(t, "/v1/models/"+tt.model, r.URL.Path)
				w.WriteHeader(tt.single)
			})
			err := p.Check(t.Context(), tt.model)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			failure(t, err, tt.want)
		})
	}
}

func ExampleCompatible() {
	local := openaicompat.Compatible("http://localhost:11434/v1", "") // Ollama
	local.VendorName = "ollama"
	fmt.Println(local.Vendor(), local.BaseURL)
	// Output: ollama http://localhost:11434/v1
}
