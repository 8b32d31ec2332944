package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test's program play the parts too.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-part") {
		if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestADebateOutlivesItsProcess(t *testing.T) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, []string{"-dir", dir}))
	text := regexp.MustCompile(`(?m)^(Ada: The )\S.*…$|\$[\d.]+`).ReplaceAllString(out.String(), "${1}…")
	text = regexp.MustCompile(`(?m)^Ada: Th[^\n.]*\n?…$`).ReplaceAllString(text, "Ada: …") // wherever it was killed
	assert.Equal(t, `-- a process begins a debate --
Ada: It is. What was said stands in the journal, every word of it, and nobody has to say it again.
Ben: I doubt it. A speaker who loses the thread finds another one, and the debate takes another way.
Ada: …
-- kill -9: the process is gone --
   2 turns are recorded, 1 call was in flight. Another process goes on.
Ada: The thread is written down before anybody hears it. Cut the power, and it is there in the morning.
Ben: Then Ada was killed in the middle of her sentence, and noticed nothing. I call that a draw.
-- the journal --
   4 calls, 4 turns; recorded and lost: 0; recorded and asked again: 0
   in flight at the crash and asked again: 1; nobody knows what became of it: …, and up to … for 1 call that was broken off
`, text)
	require.ErrorContains(t, run(t.Context(), &out, []string{"-dir", dir}), "holds the debate already")
	require.Error(t, run(t.Context(), &out, []string{"-part", "middle"}))
	require.NoError(t, run(t.Context(), &out, []string{"-h"}))
}

// Nobody is there to answer or to mend: a model that fails for good ends the program.
func TestAFailureEndsIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // the key was revoked since the check
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.URL)
	var out bytes.Buffer
	require.ErrorContains(t, hold(t.Context(), &out, t.TempDir(), false), "authentication")
}
