package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestPrintedCommandsAreQuoted: a shell that gets a printed command runs this program with the arguments that are meant, whatever
// somebody has called a participant or a conversation.
func TestPrintedCommandsAreQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("what is printed is for sh, or there is none")
	}
	for i, tc := range []struct{ id, name string }{
		{"d1", "$(touch PWNED)"},
		{"d1", "`touch PWNED`"},
		{"d1", "; touch PWNED;"},
		{"d1", "| touch PWNED #"},
		{"d1", "& touch PWNED"},
		{"d1", "System Architect"},
		{"d1", "Ada  L"},
		{"d1", "it's"},
		{"d1", "-rf"},
		{"d1", "*"},
		{"d1", "~"},
		{"--approve", "Ada"},
	} {
		t.Run(tc.id+tc.name, func(t *testing.T) {
			if i > 0 {
				longform.Lone(t) // another name is quoted by the same goroutines
			}
			place := filepath.Join(t.TempDir(), "kept") + "/"
			hold(t, place, func(*provider.Request) scripted.Reply {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication}}
			}, debate.Config{
				ID: tc.id, Topic: "Is it quoted?", Rounds: 1, Participants: []debate.Participant{
					{Name: tc.name, Model: "demo/script"}, {Name: "Eve", Model: "demo/script"},
				},
			})
			context := filepath.Join(t.TempDir(), "it's $(touch PWNED)")
			require.NoError(t, os.Mkdir(context, 0o700))
			asked := "ask.r1.opening." + tc.name + ".1"
			for _, from := range []struct {
				args []string
				want []string // arguments of a command that must have been printed, a line each
			}{
				{[]string{"show", "--", tc.id}, []string{"answer", tc.id, asked, "retry"}},
				{[]string{"resume", "--no-run", "--context", context, "--", tc.id}, []string{"resume", tc.id, "continues", "it,", "unless", "a", "worker", "does."}},
				{[]string{"pause", "--", tc.id}, []string{"resume", tc.id, "continues", "it."}},
				{[]string{"show", "--", tc.id}, []string{"resume", tc.id, "continues", "it."}},
			} {
				printed := run(t, place, from.args...)
				var got [][]string
				for line := range strings.Lines(printed.out + printed.err) {
					if at := strings.LastIndex(line, "debate "); at >= 0 {
						got = append(got, obeyed(t, sh, line[at:]))
					}
				}
				assert.Contains(t, got, from.want, "%q: %s%s", from.args, printed.out, printed.err)
			}
		})
	}
}

// obeyed pastes a line into a shell, and returns the arguments that the program would have got, but "--".
func obeyed(t *testing.T, sh, line string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), sh, "-c", `debate() { printf '%s\n' "$@"; }`+"\n"+line)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s: %s", line, out)
	left, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	assert.Empty(t, left, "a shell has obeyed %s", line)
	var arguments []string
	for argument := range strings.Lines(string(out)) {
		if argument != "--\n" {
			arguments = append(arguments, strings.TrimSuffix(argument, "\n"))
		}
	}
	return arguments
}

// TestNoBareCommand: a command to be pasted is built by package progress, and nowhere by a format.
func TestNoBareCommand(t *testing.T) {
	bare := regexp.MustCompile(`debate [a-z][a-z-]* (-- )?%`)
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Empty(t, bare.FindAllString(string(source), -1), name)
	}
}
