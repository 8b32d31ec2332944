//go:build ignore

// Command confusables_gen writes the table of look-alikes from the file confusables.txt of Unicode Technical Standard 39,
// which https://www.unicode.org/Public/security/ holds for each version of Unicode.
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run confusables_gen.go path/to/confusables.txt")
	}
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var rows []string
	about := map[string]string{}
	for line := range strings.Lines(strings.TrimPrefix(string(source), "\ufeff")) {
		data, comment, _ := strings.Cut(line, "#")
		if key, value, ok := strings.Cut(strings.TrimSpace(comment), ": "); ok && data == "" {
			about[key] = value
		}
		if fields := strings.Split(data, ";"); len(fields) > 1 {
			rows = append(rows, row(fields[0], strings.Fields(fields[1])))
		}
	}
	slices.Sort(rows)
	if total := about["total"]; total != strconv.Itoa(len(rows)) {
		log.Fatalf("%d rows were read, the file says %q", len(rows), total)
	}
	head := fmt.Sprintf("# Characters and what they look like: UTS 39, Unicode %s, %s. © Unicode, Inc., see LICENSE-UNICODE.\n",
		about["Version"], about["Date"])
	if err := os.WriteFile("confusables.txt", []byte(head+strings.Join(rows, "")), 0o600); err != nil {
		log.Fatal(err)
	}
}

// row is a line of the table: a character, and those that it looks like. The width is fixed, so that lines sort by it.
func row(from string, to []string) string {
	r, err := strconv.ParseUint(strings.TrimSpace(from), 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return fmt.Sprintf("%05X %s\n", r, strings.Join(to, " "))
}
