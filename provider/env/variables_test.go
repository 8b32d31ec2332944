package env_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider/env"
)

// The variables of a vendor are enough for it, each of them is needed, and every vendor of From has some.
func TestVariablesMakeTheirVendor(t *testing.T) {
	everything := env.From(func(string) (string, bool) { return "x", true })
	assert.Greater(t, len(everything), 10)
	assert.Equal(t, slices.Sorted(maps.Keys(everything)), env.Vendors())
	for name := range everything {
		names := env.Variables(name)
		assert.NotEmpty(t, names, name)
		for without := range len(names) + 1 {
			got := env.From(func(asked string) (string, bool) {
				for i, one := range names {
					if one == asked && i != without {
						return "x", true
					}
				}
				return "", false
			})
			_, there := got[name]
			assert.Equal(t, without == len(names), there, "%s without variable %d", name, without)
			assert.LessOrEqual(t, len(got), 1)
		}
	}
	assert.Nil(t, env.Variables("opnai"))
}

// Every key that FromEnv reads is among the secrets.
func TestSecretsAreAllKeys(t *testing.T) {
	asked := map[string]bool{}
	env.From(func(name string) (string, bool) {
		asked[name] = true
		return "x", true
	})
	for name := range asked {
		if strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") {
			assert.Contains(t, env.Secrets(), name)
		}
	}
	for _, name := range env.Secrets() {
		assert.True(t, asked[name] || name == "GOOGLE_API_KEY", name)
	}
}
