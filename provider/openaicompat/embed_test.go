package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func TestEmbed(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/embeddings", r.URL.Path)
		var body struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		assert.Equal(t, "vectors-1", body.Model)
		assert.Equal(t, []string{"one", "two <&>"}, body.Input)
		_, _ = io.WriteString(w, `{"model":"vectors-1-2026","usage":{"prompt_tokens":5},"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[0.5,-0.5]}]}`)
	})
	got, err := p.Embed(t.Context(), "vectors-1", []string{"one", "two <&>"})
	require.NoError(t, err)
	assert.Equal(t, &provider.Embedding{
		Vectors: [][]float32{{0.5, -0.5}, {0, 1}}, Usage: provider.Usage{Input: 5}, Model: "vectors-1-2026",
	}, got)

	none, err := p.Embed(t.Context(), "vectors-1", nil)
	require.NoError(t, err)
	assert.Empty(t, none.Vectors)

	_, err = p.Embed(t.Context(), "vectors-1", make([]string, 2049))
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
}

func TestEmbedRefusesWhatIsNoAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		answer string
		kind   provider.Kind
	}{
		"too few":           {200, `{"data":[{"index":0,"embedding":[1]}]}`, provider.KindInvalidResponse},
		"twice the same":    {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, provider.KindInvalidResponse},
		"no such place":     {200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, provider.KindInvalidResponse},
		"empty":             {200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, provider.KindInvalidResponse},
		"unequal":           {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, provider.KindInvalidResponse},
		"no numbers":        {200, `{"data":[{"index":0,"embedding":"AAA="},{"index":1,"embedding":"AAA="}]}`, provider.KindInvalidResponse},
		"too large numbers": {200, `{"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[1]}]}`, provider.KindInvalidResponse},
		"cut":               {200, `{"data":[{"index":0,"embedding":[1]},{"ind`, provider.KindNetwork},
		"failure under 200": {200, `{"error":{"code":429,"message":"slower"}}`, provider.KindRateLimit},
		"failure":           {404, `{"error":{"message":"no model"}}`, provider.KindValidation},
		"too much":          {200, `{"data":[` + strings.Repeat(" ", 1<<16), provider.KindInvalidResponse},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			})
			p.MaxBody = 1 << 15
			_, err := p.Embed(t.Context(), "m", []string{"a", "b"})
			failure(t, err, tt.kind)
			assertNoKey(t, err)
		})
	}
}
