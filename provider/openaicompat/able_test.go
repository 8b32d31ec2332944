package openaicompat_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// TestAbilities: what the protocol has no word for, no model has; of the rest, the vendor's list decides.
func TestAbilities(t *testing.T) {
	const routers = `{"data":[{"id":"acme/eye","architecture":{"input_modalities":["text","image"]},
		"supported_parameters":["temperature","top_p","reasoning","include_reasoning","tools","structured_outputs","verbosity"]},
		{"id":"acme/plain","architecture":{"input_modalities":["text"]},"supported_parameters":["max_tokens","stop","seed"]},
		{"id":"acme/bare"}]}`
	const mistrals = `{"id":"m","capabilities":{"completion_chat":true,"vision":true,"function_calling":false}}`
	for _, tt := range []struct {
		p             *openaicompat.Provider
		model, answer string
		has, lacks    []provider.Ability
	}{
		{openaicompat.OpenRouter("k"), "acme/eye", routers, []provider.Ability{"temperature", "topP", "effort", "reasoning", "tools", "schema", "verbosity", "image", "pdf", "search"}, []provider.Ability{"file", "seed", "stop"}},
		{openaicompat.OpenRouter("k"), "acme/plain:free", routers, []provider.Ability{"stop", "seed", "pdf", "search"}, []provider.Ability{"effort", "file", "image", "reasoning", "temperature", "tools", "topP"}},
		{openaicompat.OpenRouter("k"), "acme/bare", routers, []provider.Ability{"pdf", "search"}, []provider.Ability{"file"}},
		{openaicompat.OpenRouter("k"), "other", routers, []provider.Ability{"pdf", "search"}, []provider.Ability{"file"}},
		{openaicompat.OpenRouter("k"), "other", "<html>", []provider.Ability{"pdf", "search"}, []provider.Ability{"file"}},
		{openaicompat.Mistral("k"), "m", mistrals, []provider.Ability{"image", "seed", "stop", "topP"}, []provider.Ability{"file", "search", "serviceTier", "tools", "verbosity"}},
		{openaicompat.Mistral("k"), "m", `{"capabilities":{}}`, []provider.Ability{"seed", "stop", "topP"}, []provider.Ability{"file", "search", "serviceTier", "verbosity"}},
		{openaicompat.OpenAI("k"), "gpt-5", "", []provider.Ability{"effort"}, []provider.Ability{"file", "reasoning", "search", "stop", "temperature", "topP"}},
		{openaicompat.Compatible("", ""), "any", "", nil, []provider.Ability{"file", "search"}},
	} {
		asks := 0
		at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asks++
			_, _ = io.WriteString(w, tt.answer)
		})
		tt.p.BaseURL = at.BaseURL
		got, err := tt.p.Abilities(t.Context(), tt.model)
		require.NoError(t, err)
		var has []provider.Ability
		for a, can := range got {
			if can {
				has = append(has, a)
			}
		}
		assert.ElementsMatch(t, tt.has, has, "%s %s", tt.p, tt.model)
		assert.Equal(t, tt.lacks, got.Unsupported(), "%s %s", tt.p, tt.model)
		assert.Equal(t, tt.answer != "", asks > 0, "others are not asked")
	}
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	p.VendorName = "openrouter"
	_, err := p.Abilities(t.Context(), "m")
	failure(t, err, provider.KindAuthentication)
}
