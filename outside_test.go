package debate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
)

// A flow is written outside the tree: it is compiled there and run, so nothing internal can be needed.
func TestAFlowOutsideTheTree(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("testdata", "outside", "main.go"))
	require.NoError(t, err)
	assert.Equal(t, "completed: 2 people, 8 in all, 2 requests\n", runOutside(t, string(source)))
}

// A host program has a format of its own, and replaces prompts for one conversation, from public packages alone.
func TestPromptsOutsideTheTree(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("testdata", "outside", "prompts", "main.go"))
	require.NoError(t, err)
	assert.Equal(t, "completed: 4 requests, 4 in our own words\n", runOutside(t, string(source)))
}

// runOutside compiles a program in a folder outside the tree, where it may import nothing internal, and returns what the program
// prints. The modules are those of the workspace, so that nothing is downloaded. What the go command says counts only if it fails.
func runOutside(t *testing.T, source string) string {
	t.Helper()
	output, _, err := runProgram(t, source)
	require.NoError(t, err, output)
	return output
}

// runProgram builds a program and runs it. It returns what the program prints, how long it ran, and how it ends.
func runProgram(t *testing.T, source string) (string, time.Duration, error) {
	t.Helper()
	program := buildOutside(t, source)
	began := time.Now()
	output, err := run(t, program)
	return output, time.Since(began), err
}

// buildOutside compiles a program in a folder outside the tree, and returns its path.
func buildOutside(t *testing.T, source string) string {
	t.Helper()
	folder := t.TempDir()
	file, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "program.exe")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	output, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, file).CombinedOutput()
	require.NoError(t, err, string(output))
	return program
}

// run runs a program in its own folder, without a key, and returns what it prints.
func run(t *testing.T, program string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program)
	command.Dir, command.Env = filepath.Dir(program), append(os.Environ(), "OPENAI_API_KEY=")
	output, err := command.CombinedOutput()
	return string(output), err
}
