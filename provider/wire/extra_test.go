package wire_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

func TestExtend(t *testing.T) {
	const body = `{"model":"m<1>","generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"thinkingLevel":"LOW"}},"tools":[]}`
	reserved := []string{"n", "generationConfig.candidateCount", "audio.format.rate"}
	for _, tt := range []struct{ name, extra, want, collides string }{
		{"nothing", `{}`, body, ""},
		{"a field", `{"topK":4,"a":null}`, body[:len(body)-1] + `,"a":null,"topK":4}`, ""},
		{
			"within an object", `{"generationConfig":{"topK":4,"thinkingConfig":{"includeThoughts":true}}}`,
			`{"model":"m<1>","generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true},"topK":4},"tools":[]}`, "",
		},
		{"a written field", `{"model":"other"}`, "", "model"},
		{"a written field within", `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`, "", "generationConfig.thinkingConfig.thinkingLevel"},
		{"a list", `{"tools":[{}]}`, "", "tools"},
		{"another shape", `{"generationConfig":1}`, "", "generationConfig"},
		{"another spelling", `{"generation_config":{"topK":4}}`, "", "generation_config"},
		{"another spelling within", `{"generationConfig":{"max_output_tokens":9}}`, "", "generationConfig.max_output_tokens"},
		{"a reserved field", `{"N":2}`, "", "N"},
		{"a reserved field within", `{"generationConfig":{"candidate_count":2}}`, "", "generationConfig.candidate_count"},
		{"a reserved field in a new object", `{"audio":{"format":{"rate":2}}}`, "", "audio.format.rate"},
		{"beside a reserved field", `{"audio":{"format":{"depth":2}}}`, body[:len(body)-1] + `,"audio":{"format":{"depth":2}}}`, ""},
		{"a long s", `{"model\u017f":1,"\u017ftream":false}`, "", "model\u017f"},
		{"a Kelvin sign within", `{"generationConfig":{"top\u212a":4}}`, "", "generationConfig.top\u212a"},
		{"a character that does not print", `{"mo\u00addel":1}`, "", "mo del"},
		{"a long s in a reserved field", `{"audio":{"format":{"ra\u017ft":2}}}`, "", "audio.format.ra\u017ft"},
		{"other names in an object of its own", `{"own":{"na\u00efve":1}}`, body[:len(body)-1] + `,"own":{"na\u00efve":1}}`, ""},
		{"the same field twice", `{"topK":4,"top_k":5}`, "", "top_k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var extra map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(tt.extra), &extra))
			got, err := wire.Extend([]byte(body), extra, reserved...)
			if tt.collides == "" {
				require.NoError(t, err)
				assert.Equal(t, tt.want, string(got))
				return
			}
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, provider.KindValidation, e.Kind)
			assert.True(t, e.NotSent)
			assert.Contains(t, e.Message, "the field "+tt.collides+" ")
		})
	}
	_, err := wire.Extend([]byte(body), map[string]json.RawMessage{"a": json.RawMessage(`{`)})
	require.Error(t, err)
	_, err = wire.Extend([]byte(`[]`), map[string]json.RawMessage{"a": json.RawMessage(`1`)})
	require.Error(t, err)
}

func TestVetHeader(t *testing.T) {
	e := &wire.Endpoint{Header: http.Header{"x-tenant": {"t1"}}}
	require.NoError(t, e.VetHeader(map[string]string{"X-Title": "A title", "anthropic-beta": "one,two"}))
	for name, value := range map[string]string{
		"Authorization": "x", "x-api-key": "x", "X-Goog-Api-Key": "x", "Cookie": "x", "X-Amz-Date": "x", "content-type": "x", "HOST": "x", "X-Client-Request-Id": "x",
		"X-Tenant": "t2", "Anthropic-Version": "x", "": "x", "a b": "x", "a:": "x", "Ä": "x", "X-Ok": "a\r\nb: c", "X-Ok2": "ä",
	} {
		var e2 *provider.Error
		require.ErrorAs(t, e.VetHeader(map[string]string{name: value}, "anthropic-version"), &e2, name)
		assert.Equal(t, provider.KindValidation, e2.Kind)
		assert.True(t, e2.NotSent)
	}
}

func TestAddHeader(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer server.Close()
	e := &wire.Endpoint{BaseURL: server.URL, Header: http.Header{"X-Tenant": {"t1"}}}
	x, err := e.Open(t.Context(), "")
	require.NoError(t, err)
	defer x.Close()
	x.AddHeader(&provider.Options{Header: map[string]string{"x-title": "A title"}})
	require.NoError(t, x.Send(http.MethodGet, "", nil))
	assert.Equal(t, "A title", got.Get("X-Title"))
	assert.Equal(t, "t1", got.Get("X-Tenant"))
}

func TestPartsAsURLs(t *testing.T) {
	p := &provider.Part{Type: "Image/PNG; x=1", Data: []byte("abc")}
	assert.Equal(t, "image/png", wire.MediaType(p))
	assert.Equal(t, "data:image/png;base64,YWJj", wire.DataURL(p))
	assert.Contains(t, wire.Untaken(p, "Acme").Error(), "Acme takes no part of the media type Image/PNG")
}
