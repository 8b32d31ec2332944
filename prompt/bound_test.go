package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/prompt"
)

// TestATemplateThatLoops is refused soon, whether it writes, calls or only counts, and wherever it stands.
func TestATemplateThatLoops(t *testing.T) {
	const long = "yields more than 32 MiB"
	for name, c := range map[string]struct{ text, want string }{
		"words":             {"{{range 1000000000000}}word {{end}}", long},
		"nothing":           {"{{range 1000000000000}}{{end}}x", long},
		"numbers in a list": {"{{range 1000000}}{{range 1000000}}{{end}}{{end}}x", long},
		"calls": {
			`{{define "x"}}{{if .}}{{template "x" (slice . 1)}}{{template "x" (slice . 1)}}{{end}}{{end}}{{template "x" "` + strings.Repeat("a", 64) + `"}}x`, long,
		},
		"doubles":          {`{{$x := "word"}}{{range 100}}{{$x = print $x $x}}{{end}}x`, "a function returns more than 128 KiB"},
		"a wide verb":      {`{{printf "%9999d" 1}}`, "at most three digits"},
		"a verb of a verb": {`{{printf "%*d" 1000000 1}}`, "at most three digits"},
		"many verbs":       {`{{printf "` + strings.Repeat("%[1]999s", 2000) + `" "a"}}`, "a function returns more than 128 KiB"},
	} {
		for _, where := range []string{"turn", "language"} {
			t.Run(name+" in "+where, func(t *testing.T) {
				_, err := prompt.Parse(map[string]string{where: c.text})
				require.ErrorContains(t, err, c.want)
			})
		}
	}
	set, err := prompt.Parse(map[string]string{"turn": `{{range $i := 3}}{{$i}} {{end}}{{printf "%s in 2026: %5.2f" "June" 1.5}}`})
	require.NoError(t, err)
	text, err := set.Turn(prompt.Turn{})
	require.NoError(t, err)
	assert.Equal(t, "0 1 2 June in 2026:  1.50", text, "no step is left in it")
}
