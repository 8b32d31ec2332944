package main

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestThePersonIsAskedUntilTheAnswerIsAccepted(t *testing.T) {
	for answers, want := range map[string]error{"Cyd\nBen\n": nil, "Cyd\nDan\nBen\n": nil, "Cyd\n": io.ErrUnexpectedEOF} {
		synctest.Test(t, func(t *testing.T) {
			require.ErrorIs(t, run(t.Context(), bufio.NewScanner(strings.NewReader(answers)), debaters("")), want)
		})
	}
}

// The person judges; what becomes of a debater's failure is asked of nobody, and ends the program.
func TestAFailureEndsIt(t *testing.T) {
	source := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}}
	}}
	synctest.Test(t, func(t *testing.T) {
		err := run(t.Context(), bufio.NewScanner(strings.NewReader("Ben\n")), source)
		require.ErrorContains(t, err, "Ada: authentication: status 401")
	})
}
