// Command figures holds the repository to the numbers in .ci/figures: files, lines, exported names, words, and what a
// debate allocates. A number may get better. It gets worse only by a change of the table in the same commit, with a
// reason beside the number. The head of the table says how it is read.
//
//	go run ./internal/ci/figures         # from the root of the repository: checks
//	go run ./internal/ci/figures -update # writes the numbers of today into the table
//
// It also refuses a Go file that is too long to be read.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const tableFile = ".ci/figures"

// figures are numbers by their names, each of which is a kind and a subject: "lines store/sql".
type figures = map[string]float64

func main() {
	os.Exit(run(context.Background(), ".", os.Args[1:], measure, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if all figures hold, 1 if one does not, 2 if they cannot be taken.
func run(
	ctx context.Context, folder string, args []string, measure func(context.Context) (figures, error), stdout, stderr io.Writer,
) int {
	update := slices.Equal(args, []string{"-update"})
	if len(args) > 0 && !update {
		_, _ = fmt.Fprintln(stderr, "usage: figures [-update]")
		return 2
	}
	c := checker{folder: folder, stdout: stdout, stderr: stderr}
	err := c.take(ctx, measure)
	switch {
	case err != nil:
	case update:
		err = c.update(ctx)
	default:
		err = c.check(ctx)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "figures:", err)
		return 2
	}
	if c.failed {
		return 1
	}
	return 0
}

// checker compares the figures of today with the table.
type checker struct {
	folder         string
	stdout, stderr io.Writer
	now            figures
	failed         bool
}

// failf reports something that must not be.
func (c *checker) failf(format string, values ...any) {
	c.failed = true
	_, _ = fmt.Fprintf(c.stderr, "figures: "+format+"\n", values...)
}

func (c *checker) sayf(format string, values ...any) {
	_, _ = fmt.Fprintf(c.stdout, format+"\n", values...)
}

// take counts and measures.
func (c *checker) take(ctx context.Context, measure func(context.Context) (figures, error)) error {
	counted, err := count(c.folder)
	if err != nil {
		return err
	}
	for _, file := range counted.long {
		c.failf("%s", file)
	}
	c.now, err = measure(ctx)
	if err != nil {
		return err
	}
	maps.Copy(c.now, counted.figures())
	return nil
}

func (c *checker) path() string { return filepath.Join(c.folder, filepath.FromSlash(tableFile)) }

// read returns the table, which is empty if there is none yet.
func (c *checker) read() (table, error) {
	text, err := os.ReadFile(c.path())
	if errors.Is(err, fs.ErrNotExist) {
		return table{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(string(text))
}

// check compares each figure with its line, and each rise of a line with its reason.
func (c *checker) check(ctx context.Context) error {
	t, err := c.read()
	if err != nil {
		return err
	}
	worse, better, moved := 0, 0, 0
	for _, name := range t.names(c.now) {
		l, listed := t[name]
		value, counted := c.now[name]
		switch rule := kindOf(name); {
		case !listed:
			c.failf("%s: %s is not in the table; add it by -update, and write a reason", name, number(value))
		case !counted:
			c.failf("%s: there is none any more; its line must go, by -update", name)
		case rule.next(l.number, value) > l.number:
			moved, worse = moved+1, worse+1
			c.sayf("%s, worse", move(name, l.number, value))
		case rule.unwritten(l.number, value):
			moved, better = moved+1, better+1
			c.sayf("%s, better and not written down", move(name, l.number, value))
		case rule.next(l.number, value) < l.number:
			moved++
			c.sayf("%s, better", move(name, l.number, value))
		}
	}
	if worse > 0 {
		c.failf("%d got worse: make it smaller, or change the table in the same commit by -update, with a reason behind the number", worse)
	}
	if better > 0 {
		c.failf("%d got better: write it down by -update, since a gain that is not written down can be lost again unnoticed", better)
	}
	if err := c.checkReasons(ctx, t); err != nil {
		return err
	}
	if !c.failed && moved == 0 {
		c.sayf("%d figures are as %s has them", len(t), tableFile)
	}
	return nil
}

// update writes the figures of today. A line that got worse loses its reason, unless that is not committed yet.
func (c *checker) update(ctx context.Context) error {
	old, err := c.read()
	if err != nil {
		return err
	}
	committed, _, err := committedTable(ctx, c.folder) // an error: there is no history
	t := table{}
	for _, name := range old.names(c.now) {
		value, counted := c.now[name]
		l, listed := old[name]
		if !counted {
			c.sayf("%s: gone", name)
			continue
		}
		next := kindOf(name).next(l.number, value)
		switch {
		case !listed:
			next = kindOf(name).next(0, value)
			if len(old) > 0 {
				c.sayf("%s: %s, new: wants a reason", name, number(next))
			}
		case next > l.number:
			if err != nil || l.reason == committed[name].reason {
				l.reason = ""
			}
			c.sayf("%s: wants a reason", move(name, l.number, next))
		case next < l.number:
			c.sayf("%s", move(name, l.number, next))
		}
		t[name] = line{next, l.reason}
	}
	return os.WriteFile(c.path(), []byte(t.String()), 0o600)
}

// move shows how a figure has moved.
func move(name string, old, value float64) string {
	percent := ""
	if old > 0 {
		percent = fmt.Sprintf(" (%+.1f %%)", 100*(value-old)/old)
	}
	return fmt.Sprintf("%s: %s → %s%s", name, number(old), number(value), percent)
}
