package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// In the bubble Security's delay costs nothing, and the order of what is shown is always the same.
func TestTheReviewReadsAsItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, model := stage.Choose(func(string) string { return "" }, script())
		models, ok := engine.Providers["script"].(*scripted.Provider)
		require.True(t, ok)
		models.Record = true
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model))
		golden := filepath.Join("testdata", "review.txt")
		if *update {
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}

		read := make(map[string]map[string]bool)
		for _, request := range models.Requests() {
			if read[request.Self] == nil {
				read[request.Self] = make(map[string]bool)
			}
			for _, message := range request.Messages {
				read[request.Self][message.Speaker] = true
			}
		}
		assert.Equal(t, map[string]map[string]bool{
			"Author":     {"Author": true, "Operations": true, "Security": true},
			"Operations": {"Author": true, "Operations": true},
			"Security":   {"Author": true, "Security": true},
		}, read, "the reviewers never read each other")
	})
}
