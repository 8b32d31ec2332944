package openaicompat_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func TestModels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		list   string
		want   []string
		fault  provider.Kind
	}{
		{"in the server's order", 200, `{"object":"list","data":[{"id":"llama3:latest"},{"id":"acme/one"},{"id":""},{}]}`, []string{"llama3:latest", "acme/one"}, ""},
		{"none", 200, `{"data":[]}`, nil, ""},
		{"another shape", 200, `{"data":["llama3"]}`, nil, ""},
		{"a page", 200, "<html>", nil, ""},
		{"no list", 404, "", nil, ""},
		{"no method", 405, "", nil, ""},
		{"refused key", 401, `{"error":{"message":"bad key ` + canary + `"}}`, nil, provider.KindAuthentication},
		{"down", 503, "", nil, provider.KindAPI},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/v1/models", r.URL.Path)
				assert.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.list)
			})
			names, err := p.Models(t.Context())
			assert.Equal(t, tt.want, names)
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			failure(t, err, tt.fault)
		})
	}
}
