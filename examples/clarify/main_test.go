package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestMain lets the test's program play the parts too.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-part") {
		if err := run(context.Background(), os.Stdin, os.Stdout, os.Args[1:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func noKeys(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(name, "")
	}
}

func TestASecondProcessAnswers(t *testing.T) {
	noKeys(t)
	dir := t.TempDir()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out, []string{"-dir", dir}))
	golden := filepath.Join("testdata", "clarify.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
	}
	require.ErrorContains(t, run(t.Context(), nil, &out, []string{"-dir", dir}), "is over")
}

// In the bubble waiting costs nothing, and no goroutine may be left.
func TestAPersonAnswers(t *testing.T) {
	noKeys(t)
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		part := func(name, typed string) (string, error) {
			var out bytes.Buffer
			err := run(t.Context(), strings.NewReader(typed), &out, []string{"-part", name, "-dir", dir, "-ask"})
			return out.String(), err
		}
		_, err := part("ask", "")
		require.NoError(t, err)

		out, err := part("answer", "Three.\n")
		require.ErrorContains(t, err, "the debate waits", "the person has gone")
		assert.Equal(t, 2, strings.Count(out, "an empty line leaves it open"))

		record, err := kept(t.Context(), dir)
		require.NoError(t, err)
		require.Len(t, record.Inquiries, 3, "what was answered counts")

		out, err = part("answer", "\n \nna\nOnly on Sundays.\n")
		require.NoError(t, err)
		assert.NotContains(t, out, "How many comments", "it was answered")
		assert.Contains(t, out, "ben asks: May a reader be sent a mail")
		assert.Contains(t, strings.Join(strings.Fields(out), " "),
			"what was answered: Three. / (not answered) / (not answered) / (not answered) / Only on Sundays.",
			"every answer has reached the agents")
		assert.Contains(t, out, "questions: 5, left open: 3")
	})
}

func TestAnInterruptEndsIt(t *testing.T) {
	noKeys(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	require.ErrorIs(t, run(ctx, nil, &out, nil), context.Canceled)
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	noKeys(t)
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), strings.NewReader(""), &out, []string{"-ask"}), "needs a terminal")
	require.ErrorContains(t, run(t.Context(), nil, &out, []string{"-part", "sing"}), "no part")
	require.Error(t, run(t.Context(), nil, &out, []string{"-part", "answer", "-dir", t.TempDir()}))
	require.NoError(t, run(t.Context(), nil, &out, []string{"-h"}))
}
