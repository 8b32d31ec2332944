package openaicompat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
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
}

// TestEmbedInBatches: what is asked for in one request can be answered within MaxBody.
func TestEmbedInBatches(t *testing.T) {
	for name, tt := range map[string]struct {
		texts []string
		want  []int
	}{
		"as many as one takes": {make([]string, 256), []int{256}},
		"many":                 {make([]string, 2048), []int{256, 256, 256, 256, 256, 256, 256, 256}},
		"long":                 {[]string{"a", strings.Repeat("x", 300<<10), "b", "c"}, []int{1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var sizes []int
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Input []string }
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
				var data []string
				for i, text := range slices.Backward(body.Input) {
					data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,%d,%d]}`, i, len(sizes), i, len(text)))
				}
				sizes = append(sizes, len(body.Input))
				_, _ = fmt.Fprintf(w, `{"model":"v","data":[%s],"usage":{"prompt_tokens":3}}`, strings.Join(data, ","))
			})
			got, err := p.Embed(t.Context(), "v", tt.texts)
			require.NoError(t, err)
			assert.Equal(t, tt.want, sizes)
			assert.Equal(t, provider.Usage{Input: 3 * len(sizes)}, got.Usage)
			var want [][]float32
			for n, size := range sizes {
				for i := range size {
					want = append(want, []float32{float32(n), float32(i), float32(len(tt.texts[len(want)]))})
				}
			}
			assert.Equal(t, want, got.Vectors)
		})
	}
	n := 0
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		var body struct{ Input []string }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		var data []string
		for i := range body.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1%s]}`, i, strings.Repeat(",1", n)))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	})
	_, err := p.Embed(t.Context(), "v", make([]string, 300))
	failure(t, err, provider.KindInvalidResponse)
	assert.Equal(t, 2, n, "the vectors of all batches are of one length")
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
		"too long":          {200, `{"data":[{"index":0,"embedding":[1` + strings.Repeat(",1", 1<<16) + `]},{"index":1,"embedding":[1]}]}`, provider.KindInvalidResponse},
		"too much":          {200, `{"data":[` + strings.Repeat(" ", 1<<18), provider.KindInvalidResponse},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			})
			p.MaxBody = 1 << 18
			_, err := p.Embed(t.Context(), "m", []string{"a", "b"})
			failure(t, err, tt.kind)
			assertNoKey(t, err)
		})
	}
}
