package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	figures "github.com/agonist-dev/debate/internal/ci/figures"
)

// lines is a text of so many lines, words the same in words.
func lines(n int) string { return strings.Repeat("\n", n) }
func words(n int) string { return strings.Repeat("word ", n) }

// source is a Go file of so many lines.
func source(name string, n int) string { return "package " + name + "\n" + lines(n-1) }

// clean returns the files of a repository of two modules.
func clean() map[string]string {
	files := map[string]string{
		".ci/figures":              "",
		"go.mod":                   "module m\n",
		"README.md":                words(101),
		"CHANGELOG.md":             words(100),
		"CONTRIBUTING.md":          words(1000),
		"docs/a.md":                words(120),
		"docs/more/b.md":           words(120),
		"docs/internal/c.md":       words(1),
		"root.go":                  source("m", 60) + "type Root struct{}\n",
		"root_test.go":             source("m", 900),
		"other_test.go":            source("m", 1),
		"flow/flow.go":             source("flow", 50),
		"flow/flow_test.go":        "package flow\n",
		"internal/secret/of.go":    source("secret", 1) + "const Key = 1\n",
		"cmd/program/main.go":      source("main", 700),
		"examples/one/main.go":     source("main", 1),
		"examples/one/lib/lib.go":  source("lib", 1) + "const Name = 1\n",
		"nested/go.mod":            "module m/nested\n",
		"nested/testdata/wrong.go": "no Go",
		"nested/.hidden/wrong.go":  "no Go",
	}
	for i := range 21 {
		files[fmt.Sprintf("nested/file%d.go", i)] = fmt.Sprintf("package nested\nvar V%d int\n", i)
	}
	return files
}

// today is the table of the clean repository, without its head.
const today = `
files   .                        1
files   flow                     1
files   nested                  21

tests   .                        2

names   .                        1
names   flow                     0
names   nested                  21

lines   .                      100
lines   cmd/program            700
lines   examples/one            50
lines   examples/one/lib        50
lines   flow                    50
lines   internal/secret         50
lines   nested                  50

words   CHANGELOG.md           100
words   README.md              200
words   docs                   300
words   docs/internal          100

allocs  W1/call               97.4
`

// write stores files in a folder of their own.
func write(t *testing.T, changes ...map[string]string) string {
	t.Helper()
	files := clean()
	for _, change := range changes {
		maps.Copy(files, change)
	}
	folder := t.TempDir()
	for name, text := range files {
		put(t, folder, name, text)
	}
	return folder
}

// put stores a file. One without text is removed.
func put(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if text == "" {
		require.NoError(t, os.RemoveAll(path))
		return
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// run takes the figures of a folder, in which a call allocates so much.
func run(t *testing.T, folder string, allocs float64, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = figures.Run(t.Context(), folder, args, func(context.Context) (map[string]float64, error) {
		return map[string]float64{"allocs W1/call": allocs}, nil
	}, &out, &errs)
	return code, out.String(), errs.String()
}

// written returns the table without its head.
func written(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, ".ci", "figures"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n\n")
	require.True(t, found)
	return "\n" + rest
}

// noHistory begins what is said of a folder that is not a repository.
const noHistory = "the reasons are not checked: there is no history here: "

func TestCount(t *testing.T) {
	t.Parallel()
	folder := write(t)
	code, _, stderr := run(t, folder, 97.4, "-update")
	require.Zero(t, code, stderr)
	assert.Equal(t, strings.Join(strings.Fields(today), " "), strings.Join(strings.Fields(written(t, folder)), " "))
	for row := range strings.Lines(written(t, folder)) {
		if row != "\n" {
			assert.Len(t, row, len("allocs  examples/one/lib       97.4\n"), "the columns stand below each other")
		}
	}
	code, stdout, stderr := run(t, folder, 97.4)
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, noHistory)
	assert.Contains(t, stdout, "\n19 figures are as .ci/figures has them\n")
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"nothing":                          {"type t struct{ Name string }\nfunc f() {}\nvar a, b int", 0},
		"constants and variables":          {"const (\nA = iota\nB\nc\n)\nvar D, e, F int", 4},
		"functions":                        {"func F() {}\nfunc G[T any](t T) {}", 2},
		"a type and its fields":            {"type T struct {\nA, B int\nc int\n}", 3},
		"a struct within a struct":         {"type T struct {\nA struct{ B int; c int }\n}", 3},
		"embedded types":                   {"type T struct {\n*io.Reader\nother\nBox[int]\n}", 3},
		"methods":                          {"type T int\nfunc (T) A() {}\nfunc (t *T) B() {}\nfunc (t *T) c() {}", 3},
		"methods of a generic type":        {"type T[A, B any] int\nfunc (T[A, B]) M() {}\ntype U[A any] int\nfunc (*U[A]) M() {}", 4},
		"methods of a type that is hidden": {"type t int\nfunc (t) A() {}", 0},
		"an interface":                     {"type I interface {\nA()\nb()\nfmt.Stringer\n}", 2},
		"an alias":                         {"type T = io.Reader", 1},
		"a name that is none":              {"import \"io\"\nvar _ io.Reader", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t, map[string]string{"flow/flow.go": "package flow\n" + test.text})
			_, _, stderr := run(t, folder, 97.4, "-update")
			assert.Empty(t, stderr)
			assert.Regexp(t, fmt.Sprintf(`\nnames +flow +%d\n`, test.want), written(t, folder))
		})
	}
}

// Each of these trees exports one name from flow.
func TestOneName(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"a function that two files declare for two systems": {
			"flow/a_unix.go":    "package flow\nfunc F() {}\n",
			"flow/a_windows.go": "package flow\nfunc F() {}\n",
		},
		"a library beside a program that no build takes": {
			"flow/make.go": "//go:build ignore\n\npackage main\n\nfunc Made() {}\n",
			"flow/a.go":    "package flow\n\nfunc F() {}\n",
		},
		"a file that says that a program has written it": {
			"flow/a.go": "// Code generated by hand. DO NOT EDIT.\n\npackage flow\n\nfunc F() {}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t, files)
			_, _, stderr := run(t, folder, 97.4, "-update")
			assert.Empty(t, stderr)
			assert.Regexp(t, `\nnames +flow +1\n`, written(t, folder))
		})
	}
}

const (
	worse  = "figures: 1 got worse: make it smaller, or change the table in the same commit by -update, with a reason behind the number\n"
	better = "figures: 1 got better: write it down by -update, since a gain that is not written down can be lost again unnoticed\n"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change         map[string]string
		allocs         float64
		stdout, stderr string // stdout without the word on the history
	}{
		"a file more": {
			change: map[string]string{"flow/more.go": "package flow"},
			stdout: "files flow: 1 → 2 (+100.0 %), worse\n", stderr: worse,
		},
		"a file less": {
			change: map[string]string{"nested/file7.go": "", "nested/file8.go": "package nested\nvar V7, V8 int\n"},
			stderr: "figures: files nested: there is none any more; its line must go, by -update\n",
		},
		"a test file more": {
			change: map[string]string{"more_test.go": "package m"},
			stdout: "tests .: 2 → 3 (+50.0 %), worse\n", stderr: worse,
		},
		"a test file less": {
			change: map[string]string{"other_test.go": ""},
			stdout: "tests .: 2 → 1 (-50.0 %), better and not written down\n", stderr: better,
		},
		"a name more": {
			change: map[string]string{"nested/file7.go": "package nested\nvar V7, V77 int\n"},
			stdout: "names nested: 21 → 22 (+4.8 %), worse\n", stderr: worse,
		},
		"a name less": {
			change: map[string]string{"nested/file7.go": "package nested\nvar V6 int\n"},
			stdout: "names nested: 21 → 20 (-4.8 %), better and not written down\n", stderr: better,
		},
		"lines up to the next fifty": {
			change: map[string]string{"root.go": source("m", 99) + "type Root struct{}\n"},
			stdout: "19 figures are as .ci/figures has them\n",
		},
		"lines beyond the next fifty": {
			change: map[string]string{"root.go": source("m", 100) + "type Root struct{}\n"},
			stdout: "lines .: 100 → 101 (+1.0 %), worse\n", stderr: worse,
		},
		"some lines less": {
			change: map[string]string{"cmd/program/main.go": source("main", 600)},
			stdout: "lines cmd/program: 700 → 600 (-14.3 %), better\n",
		},
		"many lines less": {
			change: map[string]string{"cmd/program/main.go": source("main", 599)},
			stdout: "lines cmd/program: 700 → 599 (-14.4 %), better and not written down\n", stderr: better,
		},
		"words beyond the next hundred": {
			change: map[string]string{"README.md": words(201)},
			stdout: "words README.md: 200 → 201 (+0.5 %), worse\n", stderr: worse,
		},
		"many words less": {
			change: map[string]string{"docs/a.md": "", "docs/more/b.md": words(99)},
			stdout: "words docs: 300 → 99 (-67.0 %), better and not written down\n", stderr: better,
		},
		"a page less than all": {
			change: map[string]string{"docs/internal/c.md": ""},
			stderr: "figures: words docs/internal: there is none any more; its line must go, by -update\n",
		},
		"allocations within the noise": {
			allocs: 97.8, stdout: "19 figures are as .ci/figures has them\n",
		},
		"allocations beyond the noise": {
			allocs: 98, stdout: "allocs W1/call: 97.4 → 98 (+0.6 %), worse\n", stderr: worse,
		},
		"some allocations less": {
			allocs: 95, stdout: "allocs W1/call: 97.4 → 95 (-2.5 %), better\n",
		},
		"many allocations less": {
			allocs: 94, stdout: "allocs W1/call: 97.4 → 94 (-3.5 %), better and not written down\n", stderr: better,
		},
		"a new package": {
			change: map[string]string{"new/new.go": "package fresh\n"},
			stderr: "figures: names new: 0 is not in the table; add it by -update, and write a reason\n" +
				"figures: lines new: 1 is not in the table; add it by -update, and write a reason\n",
		},
		"a package that is gone": {
			change: map[string]string{"internal/secret": ""},
			stderr: "figures: lines internal/secret: there is none any more; its line must go, by -update\n",
		},
		"sources and tests as long as they may be": {
			change: map[string]string{"cmd/program/main.go": source("main", 350), "cmd/program/more.go": source("main", 350), "examples/one/main_test.go": source("main", 900)},
			stdout: "19 figures are as .ci/figures has them\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t)
			code, _, stderr := run(t, folder, 97.4, "-update")
			require.Zero(t, code, stderr)
			for file, text := range test.change {
				put(t, folder, file, text)
			}
			allocs := test.allocs
			if allocs == 0 {
				allocs = 97.4
			}
			code, stdout, stderr := run(t, folder, allocs)
			assert.Equal(t, test.stderr != "", code == 1)
			assert.Equal(t, test.stderr, stderr)
			said := ""
			for row := range strings.Lines(stdout) {
				if !strings.HasPrefix(row, noHistory) {
					said += row
				}
			}
			assert.Equal(t, test.stdout, said)
		})
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{
		"examples/one/main.go":  source("main", 701),
		"flow/long_test.go":     source("flow", 901),
		"internal/long/long.go": source("long", 700),
	})
	code, _, stderr := run(t, folder, 97.4, "-update")
	assert.Equal(t, 1, code)
	assert.Equal(t, `figures: examples/one/main.go: 701 lines; it may have 700
figures: flow/long_test.go: 901 lines; it may have 900
`, stderr)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{
		".ci/figures": `# An old head.
tests  .            2   for each kind of store
lines  cmd/program  600 a program
lines  flow         100 it was once larger
lines  gone         100 because
`,
		"new/new.go": "package fresh\n",
	})
	code, stdout, _ := run(t, folder, 97.4, "-update")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "lines gone: gone\n")
	assert.Contains(t, stdout, "lines new: 50, new: wants a reason\n")
	assert.Contains(t, stdout, "lines cmd/program: 600 → 700 (+16.7 %): wants a reason\n")
	assert.Contains(t, stdout, "lines flow: 100 → 50 (-50.0 %)\n")
	text := written(t, folder)
	assert.Regexp(t, `\ntests +\. +2  for each kind of store\n`, text)
	assert.Regexp(t, `\nlines +cmd/program +700\n`, text)
	assert.Regexp(t, `\nlines +flow +50  it was once larger\n`, text)
	assert.NotContains(t, text, "gone")

	code, again, stderr := run(t, folder, 97.4, "-update")
	assert.Zero(t, code, stderr)
	assert.NotContains(t, again, "→")
	assert.Equal(t, text, written(t, folder))
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"no number":        {".ci/figures", "lines flow\n", ".ci/figures:1: want a kind"},
		"a word":           {".ci/figures", "# head\n\nlines flow many\n", `.ci/figures:3: "many" is not a number`},
		"less than none":   {".ci/figures", "lines flow -1\n", `"-1" is not a number`},
		"no number at all": {".ci/figures", "lines flow NaN\n", `"NaN" is not a number`},
		"an unknown kind":  {".ci/figures", "length flow 1\n", `unknown kind "length"`},
		"a line twice":     {".ci/figures", "lines flow 1\nlines flow 2\n", ".ci/figures:2: lines flow is a duplicate"},
		"no Go":            {"flow/flow.go", "no Go", "flow/flow.go:1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := run(t, write(t, map[string]string{test.file: test.text}), 97.4)
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, test.want)
		})
	}
	code, _, stderr := run(t, t.TempDir(), 1, "-updat")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "usage")

	var out, errs bytes.Buffer
	assert.Equal(t, 2, figures.Run(t.Context(), write(t), nil, func(context.Context) (map[string]float64, error) {
		return nil, errors.New("no debate today")
	}, &out, &errs))
	assert.Contains(t, errs.String(), "no debate today")
}

func FuzzTable(f *testing.F) {
	f.Add(today)
	f.Add("# head\nlines . 100 it grew # twice\nbytes W1/R=1 1e400\n")
	f.Add("names a 0x1p-2\nnames a .5\nwords \xff 1")
	f.Fuzz(func(t *testing.T, text string) {
		once, err := figures.Rewrite(text)
		if err != nil {
			return
		}
		twice, err := figures.Rewrite(once)
		require.NoError(t, err)
		assert.Equal(t, once, twice)
	})
}
