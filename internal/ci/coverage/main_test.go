package main_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coverage "github.com/agonist-dev/debate/internal/ci/coverage"
)

const module = "github.com/agonist-dev/debate/"

// named are the files that must be in every profile.
func named() map[string]int {
	return map[string]int{"flow/machine.go": 100, "flow/core.go": 100, "flow/error.go": 100, "judge.go": 100}
}

// write stores a profile in which each file has 100 statements, as many of them covered as given.
func write(t *testing.T, covered map[string]int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("mode: atomic\n")
	for _, file := range slices.Sorted(maps.Keys(covered)) {
		ran := covered[file]
		b.WriteString(module + file + ":1.1,2.2 " + strconv.Itoa(ran) + " 3\n")
		b.WriteString(module + file + ":3.1,4.2 " + strconv.Itoa(100-ran) + " 0\n")
	}
	return save(t, b.String())
}

func save(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.out")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func run(paths ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = coverage.Run(paths, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFloors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file  string
		floor int
	}{
		{"flow/machine.go", 95},
		{"flow/core.go", 95},
		{"flow/error.go", 90},
		{"prompt/prompt.go", 90},
		{"judge.go", 85},
		{"context/window/slide.go", 85},
		{"provider/chat.go", 80},
		{"provider/error.go", 80},
		{"provider/openaicompat/stream.go", 80},
		{"debate.go", 0},
		{"store/file/core.go", 0},
		{"prompter.go", 0},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			covered := named()
			covered[test.file] = test.floor
			code, _, stderr := run(write(t, covered))
			assert.Zero(t, code)
			assert.Empty(t, stderr)
			if test.floor == 0 {
				return
			}
			covered[test.file] = test.floor - 1
			code, _, stderr = run(write(t, covered))
			assert.Equal(t, 1, code)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			assert.Contains(t, stderr, "coverage: "+test.file+": ")
		})
	}
}

func TestNamedFileMissing(t *testing.T) {
	t.Parallel()
	for file := range named() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			covered := named()
			delete(covered, file)
			code, _, stderr := run(write(t, covered))
			assert.Equal(t, 1, code)
			assert.Equal(t, "coverage: "+file+": not in the profile\n", stderr)
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	covered := named()
	covered["flow/event.go"] = 0
	covered["prompt/prompt.go"] = 90
	code, stdout, _ := run(write(t, covered))
	assert.Zero(t, code)
	assert.Equal(t, `percent  statements  floor  file
    0.0         100      -  flow/event.go
   90.0         100     90  prompt/prompt.go
  100.0         100     95  flow/core.go
  100.0         100     90  flow/error.go
  100.0         100     95  flow/machine.go
  100.0         100     85  judge.go
   81.7         600      -  total
`, stdout)
}

// A block that several test binaries report is counted once, and as covered if one of them ran it.
func TestBlocksMerge(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(write(t, named()))
	require.NoError(t, err)
	first := save(t, string(text)+
		module+"store.go:1.1,2.2 3 0\n"+
		module+"store.go:1.1,2.2 3 7\n"+
		module+"store.go:1.1,2.2 3 0\n"+
		module+"store.go:5.1,6.2 1 0\n")

	_, stdout, _ := run(first)
	assert.Contains(t, stdout, "   75.0           4      -  store.go\n")

	second := save(t, "mode: set\n"+module+"store.go:5.1,6.2 1 1\n")
	_, stdout, _ = run(first, second)
	assert.Contains(t, stdout, "  100.0           4      -  store.go\n")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	const block = module + "a.go:1.1,2.2 1 1\n"
	for name, text := range map[string]string{
		"nothing":             "",
		"only the mode":       "mode: set\n",
		"no mode":             block,
		"a word":              "mode: set\nword\n",
		"no range":            "mode: set\n" + module + "a.go 1 1\n",
		"an empty range":      "mode: set\n" + module + "a.go: 1 1\n",
		"no file":             "mode: set\n:1.1,2.2 1 1\n",
		"a colon in a number": "mode: set\n" + module + "a.go 1:1 1\n",
		"negative statements": "mode: set\n" + module + "a.go:1.1,2.2 -1 1\n",
		"times not a number":  "mode: set\n" + module + "a.go:1.1,2.2 1 x\n",
		"two sizes":           "mode: set\n" + block + module + "a.go:1.1,2.2 2 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(save(t, text))
			assert.Equal(t, 2, code)
			assert.Empty(t, stdout)
			assert.NotEmpty(t, stderr)
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	code, _, stderr := run()
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "usage")

	code, _, stderr = run(filepath.Join(t.TempDir(), "absent"))
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "absent")
}

func FuzzProfile(f *testing.F) {
	f.Add("mode: atomic\n" + module + "core.go:1.1,2.2 1 1\n")
	f.Add("mode: set\n" + module + "core.go:1.1,2.2 2147483647 18446744073709551615\n")
	f.Add("mode: set\n: : :\n")
	f.Fuzz(func(t *testing.T, text string) {
		code, stdout, stderr := run(save(t, text))
		if code == 2 {
			assert.Empty(t, stdout)
		}
		assert.Equal(t, code != 0, stderr != "")
	})
}
