package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every block of Go on the pages about flows stands in the page's example, line by line.
func TestThePagesShowTheirExamples(t *testing.T) {
	for page, example := range map[string]string{"own-flow.md": ".", "tutorial.md": "../peerreview"} {
		data, err := os.ReadFile(filepath.Join("../../docs", page))
		require.NoError(t, err)
		var source strings.Builder
		for _, file := range sources(t, example) {
			source.Write(file)
		}
		blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(data), -1)
		assert.Greater(t, len(blocks), 8)
		for _, block := range blocks {
			for function := range strings.SplitSeq(block[1], "\n\n") {
				assert.Contains(t, source.String(), strings.TrimSpace(function), page)
			}
		}
	}
}

// The tutorial says so: a flow of one's own is not long.
func TestTheTutorialIsShort(t *testing.T) {
	lines := 0
	for name, file := range sources(t, "../peerreview") {
		if filepath.Base(name) != "script.go" {
			lines += bytes.Count(file, []byte("\n"))
		}
	}
	assert.LessOrEqual(t, lines, 350)
	assert.Greater(t, lines, 300)
}

// sources returns the files of Go in a folder.
func sources(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	files := make(map[string][]byte)
	for _, name := range names {
		files[name], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return files
}
