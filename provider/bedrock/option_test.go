package bedrock_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// TestOptions: what the API has fields for is sent, and what it has none for is refused before anything is sent.
func TestOptions(t *testing.T) {
	p, bodies, requests := recording(t)
	half := 0.5
	req := request("amazon.nova-lite-v1:0")
	req.Options = &provider.Options{
		TopP: &half, Stop: []string{"END"}, ServiceTier: "flex", Header: map[string]string{"X-Team": "debates"},
		Extra: map[string]json.RawMessage{"additionalModelRequestFields": json.RawMessage(`{"reasoningConfig":{"type":"enabled"}}`)},
	}
	adaptertest.Answer(t, p, req)
	golden(t, "request/options.json", readable(t, (*bodies)[0]))
	assert.Equal(t, "debates", (*requests)[0].Header.Get("X-Team"))
	assert.Contains(t, (*requests)[0].Header.Get("Authorization"), "x-team", "it is signed")

	seed := int64(7)
	for name, o := range map[string]*provider.Options{
		"seed":        {Seed: &seed},
		"search":      {Search: true},
		"a signature": {Header: map[string]string{"X-Amz-Date": "x"}},
	} {
		req.Options = o
		_, err := ask(t, p, req)
		assert.True(t, failure(t, err, provider.KindValidation).NotSent, name)
	}
	assert.Len(t, *bodies, 1)
}
