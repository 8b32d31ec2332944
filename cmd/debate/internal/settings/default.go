// Package settings reads what a conversation is started with: config files, and the defaults where there is none.
package settings

import (
	"errors"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/provider"
)

// vendor is a provider with the model that is asked if nothing else is said.
type vendor struct{ provider, model string }

// preferred returns the vendors in the order in which they are looked for.
func preferred() []vendor {
	return []vendor{
		{"openai", "gpt-4.1-mini"},
		{"anthropic", "claude-haiku-4-5"},
		{"google", "gemini-2.5-flash"},
		{"openrouter", "openai/gpt-4.1-mini"},
		{"mistral", "mistral-small-latest"},
		{"demo", "script"},
	}
}

// Default returns the deliberation that is held if no file says anything else: architect, performance and simplicity.
func Default(providers map[string]provider.Provider) (deliberation.Config, error) {
	for _, v := range preferred() {
		if providers[v.provider] == nil {
			continue
		}
		model := v.provider + "/" + v.model
		config := deliberation.Config{Judge: deliberation.Judge{Model: model}}
		for _, role := range []string{deliberation.RoleArchitect, deliberation.RolePerformance, deliberation.RoleSimplicity} {
			config.Agents = append(config.Agents, deliberation.Agent{ID: role, Role: role, Model: model})
		}
		return config, nil
	}
	return deliberation.Config{}, errors.New("there is no key: set OPENAI_API_KEY, or another vendor's, or add --demo")
}
