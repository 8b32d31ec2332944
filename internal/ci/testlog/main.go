// Command testlog reads the output of go test -json, prints it as go test does without -v, and fails
// if a test failed, was skipped without being on the list, or is missing.
//
//	go test -json work | go run ./internal/ci/testlog .ci/skips .ci/tests
//
// The list holds one skip a line, the package and the test with a space between; # starts a comment. A test that
// longform.Only skips need not be on the list: the log ends with these tests and with what is kept of each. Nor need those be that
// longform.Lone skips. The second file says how many tests each package has; with -update it is written anew, from a run with the race
// detector. Without it they are not counted.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if all tests ran and passed, 1 if not, 2 if the input cannot be read.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	update := len(args) == 3 && args[0] == "-update"
	if update {
		args = args[1:]
	}
	if len(args) < 1 || len(args) > 2 || update && len(args) < 2 {
		_, _ = fmt.Fprintln(stderr, "usage: testlog [-update] skips [counts]")
		return 2
	}
	l := log{out: stdout, texts: map[test]*strings.Builder{}, cut: map[string]bool{}, counts: counts{}}
	allowed, err := readSkips(args[0])
	if err == nil {
		err = l.read(stdin)
	}
	if err == nil && update {
		err = l.counts.write(args[1])
	}
	listed := l.counts
	if err == nil && len(args) == 2 {
		listed, err = readCounts(args[1])
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "testlog:", err)
		return 2
	}
	code := 0
	for _, line := range l.counts.differs(listed) {
		_, _ = fmt.Fprintln(stderr, "testlog:", line)
		code = 1
	}
	for _, t := range l.skipped {
		if allowed[t] {
			continue
		}
		_, _ = fmt.Fprintf(stderr, "testlog: skipped: %s %s\n", t.Package, t.Name)
		code = 1
	}
	switch {
	case l.failed > 0:
		_, _ = fmt.Fprintf(stderr, "testlog: %d failed\n", l.failed)
		code = 1
	case l.passed == 0:
		_, _ = fmt.Fprintln(stderr, "testlog: no test passed")
		code = 1
	}
	if len(l.left) > 0 {
		slices.Sort(l.left)
		_, _ = fmt.Fprintf(stdout, "in the long form only, and what the short form keeps:\n  %s\n", strings.Join(l.left, "\n  "))
	}
	_, _ = fmt.Fprintf(stdout, "%d tests passed, %d were skipped, %d are left to the long form, %d to the run without the race detector\n",
		l.passed, len(l.skipped), len(l.left), l.lone)
	return code
}

// readSkips reads the list of the skips that are allowed.
func readSkips(path string) (map[test]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	skips := map[test]bool{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		switch len(fields) {
		case 0:
		case 2:
			skips[test{Package: fields[0], Name: fields[1]}] = true
		default:
			return nil, fmt.Errorf("%s:%d: want a package and a test", path, n)
		}
	}
	return skips, lines.Err()
}
