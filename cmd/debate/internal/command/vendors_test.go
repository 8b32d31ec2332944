package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/env"
)

// TestThePageOfProvidersHasEachVendor keeps the words of the page's table, and draws what the code knows: which vendors there are, the
// variables that each needs, and of how many of its models the prices are known.
func TestThePageOfProvidersHasEachVendor(t *testing.T) {
	const begin, end = "<!-- vendors -->\n", "<!-- /vendors -->\n"
	page := filepath.Join("..", "..", "..", "..", "docs", "reference", "providers.md")
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok)
	drawn, after, ok := strings.Cut(rest, end)
	require.True(t, ok)

	known := map[string]int{}
	for model := range flow.KnownModels() {
		vendor, _, _ := strings.Cut(model, "/")
		known[vendor]++
	}
	table := stage.TableAfter(t, drawn, "name", "constructor", "needs", "models", "to know")
	var names []string
	var want strings.Builder
	want.WriteString("| name | constructor | needs | models | to know |\n|---|---|---|--:|---|\n")
	for _, row := range table[1:] {
		require.Len(t, row, 5, row[0])
		assert.NotContains(t, []string{row[0], row[1], row[4]}, "", row[0])
		names = append(names, row[0])
		if variables := env.Variables(row[0]); variables != nil {
			row[2] = "`" + strings.Join(variables, "`, `") + "`"
		}
		row[3] = "–"
		if n := known[row[0]]; n > 0 {
			row[3] = fmt.Sprint(n)
		}
		fmt.Fprintf(&want, "| %s |\n", strings.Join(row, " | "))
	}
	for vendor := range known {
		assert.True(t, slices.Contains(names, vendor), "the table does not have %s", vendor)
	}
	assert.Subset(t, names, env.Vendors())
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o600))
		drawn = want.String()
	}
	assert.Equal(t, want.String(), drawn, "rewrite it with -update")
}
