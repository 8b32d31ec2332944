package command_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

// watched is a writer that tells when a text has been written.
type watched struct {
	mu   sync.Mutex
	all  bytes.Buffer
	want string
	seen chan struct{}
}

func (w *watched) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.all.String(), w.want)
	w.all.Write(data)
	if !before && strings.Contains(w.all.String(), w.want) {
		close(w.seen)
	}
	return len(data), nil
}

// TestInterruptBeforeTheStart: nothing begins after a Ctrl-C that came while the program made itself ready.
func TestInterruptBeforeTheStart(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	var out, said bytes.Buffer
	code := command.Run(context.Background(), command.System{
		Args: []string{"--no-store", "--demo", "Design a cache"}, Out: &out, Err: &said,
		Lookup: func(string) (string, bool) { return "", false }, Interrupts: interrupts,
	})
	assert.Equal(t, 130, code)
	assert.Empty(t, out.String()+said.String())
}

// TestInterruptWhileAsking: Ctrl-C ends the program while it waits for a line that never comes.
func TestInterruptWhileAsking(t *testing.T) {
	in, keyboard := io.Pipe()
	defer func() { assert.NoError(t, keyboard.Close()) }()
	interrupts := make(chan os.Signal, 2)
	shown := &watched{want: "answer (Enter: none)> ", seen: make(chan struct{})}
	ended := make(chan int)
	var out bytes.Buffer
	go func() {
		ended <- command.Run(context.Background(), command.System{
			Args: []string{"--store", t.TempDir() + "/", "--demo", "--clarify", "Design a cache"}, In: in, Out: &out, Err: shown,
			Lookup: func(string) (string, bool) { return "", false }, Interrupts: interrupts,
		})
	}()
	<-shown.seen
	interrupts <- os.Interrupt
	require.Equal(t, 130, <-ended)
	assert.Empty(t, out.String())
	assert.Contains(t, shown.all.String(), "debate resume ")
}
