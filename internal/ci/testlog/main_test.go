package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	testlog "github.com/agonist-dev/debate/internal/ci/testlog"
)

const pass = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"says {\"Action\":\"skip\",\"Test\":\"TestX\"}\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"coverage: 80.0% of statements in ./...\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\tcoverage: 80.0% of statements\n"}
{"Action":"pass","Package":"p","Elapsed":0.1}
`

const skip = `{"Action":"output","Package":"p","Test":"TestB/one","Output":"no database\n"}
{"Action":"skip","Package":"p","Test":"TestB/one","Elapsed":0}
`

// left is a test that longform.Only skips.
func left(name, kept string) string {
	return `{"Action":"output","Package":"p","Test":"` + name + `","Output":"=== RUN   ` + name + `\n"}
{"Action":"output","Package":"p","Test":"` + name + `","Output":"    p_test.go:12: in the long form only; the short form keeps: ` + kept + `\n"}
{"Action":"output","Package":"p","Test":"` + name + `","Output":"--- SKIP: ` + name + ` (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"` + name + `","Elapsed":0}
`
}

// files writes a list of skips and one of counts.
func files(t *testing.T, skips, counts string) []string {
	t.Helper()
	folder := t.TempDir()
	paths := []string{filepath.Join(folder, "skips"), filepath.Join(folder, "tests")}
	require.NoError(t, os.WriteFile(paths[0], []byte(skips), 0o600))
	require.NoError(t, os.WriteFile(paths[1], []byte(counts), 0o600))
	return paths
}

// run reads an input of which all tests are counted.
func run(t *testing.T, skips, input string) (code int, stdout, stderr string) {
	t.Helper()
	paths := files(t, skips, "")
	var out, errs bytes.Buffer
	testlog.Run(append([]string{"-update"}, paths...), strings.NewReader(input), &out, &errs)
	out.Reset()
	errs.Reset()
	code = testlog.Run(paths, strings.NewReader(input), &out, &errs)
	return code, out.String(), errs.String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, skips, input string
		code               int
		stdout, stderr     string
	}{
		{
			name:   "a pass is one line",
			input:  pass,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
		},
		{
			name: "the rest of a long line says nothing",
			input: pass + `{"Action":"output","Package":"q","Output":"ok  \tq\t0.2s\tcoverage: 0.0% of statements in a, b"}
{"Action":"output","Package":"q","Output":", c\n"}
{"Action":"output","Package":"q","Output":"and then\n"}
`,
			stdout: "ok  \tp\t0.1s\nok  \tq\t0.2s\nand then\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
		},
		{
			name: "a package without tests is no skip",
			input: pass + `{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q","Elapsed":0}
`,
			stdout: "ok  \tp\t0.1s\n?   \tq\t[no test files]\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
		},
		{
			name: "a package without tests that was measured says nothing",
			input: pass + `{"Action":"output","Package":"q","Output":"\tq\t\tcoverage: 0.0% of statements\n"}
{"Action":"pass","Package":"q","Elapsed":0}
`,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
		},
		{
			name:   "a skip fails",
			input:  pass + skip,
			code:   1,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 1 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: skipped: p TestB/one\n",
		},
		{
			name:   "a skip on the list passes",
			skips:  "# why\n\np TestB/one # because\n",
			input:  pass + skip,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 1 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
		},
		{
			name:   "a skip of another package is not on the list",
			skips:  "q TestB/one\np TestB\n",
			input:  pass + skip,
			code:   1,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 1 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: skipped: p TestB/one\n",
		},
		{
			name:  "what is left to the long form is listed with what is kept",
			input: left("TestD", "a few seeds") + pass + left("TestC/all", "the first cut of each kind"),
			stdout: `ok  	p	0.1s
in the long form only, and what the short form keeps:
  p TestC/all: the first cut of each kind
  p TestD: a few seeds
1 tests passed, 0 were skipped, 2 are left to the long form, 0 to the run without the race detector
`,
		},
		{
			name:   "what is left to the long form without a word of what is kept fails",
			input:  pass + left("TestC", ""),
			code:   1,
			stdout: "ok  \tp\t0.1s\n1 tests passed, 1 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: skipped: p TestC\n",
		},
		{
			name: "what the race detector has no use for is counted",
			input: pass + strings.ReplaceAll(left("TestD", "x"), "in the long form only; the short form keeps: x",
				"left to the run without the race detector, which finds nothing in it"),
			stdout: "ok  \tp\t0.1s\n1 tests passed, 0 were skipped, 0 are left to the long form, 1 to the run without the race detector\n",
		},
		{
			name: "a failure shows what the test wrote and nothing else",
			input: `{"Action":"output","Package":"p","Test":"TestA","Output":"fine\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"broken\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`,
			code:   1,
			stdout: "broken\nFAIL\tp\t0.1s\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: 2 failed\n",
		},
		{
			name: "a test that never ended shows what it wrote",
			input: `{"Action":"output","Package":"q","Test":"TestQ","Output":"other\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"killed\n"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestQ"}
`,
			code:   1,
			stdout: "killed\n1 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: 1 failed\n",
		},
		{
			name: "a build failure is shown",
			input: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`,
			code:   1,
			stdout: "p.go:1: syntax error\n0 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: 1 failed\n",
		},
		{
			name:   "nothing ran",
			code:   1,
			stdout: "0 tests passed, 0 were skipped, 0 are left to the long form, 0 to the run without the race detector\n",
			stderr: "testlog: no test passed\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, test.skips, test.input)
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.stdout, stdout)
			assert.Equal(t, test.stderr, stderr)
		})
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	code, _, stderr := run(t, "", "ok p 0.1s\n")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "not the output of go test -json")

	code, _, stderr = run(t, "p TestB and more\n", pass)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "skips:1: want a package and a test")

	var out, errs bytes.Buffer
	assert.Equal(t, 2, testlog.Run(nil, strings.NewReader(pass), &out, &errs))
	assert.Contains(t, errs.String(), "usage")

	paths := files(t, "", "p 1\n")
	assert.Equal(t, 2, testlog.Run(paths, strings.NewReader(pass), &out, &errs))
	assert.Contains(t, errs.String(), "tests:1: want a package and two numbers")

	for i := range paths {
		some := files(t, "", "")
		require.NoError(t, os.Remove(some[i]))
		errs.Reset()
		assert.Equal(t, 2, testlog.Run(some, strings.NewReader(pass), &out, &errs))
		assert.Contains(t, errs.String(), filepath.Base(some[i]))
	}
}

// Without a list of counts nothing is counted.
func TestNothingIsCounted(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	assert.Zero(t, testlog.Run(files(t, "", "")[:1], strings.NewReader(pass), &out, &errs))
	assert.Empty(t, errs.String())
}

// A test that is lost, and one that leaves the race detector, is told.
func TestCounts(t *testing.T) {
	t.Parallel()
	lone := strings.ReplaceAll(left("TestD", "x"), "in the long form only; the short form keeps: x",
		"left to the run without the race detector, which finds nothing in it")
	alone := strings.ReplaceAll(pass, "TestA", "TestD")
	for name, test := range map[string]struct{ counts, input, stderr string }{
		"as it was":                      {"# all\np 1 0\n", pass, ""},
		"a part of a test is none":       {"p 1 0\n", strings.ReplaceAll(skip, `"skip"`, `"pass"`) + pass, ""},
		"a test more":                    {"p 1 0\n", left("TestC", "one") + pass, "testlog: p has 2 tests, and had 1\n"},
		"a test less":                    {"p 2 0\n", pass, "testlog: p has 1 tests, and had 2\n"},
		"a package more":                 {"", pass, "testlog: p has 1 tests, and had 0\n"},
		"a package less":                 {"p 1 0\nq 3 0\n", pass, "testlog: q has 0 tests, and had 3\n"},
		"left to the other run":          {"p 2 1\n", lone + pass, ""},
		"one more is left to it":         {"p 2 0\n", lone + pass, "testlog: p leaves 1 tests to the run without the race detector, and left 0\n"},
		"the other run leaves nothing":   {"p 2 1\n", alone + pass, ""},
		"a test that fails is not lost":  {"p 1 0\n", strings.ReplaceAll(pass, `"Action":"pass","Package":"p","Test"`, `"Action":"fail","Package":"p","Test"`), "testlog: 1 failed\n"},
		"one that never ended is missed": {"p 1 0\n", `{"Action":"fail","Package":"p"}`, "testlog: p has 0 tests, and had 1\ntestlog: 1 failed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			code := testlog.Run(files(t, "", test.counts), strings.NewReader(test.input), &out, &errs)
			assert.Equal(t, test.stderr, errs.String())
			assert.Equal(t, test.stderr != "", code == 1)
		})
	}
}

func FuzzLog(f *testing.F) {
	f.Add(pass)
	f.Add(pass + skip)
	f.Add(`{"Action":"fail"}`)
	f.Add(`{"Action":"output","Test":"TestA","Output":"x"}{"Action":"fail","Package":""}`)
	folder := f.TempDir()
	paths := []string{filepath.Join(folder, "skips"), filepath.Join(folder, "tests")}
	for _, path := range paths {
		require.NoError(f, os.WriteFile(path, nil, 0o600))
	}
	f.Fuzz(func(t *testing.T, input string) {
		var out, errs bytes.Buffer
		code := testlog.Run(paths, strings.NewReader(input), &out, &errs)
		assert.Equal(t, code != 0, errs.Len() > 0)
	})
}
