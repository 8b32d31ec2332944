// Package command is the command line of the program debate: its commands, their flags, and their exit codes. Each
// command has a file of its own.
package command

import (
	"cmp"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

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
	// Wait is how long a pipe may send nothing that has text beside a problem: 3 seconds if 0.
	Wait time.Duration
	// ServerStart is how long an MCP server may take until it has listed its tools: 10 seconds if 0.
	ServerStart time.Duration
}

// get returns the value of an environment variable; "" if it is not set.
func (s *System) get(name string) string {
	value, _ := s.Lookup(name)
	return value
}

// user returns the name of the system's user; "" if the environment does not have it.
func (s *System) user() string { return cmp.Or(s.get("USER"), s.get("LOGNAME"), s.get("USERNAME")) }

// interactive reports whether a person can be asked: both ends of the dialogue are a terminal.
func (s *System) interactive() bool { return terminal(s.In) && terminal(s.Err) }

// output is the standard output. It keeps the first failure to write to it, which makes the program fail: much of what is
// printed is printed by others, who look at no error. A reader that has gone away, such as head, wants no message.
type output struct {
	to     io.Writer
	failed error
}

// Write writes to the standard output.
func (o *output) Write(data []byte) (int, error) {
	n, err := o.to.Write(data)
	if errors.Is(err, syscall.EPIPE) {
		err = exit(exitUnread, nil)
	}
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
