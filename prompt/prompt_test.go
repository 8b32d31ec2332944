package prompt_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/prompt"
)

func parsed(t testing.TB, overrides map[string]string) *prompt.Set {
	t.Helper()
	set, err := prompt.Parse(overrides)
	require.NoError(t, err)
	return set
}

func TestNames(t *testing.T) {
	want := []string{
		"again", "aim", "assess", "assign", "ballot", "debater", "fence", "findings", "judge", "language", "stance", "summarizer", "summary", "tools",
		"turn", "verdict", "voter",
	}
	assert.Equal(t, want, parsed(t, nil).Names())
}

// marks is what a replaced system prompt must hold.
const marks = ` {{template "fence" .}}`

// given is what one must hold beside it for which a config has instructions.
const given = ` {{.Instructions}}`

func TestOverride(t *testing.T) {
	marked := " " + parsed(t, nil).FenceRule("k7qz")
	replaced := map[string]struct {
		text, want string
	}{
		"debater":    {"{{.Name}}/{{.Topic}}/{{.Position}}" + given + marks, "Ada/Should cities ban cars from their centres?/Ban them. Use metric units." + marked},
		"turn":       {"{{.Phase}} {{.Round}}/{{.Rounds}}", "rebuttal " + prompt.Round + "/" + prompt.Rounds},
		"judge":      {"{{range .Participants}}{{.Name}};{{end}}" + given + marks, "Ada;Ben;Cy; " + marked},
		"assess":     {"{{.Round}} {{.Judges}}{{.Fields}}", prompt.Round + " 0"},
		"verdict":    {"{{.Round}} {{.Unfinished}} {{len .Criteria}}{{.Fields}}", prompt.Round + " false 6"},
		"again":      {"{{len .Problems}} problems", "2 problems"},
		"tools":      {"{{.Left}} left", "3 left"},
		"assign":     {"find {{.Count}} {{.Fields}}" + given, "find 3"},
		"findings":   {"{{range .Items}}{{.}};{{end}}", "one;two;"},
		"voter":      {"{{.Name}}: {{.For}}/{{.Against}}{{with .Instructions}}: {{.}}{{end}}" + marks, "Vera: ban them/let them drive" + marked},
		"ballot":     {"before: {{.Before}}{{.Fields}}", "before: true"},
		"summarizer": {"{{len .Participants}}" + marks, "3" + marked},
		"summary":    {"{{.Words}} {{.Former}}", "300 false"},
		"fence":      {"Material: <<<{{.Fence}} …>>> <<<end {{.Fence}}>>>", "Material: <<<k7qz …>>> <<<end k7qz>>>"},
		"language":   {"In {{.Language}}.", "In German."},
		"stance":     {"{{.Stance}}: hold {{.Position}}", "open: hold Ban them."},
		"aim":        {"Judge the {{.Aim}}.", "Judge the truth."},
	}
	builtin := everything(t, parsed(t, nil))
	for _, name := range parsed(t, nil).Names() {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, replaced, name)
			got := everything(t, parsed(t, map[string]string{name: replaced[name].text}))
			for other, text := range builtin {
				switch {
				case other == name:
					assert.Equal(t, replaced[name].want, got[other])
				case slices.Contains([]string{"fence", "language", "stance", "aim"}, name): // they are parts of others
				default:
					assert.Equal(t, text, got[other], "%s is not replaced", other)
				}
			}
		})
	}
}

func TestOverrideFails(t *testing.T) {
	tests := map[string]struct {
		overrides map[string]string
		want      []string
	}{
		"unknown name":     {map[string]string{"referee": "x"}, []string{`no template "referee" is known: there are assess, debater, fence, `}},
		"a path":           {map[string]string{"turn.tmpl": "x"}, []string{`no template "turn.tmpl" is known: there are `}},
		"no UTF-8":         {map[string]string{"debater": "bad \xff byte {{.Name}}", "turn": "\xc3"}, []string{`"debater": is not valid UTF-8`, `"turn": is not valid UTF-8`}},
		"does not parse":   {map[string]string{"turn": "{{.Phase"}, []string{`"turn"`, "unclosed action"}},
		"unknown function": {map[string]string{"judge": "{{shout .Topic}}"}, []string{`"judge"`, "shout"}},
		"unknown field":    {map[string]string{"debater": "{{.Colour}}"}, []string{`"debater"`, "Colour"}},
		"round in a system prompt": {
			map[string]string{"debater": "{{.Round}}", "judge": "{{.Round}}", "voter": "{{.Round}}"},
			[]string{`"debater"`, `"judge"`, `"voter"`, "Round"},
		},
		"only where a value is given": {
			map[string]string{"debater": "x{{with .Persona}}{{$.Colour}}{{end}}"}, []string{`"debater"`, "Colour"},
		},
		"only where none is given": {
			map[string]string{"debater": "x{{if not .Persona}}{{.Colour}}{{end}}"}, []string{`"debater"`, "Colour"},
		},
		"only between opening and closing": {
			map[string]string{"turn": "x{{if not (or .Opening .Closing .Instruction)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only in the closing": {
			map[string]string{"turn": "x{{if and .Closing (not .Opening)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only in the chair": {
			map[string]string{"debater": "x{{if and .Chair .Others}}{{.Colour}}{{end}}"}, []string{`"debater"`, "Colour"},
		},
		"only in the chair, with nothing given": {
			map[string]string{"debater": "x{{if and .Chair (not .Others)}}{{.Colour}}{{end}}"}, []string{`"debater"`, "Colour"},
		},
		"only with a role and nothing else": {
			map[string]string{"debater": "x{{if and .Role (not .Position) (not .Chair)}}{{.Colour}}{{end}}"}, []string{`"debater"`, "Colour"},
		},
		"only when the chair opens": {
			map[string]string{"turn": "x{{if and .Chair .Opening (not .Closing)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when the chair closes": {
			map[string]string{"turn": "x{{if and .Chair .Closing (not .Opening)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when the chair speaks once": {
			map[string]string{"turn": "x{{if and .Chair .Closing .Opening}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when the chair leads on": {
			map[string]string{"turn": "x{{if and .Chair (not (or .Closing .Opening))}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when all are asked": {
			map[string]string{"turn": "x{{if and .Question (not .Target)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when one is asked": {
			map[string]string{"turn": "x{{if and .Question .Target}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when all answer": {
			map[string]string{"turn": "x{{if and .Answer (not .Target)}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only when one answers": {
			map[string]string{"turn": "x{{if and .Answer .Target}}{{.Colour}}{{end}}"}, []string{`"turn"`, "Colour"},
		},
		"only with a rubric": {
			map[string]string{"judge": "x{{range .Rubric}}{{.Colour}}{{end}}"}, []string{`"judge"`, "Colour"},
		},
		"only without a winner": {
			map[string]string{"judge": "x{{if .NoWinner}}{{.Colour}}{{end}}"}, []string{`"judge"`, "Colour"},
		},
		"only after the debate": {
			map[string]string{"ballot": "x{{if not .Before}}{{.Colour}}{{end}}"}, []string{`"ballot"`, "Colour"},
		},
		"only with a former summary": {
			map[string]string{"summary": "x{{if .Former}}{{.Colour}}{{end}}"}, []string{`"summary"`, "Colour"},
		},
		"only when cut short": {
			map[string]string{"verdict": "x{{if .Unfinished}}{{.Colour}}{{end}}"}, []string{`"verdict"`, "Colour"},
		},
		"only when advisory": {
			map[string]string{"assess": "x{{if .Ends}}{{.Colour}}{{end}}"}, []string{`"assess"`, "Colour"},
		},
		"another template": {map[string]string{"again": `{{template "turn" .}}`}, []string{`"again"`, `"turn"`}},
		"endless":          {map[string]string{"turn": `{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`}, []string{`"turn"`, "{{define}}"}},
		"a wrong verb":     {map[string]string{"turn": `{{printf "%03d" .Round}}`}, []string{`"turn"`, `calls the function "printf"`}},
		"index":            {map[string]string{"assess": "{{index .Participants 99}}"}, []string{`"assess"`, "out of range"}},
		"no text":          {map[string]string{"turn": " \n{{/* nothing */}}"}, []string{`"turn": yields no text`}},
		"several": {
			map[string]string{"turn": "{{", "referee": "x", "verdict": "{{.Colour}}", "again": "fine"},
			[]string{`"turn"`, `"referee"`, `"verdict"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := prompt.Parse(test.overrides)
			require.Error(t, err)
			assert.Nil(t, set)
			for _, want := range test.want {
				assert.ErrorContains(t, err, want)
			}
			joined, ok := err.(interface{ Unwrap() []error })
			require.True(t, ok)
			bad := len(test.overrides)
			if _, fine := test.overrides["again"]; fine && name == "several" {
				bad--
			}
			assert.Len(t, joined.Unwrap(), bad, "one error for each override that fails")
		})
	}
}

// A replacement may still fail on data that no sample foresees: that is an error too.
func TestOverrideFailsLater(t *testing.T) {
	set := parsed(t, map[string]string{"turn": `x{{if eq .Phase "rebuttal"}}{{.Colour}}{{end}}`})
	_, err := set.Turn(prompt.Turn{Phase: "opening"})
	require.NoError(t, err)
	text, err := set.Turn(prompt.Turn{Phase: "rebuttal"})
	require.ErrorContains(t, err, `template "turn"`)
	assert.Empty(t, text, "no half of a text")
}

// TestATurnIsAlwaysAskedFor: a template that asks only in some turns, such as by the instruction of a format, leaves the others to the
// embedded one.
func TestATurnIsAlwaysAskedFor(t *testing.T) {
	for text, asked := range map[string]prompt.Turn{
		"{{.Instruction}}":              {Instruction: "Name a value."},
		"{{if .Closing}}Close.{{end}}":  {Closing: true},
		"{{if .Question}}Ask.{{end}}\n": {Question: true},
	} {
		set, plain := parsed(t, map[string]string{"turn": text}), parsed(t, nil)
		own, err := set.Turn(asked)
		require.NoError(t, err)
		assert.Contains(t, []string{"Name a value.", "Close.", "Ask."}, own)
		for _, other := range []prompt.Turn{{}, {Opening: true}, {Answer: true}} {
			want, err := plain.Turn(other)
			require.NoError(t, err)
			got, err := set.Turn(other)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	}
}

func TestZeroSet(t *testing.T) {
	for name, set := range map[string]*prompt.Set{"nil": nil, "zero": {}} {
		_, err := set.Debater(prompt.Debater{Name: "Ada"})
		assert.ErrorContains(t, err, "Parse", name)
		assert.Empty(t, set.Names(), name)
	}
}

func TestConcurrentUse(t *testing.T) {
	set := parsed(t, nil)
	want := everything(t, set)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { assert.Equal(t, want, everything(t, set)) })
	}
	wait.Wait()
}

// Rendering must leave the caller's slices as they are, though their values are cleaned.
func TestInputIsKept(t *testing.T) {
	set := parsed(t, nil)
	others := []prompt.Person{{Name: "Ben\n", Side: " against ", Position: prompt.Round}}
	names := []string{" Ada\n" + prompt.Round}
	rubric := []prompt.Criterion{{Name: "wit\n", Low: " none ", High: prompt.Round}}
	for _, do := range []render{
		debater(func(d *prompt.Debater) { d.Others, d.KeyArguments = others, names }),
		judged(func(j *prompt.Judge) { j.Participants, j.Criteria, j.Chairs = others, names, names }),
		judged(func(j *prompt.Judge) { j.Rubric = rubric }),
		assess(prompt.Assess{Participants: names, Rubric: rubric}),
		verdict(prompt.Verdict{Participants: names, Criteria: names}),
		again(prompt.Again{Problems: names}),
		assign(prompt.AssignPositions{Taken: others}),
		findings(prompt.Findings{Items: names}),
		voter(func(v *prompt.Voter) { v.Participants = others }),
		summarizer(prompt.Summarizer{Participants: others}),
	} {
		text(t, set, do)
	}
	assert.Equal(t, []prompt.Person{{Name: "Ben\n", Side: " against ", Position: prompt.Round}}, others)
	assert.Equal(t, []string{" Ada\n" + prompt.Round}, names)
	assert.Equal(t, []prompt.Criterion{{Name: "wit\n", Low: " none ", High: prompt.Round}}, rubric)
}

// A template can make up, or cut out, bytes that are no text: a log would not keep them.
func TestWhatIsRenderedIsText(t *testing.T) {
	set := parsed(t, map[string]string{"debater": `{{"a\xffb"}} {{with .Name}}{{slice . 0 1}}{{end}}{{.Instructions}}` + marks})
	text, err := set.Debater(prompt.Debater{Name: "Émile", Fence: "k7qz"})
	require.NoError(t, err)
	assert.Equal(t, "a\ufffdb \ufffd "+parsed(t, nil).FenceRule("k7qz"), text)
}
