package live

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agonist-dev/debate/flow"
)

// Terminal is where a view is shown, and where its keys come from.
type Terminal struct {
	In      io.Reader // nil: there is no keyboard
	Out     io.Writer
	Environ []string // as of os.Environ: TERM, NO_COLOR and the like are read
	// Interrupts get the signals that ask the program to end. They are taken like Ctrl-C.
	Interrupts <-chan os.Signal
	// At and Person are those of [Model].
	At     func(vendor string) string
	Person string
}

// Show shows a conversation until it is over, until the person leaves the view, or, without a keyboard, until the conversation
// waits for somebody. It returns how the person has left, and leaves a few lines behind that say what has gone wrong and
// where the conversation stands. It ends early if ctx is done. control gives a signal to the conversation, and is called from any
// goroutine.
func Show(
	ctx context.Context, t Terminal, events func(context.Context) iter.Seq2[flow.Event, error], control func(flow.Signal) error,
) (Leaving, error) {
	ctx, stop := context.WithCancel(ctx)
	view := New(control, t.In != nil, time.Now())
	view.At, view.Person = t.At, t.Person
	program := tea.NewProgram(view,
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(120))
	var senders sync.WaitGroup
	defer func() { stop(); senders.Wait() }()
	senders.Go(func() {
		for event, err := range events(ctx) {
			if err != nil {
				break
			}
			program.Send(EventMsg{event})
		}
		program.Send(ClosedMsg{})
	})
	senders.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.Interrupts:
				program.Send(InterruptMsg{})
			}
		}
	})
	final, err := program.Run()
	m, ok := final.(*Model)
	if !ok {
		return "", err
	}
	m.shut()
	left, lines := m.Left, m.Last()
	if err != nil {
		left, lines = "", m.unsent()
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(t.Out, line)
	}
	return left, err
}
