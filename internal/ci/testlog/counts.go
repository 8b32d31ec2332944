package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// count is how many tests a package has, and how many of them are left to the run without the race detector.
type count struct{ tests, lone int }

// counts are those of packages.
type counts map[string]count

// add counts a test that has ended, unless it is a part of another or a package. lone is 1 if it is left to the run without the race
// detector.
func (c counts) add(t test, lone int) {
	if t.Name == "" || strings.Contains(t.Name, "/") {
		return
	}
	n := c[t.Package]
	c[t.Package] = count{n.tests + 1, n.lone + lone}
}

// differs returns what is not as the file says. A run without the race detector leaves nothing to another.
func (c counts) differs(listed counts) (lines []string) {
	all := maps.Clone(listed)
	maps.Copy(all, c)
	detects := false
	for _, n := range c {
		detects = detects || n.lone > 0
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		now, then := c[name], listed[name]
		if now.tests != then.tests {
			lines = append(lines, fmt.Sprintf("%s has %d tests, and had %d", name, now.tests, then.tests))
		}
		if detects && now.lone != then.lone {
			lines = append(lines, fmt.Sprintf("%s leaves %d tests to the run without the race detector, and left %d", name, now.lone, then.lone))
		}
	}
	return lines
}

// readCounts reads the file of counts.
func readCounts(path string) (counts, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := counts{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var of count
		if len(fields) == 3 {
			of.tests, err = strconv.Atoi(fields[1])
			if err == nil {
				of.lone, err = strconv.Atoi(fields[2])
			}
		}
		if len(fields) != 3 || err != nil {
			return nil, fmt.Errorf("%s:%d: want a package and two numbers", path, n)
		}
		c[fields[0]] = of
	}
	return c, nil
}

// head begins the file of counts.
const head = `# How many tests each package has, and how many of them are left to the run without the race detector: a test that is lost
# fails the checks. When tests came or went, go run ./internal/ci/testlog -update .ci/skips .ci/tests <coverage/test.json writes it anew.
`

// write writes the file of counts.
func (c counts) write(path string) error {
	var out bytes.Buffer
	out.WriteString(head)
	for _, name := range slices.Sorted(maps.Keys(c)) {
		_, _ = fmt.Fprintf(&out, "%s %d %d\n", name, c[name].tests, c[name].lone)
	}
	return os.WriteFile(path, out.Bytes(), 0o644) //nolint:gosec // everybody may read it
}
