package sql_test

import (
	"bufio"
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

// A process watches a debate that another one holds: it gets the text while it is spoken, and each turn adds up.
func TestAnotherProcessHears(t *testing.T) {
	if url := os.Getenv("SQL_TEST_SPEAKER"); url != "" {
		speak(t, url)
		return
	}
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
	defer func() {
		_ = child.Process.Kill() // it may have ended
		_ = child.Wait()
	}()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "speaks", lines.Text())

	texts, turns, live, missing := map[string]string{}, 0, 0, 0
	for event, err := range reader.Events(t.Context(), heardID, 0) {
		require.NoError(t, err)
		if event.Seq == 1 { // the reader is there
			_, err := io.WriteString(in, "speak\n")
			require.NoError(t, err)
		}
		switch body := event.Body.(type) {
		case *flow.Chunk:
			texts[body.Call] = texts[body.Call][:body.Offset] + body.Text
			if live++; body.Missing != 0 {
				missing++
			}
		case *flow.Turn:
			assert.Equal(t, body.Text, texts[body.Call])
			turns++
		}
	}
	assert.Equal(t, 2, turns)
	assert.Greater(t, live, 4, "a turn of 0.8 s comes in several pieces")
	assert.Empty(t, voice.spoken, "this process makes no call")
	t.Logf("%d chunks of another process, %d times text was missing", live, missing)
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
}

// speak is the other process: it holds the debate to its end, and stays until its input is over.
func speak(t *testing.T, url string) {
	t.Helper()
	watched := make(chan struct{})
	voice := &speaker{pace: 20 * time.Millisecond, hold: watched, spoken: map[string]time.Time{}}
	engine := voice.engine(t, url)
	config := watchedDebate()
	config.ID = heardID
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	_, err = os.Stdout.WriteString("speaks\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
	close(watched)
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
	syscall.Exit(0)
}
