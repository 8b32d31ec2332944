package sql_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// heardID is the id of the debate that another process holds.
const heardID = "heard"

// A process watches a debate that another one holds: it gets the text while it is spoken, since no turn ends before something of it was
// heard, and each turn adds up.
func TestAnotherProcessHears(t *testing.T) {
	if url := os.Getenv("SQL_TEST_SPEAKER"); url != "" {
		speak(t, url)
		return
	}
	t.Parallel()
	url := newDatabase(t)
	voice := &speaker{spoken: map[string]time.Time{}}
	reader := voice.engine(t, url)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessHears$")
	child.Env = append(os.Environ(), "SQL_TEST_SPEAKER="+url)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill() }() // it may have ended
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "speaks", lines.Text())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- child.Wait()
		cancel() // there is nothing more to hear
	}()

	texts, turns, live, missing := map[string]string{}, 0, 0, 0
	for event, err := range reader.Events(ctx, heardID, 0) {
		require.NoError(t, err)
		switch body := event.Body.(type) {
		case *flow.Chunk:
			texts[body.Call] = texts[body.Call][:body.Offset] + body.Text
			if live++; body.Missing != 0 {
				missing++
			}
			if body.Text != "" { // the turn ends some time after that
				_, err := io.WriteString(in, body.Call+"\n")
				require.NoError(t, err)
			}
		case *flow.Turn:
			assert.Equal(t, body.Text, texts[body.Call])
			turns++
		}
	}
	assert.Equal(t, 2, turns)
	assert.Empty(t, voice.spoken, "this process makes no call")
	t.Logf("%d chunks of another process, %d times text was missing", live, missing)
	require.NoError(t, in.Close())
	require.NoError(t, <-ended)
}

// speak is the other process: it holds the debate to its end, and stays until its input is over.
func speak(t *testing.T, url string) {
	t.Helper()
	voice := &speaker{pace: 20 * time.Millisecond, spoken: map[string]time.Time{}, heard: map[string]bool{}}
	engine := voice.engine(t, url)
	config := watchedDebate()
	config.ID = heardID
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	_, err = os.Stdout.WriteString("speaks\n")
	require.NoError(t, err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for heard := bufio.NewScanner(os.Stdin); heard.Scan(); {
			voice.hear(heard.Text())
		}
	}()
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	<-over
	syscall.Exit(0)
}
