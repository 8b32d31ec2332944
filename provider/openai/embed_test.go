package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

// pack writes a vector as OpenAI does.
func pack(v ...float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return `"` + base64.StdEncoding.EncodeToString(b) + `"`
}

// embedder answers with vectors that tell the length of their text, the last text first.
func embedder(t *testing.T, sizes *[]int) *openai.Provider {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "POST /v1/embeddings", r.Method+" "+r.URL.Path)
		var body struct {
			Model, EncodingFormat string
			Format                string `json:"encoding_format"`
			Input                 []string
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		assert.Equal(t, "text-embedding-3-small", body.Model)
		assert.Equal(t, "base64", body.Format)
		*sizes = append(*sizes, len(body.Input))
		var data []string
		for i, text := range slices.Backward(body.Input) {
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, pack(float32(len(text)), 0.5)))
		}
		answerJSON(w, 200, fmt.Sprintf(
			`{"object":"list","model":"text-embedding-3-small","data":[%s],"usage":{"prompt_tokens":%d,"total_tokens":%d}}`,
			strings.Join(data, ","), len(body.Input), len(body.Input),
		))
	})
}

func TestEmbed(t *testing.T) {
	var sizes []int
	p := embedder(t, &sizes)
	e, err := p.Embed(t.Context(), "text-embedding-3-small", []string{"a", "bcd", "ef"})
	require.NoError(t, err)
	assert.Equal(t, &provider.Embedding{
		Vectors: [][]float32{{1, 0.5}, {3, 0.5}, {2, 0.5}}, Usage: provider.Usage{Input: 3}, Model: "text-embedding-3-small",
	}, e)
	assert.Equal(t, []int{3}, sizes)
}

func TestEmbedInBatches(t *testing.T) {
	repeat := func(n, length int) []string {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = strings.Repeat("x", length+i%3)
		}
		return texts
	}
	for name, tt := range map[string]struct {
		texts []string
		want  []int
	}{
		"none":                   {nil, nil},
		"one":                    {repeat(1, 1), []int{1}},
		"as many as one takes":   {repeat(256, 1), []int{256}},
		"one more":               {repeat(257, 1), []int{256, 1}},
		"many":                   {repeat(600, 1), []int{256, 256, 88}},
		"long":                   {repeat(6, 100<<10), []int{2, 2, 2}},
		"too long for one":       {repeat(3, 300<<10), []int{1, 1, 1}},
		"too long in the middle": {[]string{"a", strings.Repeat("x", 300<<10), "b", "c"}, []int{1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var sizes []int
			e, err := embedder(t, &sizes).Embed(t.Context(), "text-embedding-3-small", tt.texts)
			require.NoError(t, err)
			assert.Equal(t, tt.want, sizes)
			require.Len(t, e.Vectors, len(tt.texts))
			for i, text := range tt.texts {
				assert.Equal(t, float32(len(text)), e.Vectors[i][0])
			}
			assert.Equal(t, provider.Usage{Input: len(tt.texts)}, e.Usage)
		})
	}
}

func TestEmbedAnswers(t *testing.T) {
	const bad = "vectors"
	item := func(index int, vector string) string {
		return fmt.Sprintf(`{"index":%d,"embedding":%s}`, index, vector)
	}
	answer := func(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `]}` }
	for name, tt := range map[string]struct {
		status int
		body   string
		kind   provider.Kind
		code   string
	}{
		"numbers":              {200, answer(item(0, "[1,2.5]"), item(1, "[3,-4e-3]")), "", ""},
		"odd usage":            {200, `{"usage":"none","data":[` + item(0, "[1]") + "," + item(1, "[2]") + `]}`, "", ""},
		"nonsense usage":       {200, `{"usage":{"prompt_tokens":-1e30},"data":[` + item(0, "[1]") + "," + item(1, "[2]") + `]}`, "", ""},
		"one missing":          {200, answer(item(0, "[1]")), provider.KindInvalidResponse, bad},
		"one too many":         {200, answer(item(0, "[1]"), item(1, "[1]"), item(2, "[1]")), provider.KindInvalidResponse, bad},
		"one twice":            {200, answer(item(1, "[1]"), item(1, "[1]")), provider.KindInvalidResponse, bad},
		"one before the first": {200, answer(item(-1, "[1]"), item(1, "[1]")), provider.KindInvalidResponse, bad},
		"one beyond the last":  {200, answer(item(0, "[1]"), item(2, "[1]")), provider.KindInvalidResponse, bad},
		"an empty one":         {200, answer(item(0, "[]"), item(1, "[]")), provider.KindInvalidResponse, bad},
		"null":                 {200, answer(item(0, "null"), item(1, "[1]")), provider.KindInvalidResponse, bad},
		"two lengths":          {200, answer(item(0, "[1]"), item(1, "[1,2]")), provider.KindInvalidResponse, bad},
		"no number":            {200, answer(item(0, pack(float32(math.NaN()))), item(1, pack(1))), provider.KindInvalidResponse, bad},
		"endless":              {200, answer(item(0, pack(1)), item(1, pack(float32(math.Inf(-1))))), provider.KindInvalidResponse, bad},
		"too great":            {200, answer(item(0, "[1e39]"), item(1, "[1]")), provider.KindInvalidResponse, "no_vectors"},
		"a word":               {200, answer(item(0, `["one"]`), item(1, "[1]")), provider.KindInvalidResponse, "no_vectors"},
		"half a number":        {200, answer(item(0, `"AAAA"`), item(1, `"AAAA"`)), provider.KindInvalidResponse, "no_vectors"},
		"no base64":            {200, answer(item(0, `"*"`), item(1, `"*"`)), provider.KindInvalidResponse, "no_vectors"},
		"nothing":              {200, `{"data":[]}`, provider.KindInvalidResponse, "no_vectors"},
		"a page":               {200, `<html></html>`, provider.KindInvalidResponse, "endpoint"},
		"a failure":            {200, `{"error":{"code":"insufficient_quota","message":"no"}}`, provider.KindQuota, "insufficient_quota"},
		"too long a text":      {400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, provider.KindContextOverflow, ""},
		"unknown model":        {404, `{"error":{"code":"model_not_found","message":"no"}}`, provider.KindValidation, "model_not_found"},
		"a wrong key":          {401, ``, provider.KindAuthentication, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, tt.status, tt.body) })
			e, err := p.Embed(t.Context(), "m", []string{"a", "b"})
			if tt.kind == "" {
				require.NoError(t, err)
				assert.Len(t, e.Vectors, 2)
				assert.Zero(t, e.Usage)
				return
			}
			assert.Nil(t, e)
			assert.Equal(t, tt.code, failure(t, err, tt.kind).Code)
		})
	}
}

// The vectors of all batches are of one length.
func TestEmbedBatchesOfDifferentLength(t *testing.T) {
	n := 0
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		n++
		var data []string
		for i := range body.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, pack(make([]float32, n)...)))
		}
		answerJSON(w, 200, `{"data":[`+strings.Join(data, ",")+`]}`)
	})
	_, err := p.Embed(t.Context(), "m", make([]string, 300))
	assert.Equal(t, "vectors", failure(t, err, provider.KindInvalidResponse).Code)
	assert.Equal(t, 2, n)
}

func TestEmbedIsBounded(t *testing.T) {
	p := serve(t, endless(`{"data":[{"index":0,"embedding":[0`, ","+strings.Repeat("0,", 1<<10)+"0"))
	p.MaxBody = 1 << 20
	_, err := p.Embed(t.Context(), "m", []string{"a"})
	assert.Equal(t, "too_large", failure(t, err, provider.KindInvalidResponse).Code)
}

// endless answers without an end; it ends when the client goes away.
func endless(header, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, 200, header)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(part)); err != nil {
				return
			}
		}
	}
}

func FuzzEmbed(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]}],"usage":{"prompt_tokens":3}}`))
	f.Add([]byte(`{"data":[{"index":1,"embedding":` + pack(1) + `},{"index":0,"embedding":` + pack(2) + `}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := openai.New(canary)
		p.Client = &http.Client{Transport: transport(func(*http.Request) *http.Response {
			w := httptest.NewRecorder()
			_, _ = w.Write(body)
			return w.Result()
		})}
		e, err := p.Embed(t.Context(), "m", []string{"a", "b"})
		if err != nil {
			return
		}
		require.Len(t, e.Vectors, 2)
		assert.NotEmpty(t, e.Vectors[0])
		assert.Len(t, e.Vectors[1], len(e.Vectors[0]))
	})
}
