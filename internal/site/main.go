// Command site makes a static site from README.md, CONTRIBUTING.md, CHANGELOG.md, docs/ and examples/. It needs no network, and
// neither does the site: it can be read from a folder.
//
//	go run ./internal/site OUT      # writes the site into the folder OUT
//	go run ./internal/site -update  # writes llms.txt, which has a line for each page
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(".", os.Args[1:], os.Stderr))
}

// run reads the repository in the folder root, and returns the exit code.
func run(root string, args []string, stderr io.Writer) int {
	if len(args) != 1 {
		_, _ = fmt.Fprintln(stderr, "usage: site OUT, or site -update, in the root of the repository")
		return 2
	}
	s, err := Read(os.DirFS(root))
	switch {
	case err != nil:
	case args[0] == "-update":
		err = os.WriteFile(filepath.Join(root, "llms.txt"), []byte(s.LLMs()), 0o600)
	default:
		err = s.Write(args[0])
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "site:", err)
		return 1
	}
	return 0
}
