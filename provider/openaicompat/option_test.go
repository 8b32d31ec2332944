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
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// refusing is a server that refuses requests that hold one of these texts, each with an answer of its own.
func refusing(t *testing.T, p *openaicompat.Provider, answers ...[2]string) *[]string {
	t.Helper()
	picky := &adaptertest.Picky{Refuses: answers, Say: func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"stream":true`) {
			say(w)
			return
		}
		_, _ = io.WriteString(w, wholeReply)
	}}
	p.BaseURL = serve(t, picky.ServeHTTP).BaseURL
	return &picky.Bodies
}

func scored() *provider.Request {
	req := request()
	warm := 0.5
	req.Temperature, req.MaxTokens = &warm, 99
	req.Schema = &provider.Schema{Name: "score", JSON: json.RawMessage(
		`{"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":10},"why":{"type":"array","minItems":1,"items":{"type":"string"}}},` +
			`"required":["score","why"],"additionalProperties":false}`,
	)}
	return req
}

// TestRefusedParameters: what a model refuses is left out, or sent under its other name, and remembered.
func TestRefusedParameters(t *testing.T) {
	p := openaicompat.Compatible("", "k")
	bodies := refusing(
		t, p,
		[2]string{`"temperature"`, `{"error":{"message":"Unsupported value","param":"temperature","code":"unsupported_value"}}`},
		[2]string{`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`},
	)
	req := scored()
	req.Schema = nil
	for range 2 {
		r, chunks, err := ask(t, p, req)
		require.NoError(t, err)
		assert.Equal(t, "Yes.", r.Text)
		assert.Equal(t, []string{"temperature"}, r.Left, "the limit has only another name")
		assert.Equal(t, []string{"Yes."}, chunks)
	}
	require.Len(t, *bodies, 4, "the second call pays nothing")
	assert.Contains(t, (*bodies)[3], `"max_completion_tokens":99`)
	assert.NotContains(t, (*bodies)[3], "temperature")

	groq := openaicompat.Groq("k")
	bodies = refusing(t, groq, [2]string{`"max_completion_tokens"`, `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`})
	r := adaptertest.Answer(t, groq, req)
	assert.Empty(t, r.Left)
	assert.Contains(t, (*bodies)[1], `"max_tokens":99`)
}

// TestRefusedStream: an organisation that may not stream gets the reply in one piece.
func TestRefusedStream(t *testing.T) {
	p := openaicompat.OpenAI("k")
	bodies := refusing(t, p, [2]string{`"stream":true`, `{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}`})
	r := adaptertest.Answer(t, p, request())
	assert.JSONEq(t, `{"score":1}`, r.Text)
	assert.NotContains(t, (*bodies)[1], "stream_options")
	assert.Empty(t, r.Left)
}

// TestRefusedSchemas: a schema is sent in the strictest form that the server takes.
func TestRefusedSchemas(t *testing.T) {
	const (
		bounds  = `{"error":{"message":"invalid schema for response format: response_format/json_schema/score: minItems is not supported","type":"invalid_request_error"}}`
		tuned   = `{"error":{"message":"Invalid schema for response_format 'score': In context=('properties', 'score'), 'minimum' is not permitted.","type":"invalid_request_error","param":"response_format","code":null}}`
		strict  = `{"error":{"message":"Invalid schema for response_format 'score': too many properties","type":"invalid_request_error","param":"response_format","code":"invalid_json_schema"}}`
		noType  = `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`
		groq    = `{"error":{"message":"This model does not support response format ` + "`json_schema`" + `.","type":"invalid_request_error"}}`
		noJSON  = `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`
		states  = `[{"error":{"code":400,"message":"The specified schema produces a constraint that has too many states for serving.","status":"INVALID_ARGUMENT"}}]`
		large   = `{"error":{"message":"Schema is too complex.","type":"invalid_request_error"}}`
		noField = `{"code":"Client specified an invalid argument","error":"The response_format parameter is unsupported at the moment. Leave it unset."}`
	)
	for _, tt := range []struct {
		name    string
		answers [][2]string
		json    bool
		asks    int
		has     string
		lacks   string
		left    []string
	}{
		{"everything is taken", nil, false, 1, `"minItems":1`, "Reply with one JSON", nil},
		{"no bounds", [][2]string{{"minItems", bounds}}, false, 2, `"strict":true`, "minimum", nil},
		{"a fine-tuned model", [][2]string{{"minimum", tuned}}, false, 2, `"strict":true`, "minItems", nil},
		{"not strict", [][2]string{{`"strict":true`, strict}}, false, 2, `"strict":false`, "Reply with one JSON", []string{"response_format.json_schema.strict"}},
		{"no schemas", [][2]string{{`"json_schema"`, noType}}, false, 2, `"json_object"`, `"strict"`, []string{"response_format.json_schema"}},
		{"no schemas of this model", [][2]string{{`"json_schema"`, groq}}, false, 2, `"json_object"`, `"strict"`, []string{"response_format.json_schema"}},
		{"only schemas", [][2]string{{`"json_object"`, noJSON}}, true, 2, "Reply with one JSON", `"response_format"`, []string{"response_format"}},
		{"too many states", [][2]string{{`"json_schema"`, states}}, false, 2, `"json_object"`, `"strict"`, []string{"response_format.json_schema"}},
		{"too complex", [][2]string{{`"strict":true`, large}}, false, 2, `"strict":false`, "Reply with one JSON", []string{"response_format.json_schema.strict"}},
		{"too complex in any form", [][2]string{{`"json_schema"`, large}}, false, 3, "Reply with one JSON", `"response_format"`, []string{"response_format.json_schema.strict", "response_format"}},
		{"no format", [][2]string{{`"response_format"`, noField}}, false, 3, "Reply with one JSON", `"response_format"`, []string{"response_format.json_schema.strict", "response_format"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openaicompat.Compatible("", "k")
			p.JSONObject = tt.json
			bodies := refusing(t, p, tt.answers...)
			for n := range 2 {
				r := adaptertest.Answer(t, p, scored())
				require.Len(t, *bodies, tt.asks+n)
				last := (*bodies)[len(*bodies)-1]
				assert.Contains(t, last, tt.has)
				assert.NotContains(t, last, tt.lacks)
				assert.Contains(t, last, `"temperature":0.5`)
				if n == 1 && len(tt.left) > 1 {
					assert.Contains(t, r.Left, tt.left[1])
					continue
				}
				assert.Subset(t, tt.left, r.Left)
				assert.Equal(t, len(tt.left) == 0, len(r.Left) == 0)
			}
		})
	}
}

// TestFineTunedModelsGetNoBounds: OpenAI's guide names them as the exception.
func TestFineTunedModelsGetNoBounds(t *testing.T) {
	p := openaicompat.OpenAI("k")
	bodies := refusing(t, p)
	req := scored()
	req.Model = "ft:gpt-4.1-mini:acme::abc"
	adaptertest.Answer(t, p, req)
	assert.NotContains(t, (*bodies)[0], "minItems")
	assert.Contains(t, (*bodies)[0], `"strict":true`)
}
