package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// head begins the table.
const head = `# Figures of this repository. Less is better. A number gets worse only by a change of this table in the same commit, with
# a reason behind the number; so does a new line. go run ./internal/ci/figures checks that, in all commits. With -update it
# writes the numbers of today. Reasons stay, but for that of a line that got worse: write a new one.
#
#	files   sources of the root, of flow and of each package with more than 20: exact
#	tests   files of tests in the root: exact
#	names   what a public package exports, with methods and fields: exact
#	lines   of a package's sources: up to the next 50; a gain beyond 100 and 3 % must be written down
#	words   of pages: up to the next 100; a gain beyond 200 and 3 % must be written down
#	allocs  of debates and their parts (measure.go): 0.5 % more are allowed; a gain beyond 3 % must be written down
#	bytes   that they allocate: the same
#	heap    bytes that a debate holds while it waits: the same
`

// kind says how the numbers of a kind are compared. Less is better in all of them.
type kind struct {
	name  string
	step  float64 // the table has the number rounded up to a multiple of it; 0: as it is
	noise float64 // what may be above the number, as a part of it
	gain  float64 // what may be below the number without being written down, as a part of it
	least float64 // the same as a number: the larger one counts
}

// kinds gives the rules in the order of the table.
func kinds() []kind {
	return []kind{
		{name: "files", step: 1},
		{name: "tests", step: 1},
		{name: "names", step: 1},
		{name: "lines", step: 50, gain: 0.03, least: 100},
		{name: "words", step: 100, gain: 0.03, least: 200},
		{name: "allocs", noise: 0.005, gain: 0.03},
		{name: "bytes", noise: 0.005, gain: 0.03},
		{name: "heap", noise: 0.005, gain: 0.03},
	}
}

// kindOf returns the kind of a figure, which is empty if there is no such kind.
func kindOf(figure string) kind {
	if i := place(figure); i >= 0 {
		return kinds()[i]
	}
	return kind{}
}

// place returns where a figure's kind stands in the table.
func place(figure string) int {
	name, _, _ := strings.Cut(figure, " ")
	return slices.IndexFunc(kinds(), func(k kind) bool { return k.name == name })
}

// next returns the number that the table gets for a value: a higher one if the value is worse than the old number.
func (k kind) next(old, value float64) float64 {
	number := value
	if k.step > 0 {
		number = math.Ceil(value/k.step) * k.step
	}
	if value <= old*(1+k.noise) && number >= old*(1-k.noise) {
		return old
	}
	return number
}

// unwritten reports a gain that must be written down.
func (k kind) unwritten(old, value float64) bool {
	return old-value > max(k.gain*old, k.least)
}

// line is what the table says of one figure.
type line struct {
	number float64
	reason string
}

type table map[string]line

// parse reads a table. Beside an error there is what could be read.
func parse(text string) (table, error) {
	t := table{}
	var wrong error
	n := 0
	for row := range strings.Lines(text) {
		n++
		fields := strings.Fields(row)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := t.add(fields); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s:%d: %w", tableFile, n, err)
		}
	}
	return t, wrong
}

func (t table) add(fields []string) error {
	if len(fields) < 3 {
		return fmt.Errorf("want a kind, a subject, a number and a reason")
	}
	name := fields[0] + " " + fields[1]
	value, err := strconv.ParseFloat(fields[2], 64)
	switch _, twice := t[name]; {
	case place(name) < 0:
		return fmt.Errorf("unknown kind %q", fields[0])
	case err != nil || !(value >= 0) || math.IsInf(value, 0):
		return fmt.Errorf("%q is not a number", fields[2])
	case twice:
		return fmt.Errorf("%s is a duplicate", name)
	}
	t[name] = line{value, strings.Join(fields[3:], " ")}
	return nil
}

// names returns those of the table and of some figures in the order of the table.
func (t table) names(of figures) []string {
	all := slices.Collect(maps.Keys(t))
	for name := range of {
		if _, listed := t[name]; !listed {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return all
}

// String returns the text of the table.
func (t table) String() string {
	names := t.names(nil)
	widest := 0
	for _, name := range names {
		_, subject, _ := strings.Cut(name, " ")
		widest = max(widest, len(subject))
	}
	var b strings.Builder
	b.WriteString(head)
	before := ""
	for _, name := range names {
		kind, subject, _ := strings.Cut(name, " ")
		if kind != before {
			b.WriteString("\n")
			before = kind
		}
		row := fmt.Sprintf("%-6s  %-*s  %9s  %s", kind, widest, subject, number(t[name].number), t[name].reason)
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
