package debate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A flow is written in a module outside the tree: it is compiled there and run, so nothing internal can be needed.
func TestAFlowOfAModuleOutsideTheTree(t *testing.T) {
	root, err := os.Getwd()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join("testdata", "outside", "main.go"))
	require.NoError(t, err)
	requirements, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	const own = "github.com/agonist-dev/debate"
	module := strings.Replace(string(requirements), "module "+own+"\n", "module example.org/survey\n", 1)
	module += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", own, own, root)
	folder := t.TempDir()
	for name, text := range map[string]string{"main.go": string(source), "go.mod": module, "go.sum": string(sums)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	run.Dir = folder
	run.Env = append(os.Environ(), "GOWORK=off")
	output, err := run.CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Equal(t, "completed: 2 people, 8 in all, 2 requests\n", string(output))
}
