// Command testlog reads the output of go test -json, prints it as go test does without -v, and fails
// if a test failed or was skipped without being on the list.
//
//	go test -json work | go run ./internal/ci/testlog .ci/skips [again]
//
// With a second argument it writes to that file which packages failed, one a line, and leaves the verdict on them to whoever
// runs them again: a busy machine can be too slow for a test, and a test that fails alone as well is wrong. Beyond three
// packages, and where the race detector found something, that is no excuse.
//
// The list holds one skip a line, the package and the test with a space between; # starts a comment.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// mostAgain is the largest number of packages that are run again.
const mostAgain = 3

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if all tests ran and passed, 1 if not, 2 if the input cannot be read.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 && len(args) != 2 {
		_, _ = fmt.Fprintln(stderr, "usage: testlog skips [again]")
		return 2
	}
	allowed, err := readSkips(args[0])
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "testlog:", err)
		return 2
	}
	l := log{out: stdout, texts: map[test]*strings.Builder{}, cut: map[string]bool{}}
	if err := l.read(stdin); err != nil {
		_, _ = fmt.Fprintln(stderr, "testlog:", err)
		return 2
	}
	code := 0
	for _, t := range l.skipped {
		if allowed[t] {
			continue
		}
		_, _ = fmt.Fprintf(stderr, "testlog: skipped: %s %s\n", t.Package, t.Name)
		code = 1
	}
	again := false
	if len(args) == 2 {
		again = l.races == 0 && len(l.broken) <= mostAgain
		if err := writeAgain(args[1], again, l.broken); err != nil {
			_, _ = fmt.Fprintln(stderr, "testlog:", err)
			return 2
		}
	}
	switch {
	case l.failed > 0 && again:
		_, _ = fmt.Fprintf(stderr, "testlog: %d failed, to be run again\n", l.failed)
	case l.failed > 0:
		_, _ = fmt.Fprintf(stderr, "testlog: %d failed\n", l.failed)
		code = 1
	case l.passed == 0:
		_, _ = fmt.Fprintln(stderr, "testlog: no test passed")
		code = 1
	}
	_, _ = fmt.Fprintf(stdout, "%d tests passed, %d were skipped\n", l.passed, len(l.skipped))
	return code
}

// writeAgain writes which packages are to be run again: all that failed, or none.
func writeAgain(path string, again bool, broken []string) error {
	list := ""
	if again && len(broken) > 0 {
		list = strings.Join(broken, "\n") + "\n"
	}
	return os.WriteFile(path, []byte(list), 0o600)
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
