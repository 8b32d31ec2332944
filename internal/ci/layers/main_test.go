package main_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	layers "github.com/agonist-dev/debate/internal/ci/layers"
)

const plan = `package low internal/...
package .
	imports low internal/...
	room engine # knows the flow
		files engine.go
		uses flow
	room flow
		files flow*.go
		forbids internal/... net/...
`

// clean returns the files of a module that follows its plan.
func clean() map[string]string {
	return map[string]string{
		".ci/layers":            plan,
		"go.mod":                "module example.org/m\n\ngo 1.26.0\n",
		"low/low.go":            "package low\n\nconst One = 1\n",
		"internal/secret/of.go": "package secret\n",
		"flow.go":               "package m\n\nimport _ \"example.org/m/low\"\n\ntype Flow struct{ Name string }\n",
		"flow_test.go":          "package m\n\nvar _ Engine\n",
		"engine.go": `package m

import _ "example.org/m/internal/secret"

const Limit = 1

var Names []string

type Engine struct {
	Flow
	Inner struct{ Depth int }
}

func (e *Engine) Run() string { return e.Name }

func Open() *Engine { return nil }

type Runner interface{ Go() }

type Box[T any] struct{ Value T }

func (b *Box[T]) Get() T { return b.Value }
`,
	}
}

// wrong is a change of the clean module: all that a file can do wrong to another.
const wrong = `package m

func Start() {
	e := Open()
	_ = e.Run()
	e.Inner.Depth = Limit
	_ = Names
}

type Steps struct{ next Runner }

func (s *Steps) Next() { s.next.Go() }

var first, second = Box[int]{Value: 2}, new(Box[int]).Get()

func (e *Engine) Stop() {}
`

// write stores files in a folder of their own. A file without text is left out.
func write(t *testing.T, changes ...map[string]string) string {
	t.Helper()
	files := clean()
	for _, change := range changes {
		maps.Copy(files, change)
	}
	folder := t.TempDir()
	for name, text := range files {
		if text == "" {
			continue
		}
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

func run(t *testing.T, folder string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = layers.Run(t.Context(), folder, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestClean(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, write(t))
	assert.Zero(t, code)
	assert.Equal(t, "no import and no reference goes the wrong way\n", stdout)
	assert.Empty(t, stderr)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change map[string]string
		want   []string
	}{
		"an import": {
			map[string]string{"low/low.go": "package low\n\nimport (\n\t_ \"fmt\"\n\t_ \"example.org/m/internal/secret\"\n)\n"},
			[]string{"low/low.go:5: package low imports example.org/m/internal/secret, which its rule in line 1 of the plan does not allow"},
		},
		"an import of a file for another system": {
			map[string]string{"low/low_plan9.go": "package low\n\nimport _ \"example.org/m/internal/secret\"\n"},
			[]string{"low/low_plan9.go:3: package low imports example.org/m/internal/secret, which its rule in line 1 of the plan does not allow"},
		},
		"an import in a nested module": {
			map[string]string{
				"go.work":          "go 1.26.0\n\nuse (\n\t.\n\t./high\n)\n",
				"high/go.mod":      "module example.org/m/high\n\ngo 1.26.0\n",
				"high/top/high.go": "package top\n\nimport _ \"example.org/m\"\n",
				".ci/layers":       "package high/...\n\timports low\n" + plan,
			},
			[]string{"high/top/high.go:3: package high/top imports example.org/m, which its rule in line 1 of the plan does not allow"},
		},
		"imports that a room forbids": {
			map[string]string{"flow.go": "package m\n\nimport (\n\t_ \"example.org/m/internal/secret\"\n\t_ \"net/url\"\n)\n\ntype Flow struct{ Name string }\n"},
			[]string{
				"flow.go:4: flow.go (room flow) imports example.org/m/internal/secret, which the room forbids",
				"flow.go:5: flow.go (room flow) imports net/url, which the room forbids",
			},
		},
		"references": {
			map[string]string{"flow_start.go": wrong},
			[]string{
				"flow_start.go:4: Start (room flow) refers to Open in engine.go:16 (room engine)",
				"flow_start.go:5: Start (room flow) refers to Engine.Run in engine.go:14 (room engine)",
				"flow_start.go:6: Start (room flow) refers to Engine.Depth in engine.go:11 (room engine)",
				"flow_start.go:6: Start (room flow) refers to Engine.Inner in engine.go:11 (room engine)",
				"flow_start.go:6: Start (room flow) refers to Limit in engine.go:5 (room engine)",
				"flow_start.go:7: Start (room flow) refers to Names in engine.go:7 (room engine)",
				"flow_start.go:10: Steps (room flow) refers to Runner in engine.go:18 (room engine)",
				"flow_start.go:12: Steps.Next (room flow) refers to Runner.Go in engine.go:18 (room engine)",
				"flow_start.go:14: first (room flow) refers to Box in engine.go:20 (room engine)",
				"flow_start.go:14: first (room flow) refers to Box in engine.go:20 (room engine)",
				"flow_start.go:14: first (room flow) refers to Box.Get in engine.go:22 (room engine)",
				"flow_start.go:14: first (room flow) refers to Box.Value in engine.go:20 (room engine)",
				"flow_start.go:16: Engine.Stop (room flow) refers to Engine in engine.go:9 (room engine)",
			},
		},
		"a package without a rule": {
			map[string]string{"high/high.go": "package high\n"},
			[]string{".ci/layers:1: package high is missing in the plan"},
		},
		"rules without a package": {
			map[string]string{".ci/layers": "package high\n\troom all\n\t\tfiles high.go\npackage low low/...\n" + plan},
			[]string{
				`.ci/layers:1: no package has its rule from "high"; remove it`,
				`.ci/layers:4: no package has its rule from "low/..."; remove it`,
				`.ci/layers:5: no package has its rule from "low"; remove it`,
			},
		},
		"a file in no room": {
			map[string]string{"other.go": "package m\n", "other_plan9.go": "package m\n"},
			[]string{
				".ci/layers:2: other.go of package . is in no room",
				".ci/layers:2: other_plan9.go of package . is in no room",
			},
		},
		"a file in two rooms": {
			map[string]string{".ci/layers": plan + "\troom late\n\t\tfiles f*.go\n"},
			[]string{".ci/layers:10: flow.go of package . is in the rooms flow and late"},
		},
		"a pattern without a file": {
			map[string]string{".ci/layers": plan + "\t\tfiles late.go\n"},
			[]string{".ci/layers:7: room flow: no file is called late.go; remove it"},
		},
		"references in a package below the root": {
			map[string]string{
				"low/high.go": "package low\n\nconst Two = One + 1\n",
				".ci/layers":  strings.Replace(plan, "low internal/...\n", "internal/...\npackage low\n\troom a\n\t\tfiles high.go\n\troom b\n\t\tfiles low.go\n", 1),
			},
			[]string{"low/high.go:3: Two (room a) refers to One in low/low.go:3 (room b)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, write(t, test.change))
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			assert.Equal(t, test.want, lines[:len(lines)-1])
			assert.Equal(t, fmt.Sprintf("layers: failures: %d; the plan is .ci/layers", len(test.want)), lines[len(lines)-1])
		})
	}
}

// The most exact rule of a package counts, wherever it stands.
func TestRuleOfPackage(t *testing.T) {
	t.Parallel()
	change := map[string]string{
		"internal/secret/of.go":   "package secret\n\nimport _ \"example.org/m/low\"\n",
		"internal/secret/by/b.go": "package by\n\nimport _ \"example.org/m/internal/secret\"\n",
		"internal/other/o.go":     "package other\n",
		"internal/internal.go":    "package internal\n\nimport _ \"example.org/m/low\"\n",
		".ci/layers": "package internal/secret\n\timports low\npackage internal/secret/...\n\timports internal/secret\n" +
			plan + "package internal\n\timports low\n",
	}
	code, _, stderr := run(t, write(t, change))
	assert.Zero(t, code, stderr)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"no plan":                {".ci/layers", "", "no such file"},
		"an unknown word":        {".ci/layers", plan + "\t\tfile flow.go\n", `.ci/layers:10: "file" is unknown here`},
		"imports of a room":      {".ci/layers", plan + "\t\timports low\n", `.ci/layers:10: "imports" is unknown here`},
		"files of a package":     {".ci/layers", "package .\n\tfiles flow.go\n", `.ci/layers:2: "files" is unknown here`},
		"a line without names":   {".ci/layers", plan + "\t\tuses # nothing\n", `.ci/layers:10: nothing follows "uses"`},
		"a line of no package":   {".ci/layers", "imports low\n", `.ci/layers:1: "imports" stands before the first package`},
		"a room of two packages": {".ci/layers", "package low .\n\troom a\n", ".ci/layers:2: want one name of a room"},
		"a room of a pattern":    {".ci/layers", "package low/...\n\troom a\n", ".ci/layers:2: want one name of a room"},
		"a room with two names":  {".ci/layers", "package .\n\troom a b\n", ".ci/layers:2: want one name of a room"},
		"a room twice":           {".ci/layers", plan + "\troom flow\n", ".ci/layers:10: room flow is there already"},
		"an unknown room":        {".ci/layers", plan + "\t\tuses attic\n", ".ci/layers:7: room flow uses attic, which is no room"},
		"no package clause":      {"low/low.go", "One\n", "low/low.go:1"},
		"a name that is unknown": {"flow.go", "package m\n\ntype Flow struct{ Name None }\n", "flow.go:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, write(t, map[string]string{test.file: test.text}))
			assert.Equal(t, 2, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, test.want)
		})
	}
	code, _, stderr := run(t, t.TempDir(), "all")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "usage")
}
