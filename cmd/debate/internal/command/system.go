// Package command is the command line of the program debate: its commands, their flags, and their exit codes. Each
// command has a file of its own.
package command

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// System is what the program has of its surroundings. Nothing else in this module reads the environment, the arguments or
// the standard streams.
type System struct {
	Args     []string // without the name of the program
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(name string) (value string, ok bool) // of environment variables
	// Interrupts gets one value for each Ctrl-C. The first one pauses a running conversation, the second one ends the program.
	Interrupts <-chan os.Signal
}

// get returns the value of an environment variable; "" if it is not set.
func (s *System) get(name string) string {
	value, _ := s.Lookup(name)
	return value
}

// interactive reports whether a person can be asked: both ends of the dialogue are a terminal.
func (s *System) interactive() bool { return terminal(s.In) && terminal(s.Err) }

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
