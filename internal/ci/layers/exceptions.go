package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// exception is what the list says of a key: how often it occurs, in which line it says so.
type exception struct{ line, count int }

// compare returns a line for each finding that is no exception, and for each exception that occurs less
// often than the list says. If update is set, it rewrites the list instead, unless the list would grow.
func compare(path string, findings []finding, update bool) ([]string, error) {
	listed, err := readExceptions(path)
	begin := update && errors.Is(err, fs.ErrNotExist)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	occurs := map[string]int{}
	for _, f := range findings {
		occurs[f.key()]++
	}
	var failures []string
	for _, f := range findings {
		text := fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text)
		switch want, have := listed[f.key()].count, occurs[f.key()]; {
		case f.from == "" || want == 0 && !begin:
			failures = append(failures, text)
		case have > want && !begin: // nobody knows which one is new
			failures = append(failures, fmt.Sprintf("%s; exceptions: %d, but it occurs more often: %d", text, want, have))
		}
	}
	if update && len(failures) == 0 {
		return nil, os.WriteFile(path, []byte(list(findings)), 0o600)
	}
	for _, key := range slices.Sorted(maps.Keys(listed)) {
		place := fmt.Sprintf("%s:%d: %s", exceptionFile, listed[key].line, key)
		switch want, have := listed[key].count, occurs[key]; {
		case have == 0:
			failures = append(failures, place+" no longer occurs; remove it, or run with -update")
		case have < want:
			failures = append(failures, fmt.Sprintf("%s occurs less often: %d, not %d; write so, or run with -update", place, have, want))
		}
	}
	return failures, nil
}

// readExceptions reads lines such as "Core.ask -> Config.Retry 2"; # starts a comment.
func readExceptions(path string) (map[string]exception, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	listed := map[string]exception{}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) == 3 {
			words = append(words, "1")
		}
		count, err := strconv.Atoi(words[len(words)-1])
		key := strings.Join(words[:len(words)-1], " ")
		if err != nil || count < 1 || len(words) != 4 || words[1] != "->" || listed[key].count > 0 {
			return nil, fmt.Errorf("%s:%d: want \"FROM -> TO\" or \"FROM -> TO COUNT\", each pair once", exceptionFile, i+1)
		}
		listed[key] = exception{line: i + 1, count: count}
	}
	return listed, nil
}

// byWay counts the findings of each key, by the way that they go.
func byWay(findings []finding) map[string]map[string]int {
	ways := map[string]map[string]int{}
	for _, f := range findings {
		if ways[f.way] == nil {
			ways[f.way] = map[string]int{}
		}
		ways[f.way][f.key()]++
	}
	return ways
}

// list returns the text of a list of exceptions.
func list(findings []finding) string {
	var b strings.Builder
	b.WriteString("# What goes the wrong way and may, for now; see .ci/layers.\n")
	ways := byWay(findings)
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		fmt.Fprintf(&b, "\n# %s\n", way)
		for _, key := range slices.Sorted(maps.Keys(ways[way])) {
			b.WriteString(key)
			if count := ways[way][key]; count > 1 {
				fmt.Fprintf(&b, " %d", count)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// summary says how many exceptions there are.
func summary(findings []finding) string {
	var b strings.Builder
	ways := byWay(findings)
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		fmt.Fprintf(&b, "exceptions, %s: %d\n", way, len(ways[way]))
	}
	return b.String() + "no import and no reference goes the wrong way besides\n"
}
