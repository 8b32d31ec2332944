package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNothingIsAskedTwice(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), &out, func(string) string { return "" }))
		assert.Equal(t, `round 1, Ada: This is what I have to say after 0 turns.
round 1, Ben: This is what I have to say after 1 turns.
-- … bytes are saved, and the first engine is gone --
round 1, Cyd: This is what I have to say after 2 turns.
round 2, Ada: This is what I have to say after 3 turns.
round 2, Ben: This is what I have to say after 4 turns.
round 2, Cyd: This is what I have to say after 5 turns.
6 calls were made, none of them more than 1 time.
`, regexp.MustCompile(`\d{4,} bytes`).ReplaceAllString(out.String(), "… bytes"))
	})
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is left behind")
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		require.ErrorIs(t, run(ctx, &out, func(string) string { return "" }), context.DeadlineExceeded)
	})
}
