package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every block of Go on the page about flows stands in this example, line by line.
func TestThePageShowsThisExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/own-flow.md")
	require.NoError(t, err)
	var source strings.Builder
	for _, name := range []string{"config.go", "flow.go", "grade.go"} {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		source.Write(file)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	assert.Greater(t, len(blocks), 8)
	for _, block := range blocks {
		assert.Contains(t, source.String(), block[1])
	}
}
