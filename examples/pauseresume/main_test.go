package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
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

// Nobody is there to answer or to mend: a model that fails for good ends the program.
func TestAFailureEndsIt(t *testing.T) {
	for name, kind := range map[string]provider.Kind{"a question": provider.KindAuthentication, "an error": provider.KindValidation} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
					return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 400}}
				}}
				engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": script}}
				var out bytes.Buffer
				err := begin(t.Context(), &out, engine, make(map[string]int), filepath.Join(t.TempDir(), "debate.json"))
				require.ErrorContains(t, err, string(kind))
			})
		})
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		require.ErrorIs(t, run(ctx, &out, func(string) string { return "" }), context.DeadlineExceeded)
	})
}
