package debate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
)

// Each program of the pages under docs/start prints what the page shows below it, without a key. Several blocks of output are as many
// runs in one folder.
func TestTheProgramsOfTheFirstPagesPrintWhatThePagesShow(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("docs", "start", "*.md"))
	require.NoError(t, err)
	require.Len(t, pages, 3)
	for _, path := range pages {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(path)
			require.NoError(t, err)
			program, runs := "", 0
			for _, block := range strings.Split(string(page), "\n```")[1:] {
				language, text, _ := strings.Cut(block, "\n")
				switch {
				case language == "go" && strings.HasPrefix(text, "package main\n"):
					program = buildOutside(t, text)
				case language == "text":
					require.NotEmpty(t, program, "a program comes first")
					output, err := run(t, program)
					require.NoError(t, err, output)
					assert.ElementsMatch(t, strings.Split(text+"\n", "\n"), strings.Split(output, "\n"), "agents who work at once have no order")
					runs++
				}
			}
			assert.Positive(t, runs)
		})
	}
}
