package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// test is a test or an example; with an empty name it is its package.
type test struct{ Package, Name string }

// event is a line of go test -json, whose keys are the names of the fields; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// log keeps the output of each test until it is known whether it must be printed.
type log struct {
	out     io.Writer
	texts   map[test]*strings.Builder
	running []test // in the order they began, so that the output has an order
	passed  int
	failed  int // tests and packages
	skipped []test
	left    []string        // the tests that the long form has, and what the short form keeps of each
	lone    int             // tests that the run without the race detector has
	counts  counts          // of the tests that have ended, those in others left out
	cut     map[string]bool // packages whose last line has not ended: go test splits long ones
}

func (l *log) read(r io.Reader) error {
	decoder := json.NewDecoder(r)
	for {
		var e event
		err := decoder.Decode(&e) //nolint:musttag // the keys are the names of the fields
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not the output of go test -json: %w", err)
		}
		if err := l.add(e); err != nil {
			return err
		}
	}
}

func (l *log) add(e event) error {
	t := test{Package: e.Package, Name: e.Test}
	switch e.Action {
	case "output":
		if t.Name == "" {
			goesOn := l.cut[e.Package]
			l.cut[e.Package] = !strings.HasSuffix(e.Output, "\n")
			if goesOn { // the names of the packages that were measured
				return nil
			}
			return l.print(packageLine(e.Output))
		}
		l.keep(t, e.Output)
	case "build-output":
		return l.print(e.Output)
	case "pass":
		l.take(t)
		if t.Name != "" {
			l.passed++
		}
		l.counts.add(t, 0)
	case "skip":
		lone := l.lone
		l.skip(t, l.take(t))
		l.counts.add(t, l.lone-lone)
	case "fail":
		l.failed++
		if t.Name != "" {
			l.counts.add(t, 0)
			return l.print(l.take(t))
		}
		return l.printUnfinished(t.Package)
	}
	return nil
}

// longOnly finds the message of longform.Only, as the test prints it.
var longOnly = regexp.MustCompile(`(?m)^ *\S+\.go:\d+: in the long form only; the short form keeps: (\S.*)$`)

// lone finds the message of longform.Lone.
var lone = regexp.MustCompile(`(?m)^ *\S+\.go:\d+: left to the run without the race detector, which finds nothing in it$`)

// skip records that a test was skipped, and what it wrote before.
func (l *log) skip(t test, text string) {
	switch kept := longOnly.FindStringSubmatch(text); {
	case t.Name == "": // a package without tests is skipped too
	case kept != nil:
		l.left = append(l.left, t.Package+" "+t.Name+": "+kept[1])
	case lone.MatchString(text):
		l.lone++
	default:
		l.skipped = append(l.skipped, t)
	}
}

// packageLine drops what go test says about a package only because it was asked for JSON.
func packageLine(line string) string {
	if line == "PASS\n" || strings.HasPrefix(line, "coverage: ") {
		return ""
	}
	line, _, found := strings.Cut(line, "\tcoverage: ")
	switch {
	case !found:
		return line
	case strings.HasPrefix(line, "\t"): // a package without tests
		return ""
	default:
		return line + "\n"
	}
}

func (l *log) print(text string) error {
	_, err := io.WriteString(l.out, text)
	return err
}

func (l *log) keep(t test, text string) {
	b := l.texts[t]
	if b == nil {
		b = &strings.Builder{}
		l.texts[t] = b
		l.running = append(l.running, t)
	}
	b.WriteString(text)
}

// take forgets a test and returns what it wrote.
func (l *log) take(t test) string {
	b := l.texts[t]
	if b == nil {
		return ""
	}
	delete(l.texts, t)
	return b.String()
}

// printUnfinished prints the output of tests that were still running when their package ended.
func (l *log) printUnfinished(pkg string) error {
	rest := l.running[:0]
	for _, t := range l.running {
		if l.texts[t] == nil {
			continue
		}
		if t.Package != pkg {
			rest = append(rest, t)
			continue
		}
		if err := l.print(l.take(t)); err != nil {
			return err
		}
	}
	l.running = rest
	return nil
}
