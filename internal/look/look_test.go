package look_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/look"
)

// Each colour is there for the light and for the dark, and a page whose reader chooses has both.
func TestEachColourIsLightAndDark(t *testing.T) {
	light, dark, found := strings.Cut(look.Tokens, "@media screen and (prefers-color-scheme: dark)")
	require.True(t, found)
	token := regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]{6});`)
	both := look.Themed()
	all := token.FindAllStringSubmatch(light, -1)
	require.NotEmpty(t, all)
	assert.Len(t, token.FindAllString(dark, -1), len(all))
	for _, each := range all {
		name, value := each[1], each[2]
		assert.Regexp(t, regexp.QuoteMeta(name)+": #[0-9a-f]{6};", dark)
		assert.Regexp(t, regexp.QuoteMeta(name)+`: light-dark\(`+value+`, #[0-9a-f]{6}\);`, both)
	}
	assert.NotContains(t, both, "@media")
}
