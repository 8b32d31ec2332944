package export_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// Files are shown by name, type, size and hash. Their names are the words of users.
func TestFilesAreShown(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds = 1
	png := []byte("\x89PNG\r\n\x1a\n<script>alert(1)</script>")
	config.Attachments = []flow.File{{Name: "<img src=x onerror=alert(1)>.png", Data: png}}
	config.Documents = []flow.Document{{Name: "A [study](javascript:x)", Files: []flow.File{{Name: "a_b_.txt", Type: "text/plain", Data: []byte("words")}}}}
	engine, _ := stage.Engine(config)
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	r := stage.Ended(t, s)
	var page, plain strings.Builder
	require.NoError(t, export.HTML(&page, r))
	require.NoError(t, export.Markdown(&plain, r))
	for _, document := range []string{page.String(), plain.String()} {
		assert.Contains(t, document, "Documents")
		assert.Contains(t, document, flow.HashOf(png))
		assert.Contains(t, document, "text/plain, 5 bytes")
		assert.NotContains(t, document, "<img")
		assert.NotContains(t, document, "<script>")
		assert.NotContains(t, document, `href="javascript`)
	}
	assert.Contains(t, page.String(), "[file: a_b_.txt]")
}
