package main

import "io"

// Run is what main does, for the tests.
func Run(paths []string, stdout, stderr io.Writer) int {
	return run(paths, stdout, stderr)
}
