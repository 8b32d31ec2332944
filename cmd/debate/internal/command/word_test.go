package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

// typed carries out a command line as it is typed, without a key: a conversation that would start fails with 4.
func typed(t *testing.T, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	code := command.Run(t.Context(), command.System{
		Args: args, In: strings.NewReader(""), Out: &out, Err: &err,
		Lookup: func(name string) (string, bool) {
			if name == "XDG_DATA_HOME" {
				return filepath.Join(os.TempDir(), "nothing-is-kept-here"), true
			}
			return "", false
		},
	})
	return ran{code, out.String(), err.String()}
}

// TestWordsOfOthers: what people type who know another program, or an earlier form of this one, does what they mean, or the right word is
// named. Nothing starts by mistake, and no problem is refused because it is one word.
func TestWordsOfOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("problem.md", []byte("Design a cache"), 0o600))
	require.NoError(t, os.WriteFile("Makefile", []byte("all:"), 0o600))
	require.NoError(t, os.Mkdir("docs", 0o700))
	const starts, nobody = "there is no key", "begins a conversation"
	for _, tc := range []struct {
		line string // its words; those with a blank in them have an underscore there
		code int
		said string
	}{
		{"Design_a_cache", 4, starts},
		{"debate Design_a_cache", 4, starts},
		{"run Design_a_cache", 4, starts},
		{"new Design_a_cache", 4, starts},
		{"start Design_a_cache", 4, starts},
		{"ask Design_a_cache", 4, starts},
		{"chat Design_a_cache", 4, starts},
		{"run --rounds 2 Design_a_cache", 4, starts},
		{"run -p problem.md", 4, starts},
		{"debate list", 0, "There are no conversations yet"},
		{"debate", 2, nobody},
		{"run", 2, nobody},
		{"new", 2, nobody},
		{"start", 2, nobody},
		{"ask", 2, nobody},
		{"chat", 2, nobody},
		{"run --demo", 2, nobody},

		{"Pace", 4, starts},
		{"Water", 4, starts},
		{"water", 4, starts},
		{"Grape", 4, starts},
		{"grape", 4, starts},
		{"modal", 4, starts},
		{"one", 4, starts},
		{"show_that_it_is_so", 4, starts},
		{"List_the_flags", 4, starts},
		{"-- shwo", 4, starts},
		{"-- LIST", 4, starts},
		{"-- –help", 4, starts},
		{"-- cancel", 4, starts},
		{"-- problem.md", 4, starts},
		{"-p problem.md", 4, starts},

		{"shwo", 2, `there is no command "shwo"; did you mean debate show?` + "\ndebate -- shwo is about this word\n"},
		{"lst", 2, "did you mean debate list?"},
		{"lisst", 2, "did you mean debate list?"},
		{"wacth", 2, "did you mean debate watch?"},
		{"anwser", 2, "did you mean debate answer?"},
		{"retyr", 2, "did you mean debate resume?"},
		{"hist0ry", 2, "did you mean debate list?"},
		{"delte", 2, "did you mean debate delete?"},
		{"model", 2, "did you mean debate models?"},
		{"frok", 2, "did you mean debate on?"},
		{"evla", 2, "did you mean debate eval?"},
		{"--demo chek", 2, "did you mean debate check?"},
		{"shwo last", 2, "did you mean debate show last?"},
		{"Design a cache", 2, "the problem is one argument: debate 'Design a cache'"},

		{"Shwo", 2, "did you mean debate show?"},
		{"LIST", 2, "did you mean debate list?"},
		{"list_", 2, "did you mean debate list?"},
		{"Delete", 2, "did you mean debate delete?"},
		{"sl", 2, "did you mean debate list?"},
		{"resume_f907958f", 2, "did you mean debate resume f907958f?"},
		{"Resume_last", 2, "did you mean debate resume last?"},
		{"–help", 2, "–help begins with –, and a flag with -"},
		{"—demo", 2, "and a flag with -"},
		{"problme.md", 2, "there is no file problme.md: debate -p FILE reads a problem"},
		{"ideas/caches", 2, "there is no file ideas/caches"},
		{"?", 2, "debate --help says what can be typed"},
		{"01a22ceb-676d-7d4e-8c0f-7cf1d3a0b6c5", 2, "is the id of a conversation: debate show 01a22ceb-"},
		{"run f907958f", 2, "is the id of a conversation"},

		{"problem.md", 2, "problem.md is a file: debate -p problem.md reads it\ndebate -- problem.md is about this word\n"},
		{"--demo Makefile", 2, "Makefile is a file"},
		{"docs", 2, "docs is a folder: debate --file docs "},
		{"docs/", 2, "is a folder"},

		{"cancel", 2, "debate stop ID --no-result"},
		{"cancel 0198c2f1", 2, "debate stop ID --no-result"},
		{"graph", 2, "debate report"},
		{"force-agent 0198c2f1 tester", 2, "debate amend ID --next AGENT"},
		{"skip-step 0198c2f1 3", 2, "debate amend ID --skip STEP"},
		{"rerun-step 0198c2f1 3", 2, "debate amend ID --rerun STEP"},
		{"config", 2, "debate check FILE"},
		{"config check problem.md", 2, "debate check FILE"},
		{"configure", 2, "OPENAI_API_KEY"},
		{"init", 2, "OPENAI_API_KEY"},
		{"setup", 2, "OPENAI_API_KEY"},
		{"login", 2, "OPENAI_API_KEY"},
		{"version", 2, "debate --version"},
		{"prompts judge", 2, "debate check --prompts"},
		{"logs", 2, "debate show ID"},
		{"cost 0198c2f1", 2, "debate -- 'cost 0198c2f1' is about these words"},
		{"auth", 2, "OPENAI_API_KEY"},
		{"kill", 2, "debate stop ID"},
		{"search cache", 2, "debate list"},
		{"sessions", 2, "debate list"},
		{"agents", 2, "debate check"},
		{"mcp", 2, "debate --mcp"},
		{"web", 2, "debate serve shows"},
		{"update", 2, "debate --version"},

		{"ls", 0, "There are no conversations yet"},
		{"ps", 0, "There are no conversations yet"},
		{"history", 0, "There are no conversations yet"},
		{"rm", 2, "ids or --before are missing"},
		{"remove", 2, "ids or --before are missing"},
		{"status", 2, "there is no conversation; debate list"},
		{"retry", 2, "there is no conversation that is not over"},
		{"continue", 2, "there is no conversation that is not over"},
		{"replay", 2, "there is no conversation"},
		{"attach", 2, "there is no conversation"},
		{"fork", 2, "see debate on --help"},
		{"choose", 2, "see debate answer --help"},
		{"estimate Design_a_cache", 0, "smallest budget for all rounds: $"},
		{"validate", 0, "smallest budget for all rounds: $"},

		{"--version", 0, "debate "},
		{"-V", 0, "debate "},
		{"help", 0, "Most used:\n  resume "},
		{"--help", 0, "Most used:\n  resume "},
		{"help flags", 0, "--patience"},
		{"help show", 0, "debate show"},
		{"help nothing", 2, `no command "nothing" is known`},
	} {
		words := strings.Fields(tc.line)
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "_", " ")
		}
		got := typed(t, words...)
		assert.Equal(t, tc.code, got.code, "%s: %s", tc.line, got.err)
		assert.Contains(t, got.out+got.err, tc.said, tc.line)
	}
}

// TestTheHelpFitsAScreen: what a first run needs comes first, and no line is longer than a terminal is wide.
func TestTheHelpFitsAScreen(t *testing.T) {
	help := typed(t, "--help").out
	assert.LessOrEqual(t, strings.Count(help, "\n"), 60)
	for _, name := range []string{"", "flags", "resume", "answer", "amend", "check", "on", "list", "delete", "export"} {
		for line := range strings.Lines(typed(t, strings.Fields("help "+name)...).out) {
			if name == "" || name == "flags" || !strings.HasPrefix(strings.TrimSpace(line), "-") {
				assert.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, "%s: %s", name, line)
			}
		}
	}
	first, rest, ok := strings.Cut(help, "More:\n")
	require.True(t, ok)
	assert.Contains(t, first, `debate "Design a rate limiter" --demo`)
	assert.NotContains(t, first, "  redact ")
	assert.Contains(t, rest, "Advanced:\n  check ")
	assert.NotContains(t, help, "--patience")
}
