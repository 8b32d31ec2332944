// Command coverage prints the statement coverage of each file in cover profiles and fails if a file
// that has a floor is below it.
//
//	go run ./internal/ci/coverage profile.out
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

const module = "github.com/agonist-dev/debate/"

// rule is the floor of a file or, if Path ends in a slash, of each file below a folder.
type rule struct {
	Path  string // below the module
	Floor int    // percent of statements
}

// rules gives the floors; the first that matches a file counts. A file that is named in full must
// be in the profile.
func rules() []rule {
	return []rule{
		{"flow/machine.go", 95},
		{"flow/core.go", 95},
		{"flow/error.go", 90},
		{"judge.go", 85},
		{"prompt/", 90},
		{"context/", 85},
		{"provider/", 80},
	}
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if every floor holds, 1 if one does not, 2 if the profiles cannot be
// read.
func run(paths []string, stdout, stderr io.Writer) int {
	if len(paths) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: coverage profile...")
		return 2
	}
	p := profile{}
	for _, path := range paths {
		if err := p.readFile(path); err != nil {
			_, _ = fmt.Fprintln(stderr, "coverage:", err)
			return 2
		}
	}
	files := p.files()
	_, _ = io.WriteString(stdout, table(files))
	failures := check(files)
	for _, failure := range failures {
		_, _ = fmt.Fprintln(stderr, "coverage:", failure)
	}
	if len(failures) > 0 {
		return 1
	}
	return 0
}

// table shows the files in their order and the total below them.
func table(files []file) string {
	var b strings.Builder
	total := file{Path: "total"}
	b.WriteString("percent  statements  floor  file\n")
	for _, f := range files {
		writeRow(&b, f)
		total.Covered += f.Covered
		total.Statements += f.Statements
	}
	writeRow(&b, total)
	return b.String()
}

func writeRow(b *strings.Builder, f file) {
	limit := "-"
	if r, ok := ruleFor(f.Path); ok {
		limit = strconv.Itoa(r.Floor)
	}
	_, _ = fmt.Fprintf(b, "%7.1f  %10d  %5s  %s\n", f.percent(), f.Statements, limit, f.Path)
}

// check returns a sentence for each floor that does not hold.
func check(files []file) []string {
	var failures []string
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.Path] = true
		r, ok := ruleFor(f.Path)
		if ok && f.Covered*100 < r.Floor*f.Statements {
			failures = append(failures, fmt.Sprintf("%s: %d of %d statements are covered, its floor is %d %%",
				f.Path, f.Covered, f.Statements, r.Floor))
		}
	}
	for _, r := range rules() {
		if !strings.HasSuffix(r.Path, "/") && !seen[r.Path] {
			failures = append(failures, r.Path+": not in the profile")
		}
	}
	return failures
}

func ruleFor(path string) (rule, bool) {
	for _, r := range rules() {
		if path == r.Path || strings.HasSuffix(r.Path, "/") && strings.HasPrefix(path, r.Path) {
			return r, true
		}
	}
	return rule{}, false
}
