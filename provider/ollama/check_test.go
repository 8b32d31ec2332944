package ollama_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/ollama"
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
		{"refused", 401, `{"error":"unauthorized ` + canary + `"}`, provider.KindAuthentication, ""},
		{"down", 503, ``, provider.KindAPI, ""},
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

func TestCheckIsBounded(t *testing.T) {
	p := answering(t, 200, `{"license":"`+string(bytes.Repeat([]byte("x"), 1<<20))+`"}`)
	p.MaxBody = 1 << 16
	failure(t, p.Check(t.Context(), "x"), provider.KindInvalidResponse)
	failure(t, (&ollama.Provider{}).Check(t.Context(), "x"), provider.KindValidation)

	long := answering(t, 404, `{"error":"model not found"}`)
	e := failure(t, long.Check(t.Context(), string(bytes.Repeat([]byte("\x1b[2J"), 1<<10))), provider.KindValidation)
	assert.Less(t, len(e.Message), 1000)
	assert.NotContains(t, e.Message, "\x1b")
}

func TestEmbed(t *testing.T) {
	var body []byte
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		assert.Equal(t, "POST /api/embed", r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, `{"model":"nomic-embed-text","embeddings":[[0.5,-1],[0.25,2]],"total_duration":14143917,"prompt_eval_count":8}`)
	})
	got, err := p.Embed(t.Context(), "nomic-embed-text", []string{"a <b>", ""})
	require.NoError(t, err)
	assert.Equal(t, &provider.Embedding{
		Vectors: [][]float32{{0.5, -1}, {0.25, 2}}, Usage: provider.Usage{Input: 8}, Model: "nomic-embed-text",
	}, got)
	assert.JSONEq(t, `{"model":"nomic-embed-text","input":["a <b>",""],"truncate":false}`, string(body))

	p.NumCtx, p.KeepAlive = 2048, time.Minute
	_, err = p.Embed(t.Context(), "nomic-embed-text", []string{"a", "b"})
	require.NoError(t, err)
	var sent map[string]any
	require.NoError(t, json.Unmarshal(body, &sent))
	assert.Equal(t, map[string]any{"num_ctx": 2048.0}, sent["options"])
	assert.Equal(t, "1m0s", sent["keep_alive"])

	body = nil
	got, err = p.Embed(t.Context(), "nomic-embed-text", nil)
	require.NoError(t, err)
	assert.Empty(t, got.Vectors)
	assert.Nil(t, body, "nothing was asked")
}

func TestEmbedFails(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   provider.Kind
	}{
		{"too long", 400, `{"error":"the input length exceeds the context length"}`, provider.KindContextOverflow},
		{"cannot be cut", 500, `{"error":"input exceeds maximum context length and cannot be truncated further"}`, provider.KindContextOverflow},
		{"not there", 404, `{"error":"model \"x\" not found, try pulling it first"}`, provider.KindValidation},
		{"too few", 200, `{"embeddings":[[1,2]]}`, provider.KindInvalidResponse},
		{"none", 200, `{}`, provider.KindInvalidResponse},
		{"of two lengths", 200, `{"embeddings":[[1,2],[1]]}`, provider.KindInvalidResponse},
		{"empty", 200, `{"embeddings":[[],[]]}`, provider.KindInvalidResponse},
		{"no numbers", 200, `{"embeddings":[["a"],["b"]]}`, provider.KindInvalidResponse},
		{"out of range", 200, `{"embeddings":[[1e300],[1]]}`, provider.KindInvalidResponse},
		{"cut", 200, `{"embeddings":[[1,2],[1`, provider.KindNetwork},
		{"error under 200", 200, `{"error":"no with ` + canary + `"}`, provider.KindAPI},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answering(t, tt.status, tt.body).Embed(t.Context(), "x", []string{"a", "b"})
			failure(t, err, tt.want)
			assert.Nil(t, got)
		})
	}
}
