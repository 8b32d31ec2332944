// Command layers checks which package of the workspace imports which, and which file of a package
// refers to which, against the plan in .ci/layers. It fails if an import or a reference goes the wrong
// way. It reads all files but tests; the head of the plan says how a plan is written.
//
//	go run ./internal/ci/layers          # from the root of the repository
//	go run ./internal/ci/layers -update  # drops the exceptions that are no longer needed
//
// The file .ci/layers.exceptions lists what still goes the wrong way. It may only shrink: an exception
// that no longer occurs fails too. Without that file, -update begins a new list.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const (
	planFile      = ".ci/layers"
	exceptionFile = ".ci/layers.exceptions"
)

// finding is an import or a reference that goes the wrong way, or something that has no place in the plan.
type finding struct {
	file     string // below the root of the repository
	line     int
	text     string
	from, to string // how an exception names it; empty if there can be none
	way      string // the rooms or packages that it joins, "kernel -> debate"
}

// key is the finding's name in the list of exceptions. It holds no line, so that edits leave it alone.
func (f finding) key() string { return f.from + " -> " + f.to }

func main() {
	os.Exit(run(context.Background(), ".", os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if the tree follows the plan, 1 if it does not, 2 if the tree or the plan
// cannot be read.
func run(ctx context.Context, folder string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("layers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	update := flags.Bool("update", false, "drop the exceptions that are no longer needed")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		_, _ = fmt.Fprintln(stderr, "usage: layers [-update]")
		return 2
	}
	var failures []string
	findings, err := check(ctx, folder)
	if err == nil {
		failures, err = compare(filepath.Join(folder, exceptionFile), findings, *update)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "layers:", err)
		return 2
	}
	for _, failure := range failures {
		_, _ = fmt.Fprintln(stderr, failure)
	}
	if len(failures) > 0 {
		_, _ = fmt.Fprintf(stderr, "layers: failures: %d; the plan is %s\n", len(failures), planFile)
		return 1
	}
	_, _ = io.WriteString(stdout, summary(findings))
	return 0
}

// check returns all that does not follow the plan, in the order of the files.
func check(ctx context.Context, folder string) ([]finding, error) {
	p, err := readPlan(filepath.Join(folder, planFile))
	if err != nil {
		return nil, err
	}
	t, err := readTree(ctx, folder)
	if err != nil {
		return nil, err
	}
	findings, err := t.checkImports(p)
	if err != nil {
		return nil, err
	}
	for _, r := range p {
		if len(r.rooms) == 0 || t.byName[r.packages[0]] == nil {
			continue
		}
		wrong, err := t.checkRooms(ctx, r)
		if err != nil {
			return nil, err
		}
		findings = append(findings, wrong...)
	}
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	return findings, nil
}
