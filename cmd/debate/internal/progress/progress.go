// Package progress shows a conversation as plain lines, for a standard error that is no terminal, a log file or a pipe.
package progress

import (
	"fmt"
	"io"

	"github.com/agonist-dev/debate/flow"
)

// Lines writes a line for each event that a reader wants to know of. It ignores errors of its writer: if nobody reads any more,
// there is nobody to report them to.
type Lines struct{ out io.Writer }

// New returns lines that go to out.
func New(out io.Writer) *Lines { return &Lines{out: out} }

// Show writes the line of an event, if it has one.
func (l *Lines) Show(e *flow.Event) {
	switch body := e.Body.(type) {
	case *flow.Round:
		l.printf("Round %d", body.N)
	case *flow.Turn:
		l.printf("%s: %s", body.Speaker, body.Kind)
	case *flow.Warning:
		l.printf("warning: %s", body.Evidence)
	}
}

func (l *Lines) printf(format string, args ...any) {
	_, _ = fmt.Fprintln(l.out, Clean(fmt.Sprintf(format, args...)))
}
