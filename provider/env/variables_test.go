package env_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider/env"
)

// The variables of a vendor are enough for it, each of them is needed, and every vendor of From has some.
func TestVariablesMakeTheirVendor(t *testing.T) {
	everything := env.From(func(string) (string, bool) { return "x", true })
	assert.Greater(t, len(everything), 10)
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
