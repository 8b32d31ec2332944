// Package stage holds what the examples share: the choice of a model, the lines of a script, and a
// printer for a terminal.
package stage

import (
	"cmp"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// Choose returns an engine with the model that the environment gives access to, and the name of that
// model. The first variable that is set decides: OPENAI_BASE_URL (your own server; OPENAI_MODEL names its
// model), OPENAI_API_KEY, OPENROUTER_API_KEY, MISTRAL_API_KEY. If none is set, the script plays.
func Choose(getenv func(string) string, script debate.Provider) (engine *debate.Engine, model string) {
	with := func(name string, p debate.Provider, model string) (*debate.Engine, string) {
		return &debate.Engine{Providers: map[string]debate.Provider{name: p}}, name + "/" + model
	}
	if url := getenv("OPENAI_BASE_URL"); url != "" {
		return with("local", openaicompat.Compatible(url, getenv("OPENAI_API_KEY")), cmp.Or(getenv("OPENAI_MODEL"), "gpt-4.1-mini"))
	}
	if key := getenv("OPENAI_API_KEY"); key != "" {
		return with("openai", openaicompat.OpenAI(key), "gpt-4.1-mini")
	}
	if key := getenv("OPENROUTER_API_KEY"); key != "" {
		return with("openrouter", openaicompat.OpenRouter(key), "openai/gpt-4.1-mini")
	}
	if key := getenv("MISTRAL_API_KEY"); key != "" {
		return with("mistral", openaicompat.Mistral(key), "mistral-small-latest")
	}
	return with("script", script, "without-a-key")
}
