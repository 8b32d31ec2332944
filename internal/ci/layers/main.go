// Command layers checks which package of the workspace imports which, and which file of a package
// refers to which, against the plan in .ci/layers. It fails if an import or a reference goes the wrong
// way. It reads all files but tests; the head of the plan says how a plan is written.
//
//	go run ./internal/ci/layers # from the root of the repository
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const planFile = ".ci/layers"

// finding is an import or a reference that goes the wrong way, or something that has no place in the plan.
type finding struct {
	file string // below the root of the repository
	line int
	text string
}

func main() {
	os.Exit(run(context.Background(), ".", os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if the tree follows the plan, 1 if it does not, 2 if the tree or the plan
// cannot be read.
func run(ctx context.Context, folder string, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		_, _ = fmt.Fprintln(stderr, "usage: layers")
		return 2
	}
	findings, err := check(ctx, folder)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "layers:", err)
		return 2
	}
	for _, f := range findings {
		_, _ = fmt.Fprintf(stderr, "%s:%d: %s\n", f.file, f.line, f.text)
	}
	if len(findings) > 0 {
		_, _ = fmt.Fprintf(stderr, "layers: failures: %d; the plan is %s\n", len(findings), planFile)
		return 1
	}
	_, _ = fmt.Fprintln(stdout, "no import and no reference goes the wrong way")
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
