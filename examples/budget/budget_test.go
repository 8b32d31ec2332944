package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestTheScriptShowsWhatItPromises(t *testing.T) {
	var out bytes.Buffer
	engine, model := choose(func(string) string { return "" })
	require.NoError(t, run(t.Context(), &out, engine, model))
	text := out.String()
	last := -1
	for _, want := range []string{
		"At most: 25 calls, ", "The budget: a warning at $", "Round 1, Ada: ", "Acknowledged: the debate goes on.",
		"The rounds end (soft-limit), and the judge gives the verdict.", "The judge is for Ben.",
		"demo/gpt-4.1-mini", "  Ada ", "  Ben ", "  judge ", "  round 1 ", "  all ",
	} {
		at := strings.Index(text, want)
		require.Greater(t, at, last, "%q, in its place, in:\n%s", want, text)
		last = at
	}
	assert.NotContains(t, text, "Round 12")
	assert.Equal(t, 1, strings.Count(text, "Acknowledged"))
}

// Nobody is there to answer: a question ends the program.
func TestAQuestionEndsIt(t *testing.T) {
	script := &scripted.Provider{VendorName: "openai", Vouch: true, Reply: func(req *provider.Request) scripted.Reply {
		if req.Self == ben {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}}
		}
		return reply(req)
	}}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		engine := &debate.Engine{Providers: map[string]debate.Provider{"demo": script}}
		require.ErrorContains(t, run(t.Context(), &out, engine, "demo/gpt-4.1-mini"), "Ben: authentication: status 401")
		assert.Contains(t, out.String(), "Round 1, Ada: ")
	})
}

func TestAModelIsFoundByItsKey(t *testing.T) {
	for key, want := range map[string]string{
		"OPENAI_API_KEY": "openai/gpt-4.1-mini", "OPENROUTER_API_KEY": "openrouter/openai/gpt-4.1-mini",
		"MISTRAL_API_KEY": "mistral/mistral-small-latest", "NO_KEY": "demo/gpt-4.1-mini",
	} {
		engine, model := choose(func(name string) string {
			if name == key {
				return "k"
			}
			return ""
		})
		assert.Equal(t, want, model)
		host, _, _ := strings.Cut(want, "/")
		assert.Contains(t, engine.Providers, host)
	}
}
