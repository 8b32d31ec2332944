package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// TestATemplateThatLoops is refused soon, whether it writes, calls or only counts, and wherever it stands. Nothing of it fills the stack,
// which would end the process, or the memory.
func TestATemplateThatLoops(t *testing.T) {
	const (
		long    = "yields more than 32 MiB"
		steps   = "takes more than 262144 steps"
		defined = "with {{define}} or {{block}}"
	)
	lists := func(deep int, inside string) string {
		return strings.Repeat("{{range $.Others}}", deep) + inside + strings.Repeat("{{end}}", deep)
	}
	conditions := func(deep int, inside string) string {
		return strings.Repeat("{{if 1}}", deep) + inside + strings.Repeat("{{end}}", deep)
	}
	for name, c := range map[string]struct{ text, want string }{
		"words":             {"{{range 1000000000000}}word {{end}}", "has {{range 1000000000000}}: range takes a list"},
		"nothing":           {"{{range 1000000000000}}{{end}}x", "has {{range 1000000000000}}: range takes a list"},
		"a function":        {"{{range len .Name}}{{end}}x", "has {{range len .Name}}: range takes a list"},
		"a number kept":     {"{{$n := 1000000000000}}{{range $n}}{{end}}x", steps},
		"words of a number": {"{{$n := 100000}}{{range $n}}" + strings.Repeat("word ", 100) + "{{end}}", long},
		"too much for many": {"{{$n := 330}}{{range $n}}" + strings.Repeat("word ", 19_000) + "{{end}}", long}, // one alone is below the bound
		"numbers in a list": {"{{$n := 1000000}}{{range $n}}{{range $n}}{{end}}{{end}}x", steps},
		"many functions":    {"{{$n := 1000000}}{{range $n}}{{if eq 1 " + strings.Repeat("2 ", 40000) + "}}{{end}}{{end}}x", steps},
		"lists in lists":    {lists(30, "") + "x", steps},
		"a call of itself": {
			`{{define "a"}}` + conditions(6000, `{{template "a"}}`) + `{{end}}{{template "a"}}x`, `defines the template "a" ` + defined,
		},
		"conditions":   {conditions(6000, "") + "x", "nests conditions and lists more than 100 deep"},
		"alternatives": {"{{if 0}}" + strings.Repeat("{{else if 0}}", 6000) + "{{end}}x", "nests conditions and lists more than 100 deep"},
		"parentheses":  {"{{if " + strings.Repeat("(", 9000) + "1" + strings.Repeat(")", 9000) + "}}{{end}}x", "nests parentheses more than 100 deep"},
		"too long":     {conditions(900_000, "") + "x", "has 13500001 bytes: at most 100000 are possible"},
		"calls": {
			`{{define "x"}}{{if .}}{{template "x" (slice . 1)}}{{template "x" (slice . 1)}}{{end}}{{end}}{{template "x" "` + strings.Repeat("a", 64) + `"}}x`,
			`defines the template "x" ` + defined,
		},
		"copies that are kept": {
			`{{define "a"}}{{template "a" (print . "")}}{{end}}{{$x := printf "%0999d" 0}}{{range 7}}{{$x = print $x $x}}{{end}}{{template "a" $x}}`,
			`defines the template "a" ` + defined,
		},
		"a block":          {`{{block "a" .}}{{end}}x`, `defines the template "a" ` + defined},
		"many variables":   {strings.Repeat("{{$x := 1}}", 101) + "x", "has more than 100 assignments"},
		"another dollar":   {"{{$ = 1}}x", "assigns something to $"},
		"doubles":          {`{{$x := "word"}}{{$n := 100}}{{range $n}}{{$x = print $x $x}}{{end}}x`, `calls the function "print"`},
		"doubled counts":   {`{{$x := "word"}}{{$n := 100}}{{range $n}}{{$x = count $x $x}}{{end}}x`, "count takes a number and its noun of at most 200 bytes"},
		"counted data":     {`{{count . "word"}}x`, "count takes a number and its noun"},
		"a wide verb":      {`{{printf "%9999d" 1}}`, `calls the function "printf"`},
		"escapes":          {`{{$x := "<"}}{{urlquery $x}}`, `calls the function "urlquery"`},
		"another template": {`{{template "turn" .}}`, `contains the template "turn"`},
	} {
		for _, where := range []string{"debater", "language"} {
			if where == "language" && name == "lists in lists" {
				continue // it sees no list
			}
			t.Run(name+" in "+where, func(t *testing.T) {
				_, err := prompt.Parse(map[string]string{where: c.text})
				require.ErrorContains(t, err, `prompt: template "`+where+`": `)
				require.ErrorContains(t, err, c.want)
			})
		}
	}
	set, err := prompt.Parse(map[string]string{"turn": `{{$n := 3}}{{range $i := $n}}{{$i}} {{end}}{{.Round}}{{count 2 "word"}}`})
	require.NoError(t, err)
	text, err := set.Turn(prompt.Turn{})
	require.NoError(t, err)
	assert.Equal(t, "0 1 2 "+prompt.Round+"2 words", text, "no step is left in it")
}

// TestALongReplacement is used: the bounds are far above what a prompt needs, and one prompt is tried with dozens of samples.
func TestALongReplacement(t *testing.T) {
	var many strings.Builder
	for many.Len() < 90_000 {
		many.WriteString("{{with .Position}}Hold {{.}}, {{$.Name}}.{{else}}Find a position.{{end}} " + strings.Repeat("Be brief and fair. ", 50))
	}
	text := many.String() + `{{.Instructions}}{{template "fence" .}}`
	require.Less(t, len(text), flow.MaxPrompt)
	_, err := prompt.Parse(map[string]string{"debater": text})
	require.NoError(t, err)
	_, err = prompt.Parse(map[string]string{"turn": strings.Repeat("x", flow.MaxPrompt)})
	require.NoError(t, err)
	_, err = prompt.Parse(map[string]string{"turn": strings.Repeat("x", flow.MaxPrompt+1)})
	require.ErrorContains(t, err, "has 100001 bytes: at most 100000 are possible")
}

// TestEveryTemplateCanBeCopied: what the library shows as its texts may be changed and given back.
func TestEveryTemplateCanBeCopied(t *testing.T) {
	flows := []map[string]prompt.Template{deliberation.Flow().Prompts, evaluation.Flow().Prompts, arbiter.Flow().Prompts}
	set, err := prompt.Parse(nil, flows...)
	require.NoError(t, err)
	copies := make(map[string]string)
	for _, name := range set.Names() {
		copies[name] = set.Text(name) + "\n" // it is another text
	}
	again, err := prompt.Parse(copies, flows...)
	require.NoError(t, err)
	assert.Equal(t, everything(t, set), everything(t, again))
}
