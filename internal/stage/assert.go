package stage

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
)

// Update reports whether golden files are to be written: whether the package that is tested has a flag "update", and it is set.
func Update() bool {
	asked := flag.Lookup("update")
	return asked != nil && asked.Value.String() == "true"
}

// Node is a place in a JSON tree: where it is, what is there, and how to put something else there.
type Node struct {
	Path  string
	Value any
	Put   func(any)
}

// FieldsOf yields the field that each of the joined errors names, sorted.
func FieldsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var out []string
	for _, one := range all {
		var failure *debate.Error
		require.ErrorAs(t, one, &failure)
		assert.Equal(t, provider.KindValidation, failure.Kind, "%v", one)
		assert.NotEmpty(t, failure.Hint())
		assert.Contains(t, err.Error(), failure.Field)
		out = append(out, failure.Field)
	}
	slices.Sort(out)
	return out
}

// Soon asserts that something costs no time, by the memory that it takes meanwhile: what grows with the square of its input, or with a
// product, takes gigabytes.
func Soon(t testing.TB, do func()) {
	t.Helper()
	assert.Less(t, Allocated(do), uint64(256<<20))
}

// Refused asserts that an error is of kind validation and names a field.
func Refused(t *testing.T, err error, field string) {
	t.Helper()
	require.Error(t, err)
	var fields []string
	var each func(error)
	each = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				each(e)
			}
			return
		}
		var e *debate.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, provider.KindValidation, e.Kind)
		fields = append(fields, e.Field)
	}
	each(err)
	assert.Contains(t, fields, field, "%v", err)
	assert.Less(t, len(err.Error()), 20_000)
}

// Golden compares with a file under testdata, or writes it.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if Update() {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got, "run the test with -update if the change is meant")
}

// RequireKind requires an error of a kind, and returns it.
func RequireKind(t *testing.T, err error, kind debate.Kind) *debate.Error {
	t.Helper()
	var failure *debate.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Kind, "%v", err)
	return failure
}

// Allocated returns how many bytes do allocates. What others allocate meanwhile counts too.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// NamesNoTypes asserts that an error says nothing of the types of Go that a value was read into.
func NamesNoTypes(t *testing.T, err error) {
	t.Helper()
	for _, word := range []string{"json:", "Go struct", "configJSON", "budgetJSON", "retryJSON", "errorJSON", "debate.", "unmarshal", "UnmarshalJSON"} {
		assert.NotContains(t, err.Error(), word)
	}
}

// Nodes yields all places of a tree below its root.
func Nodes(path string, tree any) (all []Node) {
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			all = append(append(all, Node{at, v[key], func(x any) { v[key] = x }}), Nodes(at, v[key])...)
		}
	case []any:
		for i := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			all = append(append(all, Node{at, v[i], func(x any) { v[i] = x }}), Nodes(at, v[i])...)
		}
	}
	return all
}

// cells splits a line of a table; it yields nil for any other line.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") {
		return nil
	}
	list := strings.Split(strings.Trim(line, "|"), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// TableAfter yields the cells of the first table of a page whose head begins with these columns, line by line. The head is the first line.
func TableAfter(t *testing.T, text string, columns ...string) [][]string {
	t.Helper()
	var table [][]string
	for line := range strings.Lines(text) {
		row := cells(line)
		switch {
		case table == nil && len(row) >= len(columns) && slices.Equal(row[:len(columns)], columns):
			table = [][]string{row}
		case row != nil && table != nil:
			table = append(table, row)
		case table != nil && !strings.HasPrefix(line, "|-"):
			return table
		}
	}
	require.NotNil(t, table, "there is no table of %q", columns)
	return table
}
