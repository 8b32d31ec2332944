package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// block is a stretch of code that runs as a whole, as the compiler cut it.
type block struct {
	File  string // below the module
	Range string // "28.2,30.3": line and column of its start and end
}

// count says how many statements a block has and whether any of them ran.
type count struct {
	Statements int
	Ran        bool
}

// profile joins the profiles of all tests. Each test binary reports each block, so a block occurs many
// times. It ran if it ran in one of them.
type profile map[block]count

// file is the coverage of one file.
type file struct {
	Path                string // below the module
	Covered, Statements int
}

func (f file) percent() float64 {
	if f.Statements == 0 {
		return 100
	}
	return 100 * float64(f.Covered) / float64(f.Statements)
}

func (p profile) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := p.read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read adds the blocks of one profile. An empty profile is an error: nothing was measured.
func (p profile) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Text()
		if n == 1 {
			if !strings.HasPrefix(line, "mode: ") {
				return fmt.Errorf("line 1: want the mode, have %q", line)
			}
			continue
		}
		b, c, err := parse(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if old, ok := p[b]; ok && old.Statements != c.Statements {
			return fmt.Errorf("line %d: a block of %d statements now has %d", n, old.Statements, c.Statements)
		}
		c.Ran = c.Ran || p[b].Ran
		p[b] = c
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if n < 2 {
		return fmt.Errorf("the profile is empty")
	}
	return nil
}

// parse reads "path/file.go:28.2,30.3 2 1": a range, its statements and how often it ran.
func parse(line string) (block, count, error) {
	fields := strings.Fields(line)
	colon := strings.LastIndexByte(line, ':')
	if len(fields) != 3 || colon < 1 || colon >= len(fields[0])-1 {
		return block{}, count{}, fmt.Errorf("not a block: %q", line)
	}
	statements, err := strconv.ParseUint(fields[1], 10, 31)
	if err != nil {
		return block{}, count{}, fmt.Errorf("statements: %w", err)
	}
	times, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return block{}, count{}, fmt.Errorf("times: %w", err)
	}
	b := block{File: strings.TrimPrefix(fields[0][:colon], module), Range: fields[0][colon+1:]}
	return b, count{Statements: int(statements), Ran: times > 0}, nil
}

// files returns the files of the profile, the least covered first, then the larger ones.
func (p profile) files() []file {
	byPath := map[string]file{}
	for b, c := range p {
		f := byPath[b.File]
		f.Path = b.File
		f.Statements += c.Statements
		if c.Ran {
			f.Covered += c.Statements
		}
		byPath[b.File] = f
	}
	files := make([]file, 0, len(byPath))
	for _, f := range byPath {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(
			cmp.Compare(a.percent(), b.percent()),
			cmp.Compare(b.Statements, a.Statements),
			cmp.Compare(a.Path, b.Path),
		)
	})
	return files
}
