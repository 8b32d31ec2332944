package main

import "io"

// Run is what main does, for the tests.
func Run(root string, args []string, stderr io.Writer) int { return run(root, args, stderr) }

// Highlighted is code as a page has it.
func Highlighted(language, code string) string { return string(highlighted(language, code)) }
