package postgres

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// folders are where packages put the programs of a server, outside of PATH: Debian's, and those of
// postgresql.org for Red Hat.
const folders = "/usr/lib/postgresql/*/bin" + string(os.PathListSeparator) + "/usr/pgsql-*/bin"

// MissingError reports that this machine has no PostgreSQL server, or only a part of it.
type MissingError struct {
	Program string // the program that was not found
}

// Error names the program, and what to install.
func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no %s in PATH or %s: install PostgreSQL (on Debian: apt-get install postgresql)", e.Program, folders)
}

// find returns the folder of the server's programs: the first folder of path that has all of them,
// otherwise the newest of those that match the patterns.
func find(path, patterns string) (string, error) {
	candidates := filepath.SplitList(path)
	for _, pattern := range filepath.SplitList(patterns) {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.SortFunc(matches, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		candidates = append(candidates, matches...)
	}
	lacking := "initdb"
	for _, folder := range candidates {
		// PATH may have links to some of the programs; what they point to has the others beside it.
		initdb, err := filepath.EvalSymlinks(filepath.Join(folder, "initdb"))
		if err != nil {
			continue
		}
		if lacking = lacks(filepath.Dir(initdb)); lacking == "" {
			return filepath.Dir(initdb), nil
		}
	}
	return "", &MissingError{Program: lacking}
}

// lacks returns the name of a program that a folder does not have.
func lacks(folder string) string {
	for _, program := range []string{"postgres", "createdb"} {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			return program
		}
	}
	return ""
}

// version returns the number in a path, 0 if there is none.
func version(path string) float64 {
	digits := strings.FieldsFunc(path, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	for _, d := range digits {
		if v, err := strconv.ParseFloat(d, 64); err == nil {
			return v
		}
	}
	return 0
}
