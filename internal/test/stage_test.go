// Package test_test holds the tests of the root module that need more than testify.
package test_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is an engine with a provider whose calls are counted.
type stage struct {
	*debate.Engine

	provider.Provider
	store     *store.Memory
	now, most atomic.Int64 // calls that are being made
}

// Generate counts.
func (s *stage) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); n > most; most = s.most.Load() {
		s.most.CompareAndSwap(most, n)
	}
	return s.Provider.Generate(ctx, req, emit)
}

// newStage makes an engine on a store. After the test nothing of it may run any more.
func newStage(t *testing.T, store *store.Memory, reply func(*provider.Request) scripted.Reply) *stage {
	t.Helper()
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		err := goleak.Find(running)
		for n := 0; n < 300 && err != nil; n++ { // each waits for no more than half a second
			err = goleak.Find(running)
		}
		assert.NoError(t, err)
	})
	s := &stage{Provider: &scripted.Provider{Reply: reply}, store: store}
	s.Engine = &debate.Engine{
		Providers: map[string]debate.Provider{"test": s}, Store: store,
		Models: map[string]flow.Model{"test/model": {Priced: true, Input: 1_000, Output: 2_000}},
	}
	return s
}

// text is what is said in a call, whatever the attempt.
func text(req *provider.Request) string {
	_, call, _ := strings.Cut(req.ID, "/")
	call, _, _ = strings.Cut(call, "/")
	return call + ": " + strings.Repeat("one word after the other ", 8)
}

func speak(req *provider.Request) scripted.Reply {
	return scripted.Reply{Text: text(req), Chunks: 8, Usage: provider.Usage{Input: 10, Output: 10}}
}

// holding stops every reply to the given speaker after its first chunk, until the channel is closed.
func holding(speaker string, hold <-chan struct{}) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := speak(req)
		if req.Self == speaker {
			r.Hold = hold
		}
		return r
	}
}

func config(id string, rounds int) debate.Config {
	return debate.Config{
		ID: id, Topic: "Is silence an answer?", Format: format.RoundLimited, Rounds: rounds,
		Participants: []debate.Participant{{Name: "Ada", Model: "test/model"}, {Name: "Ben", Model: "test/model"}},
	}
}

// untilChunk reads a session's events until the speaker has said something.
func untilChunk(t *testing.T, s *debate.Session, speaker string) {
	t.Helper()
	for event, err := range s.Events(t.Context(), 0) {
		require.NoError(t, err)
		if event.Kind() == flow.EventChunk && body.As[flow.Chunk](event).By == speaker {
			return
		}
	}
	require.Fail(t, "the debate ended before "+speaker+" spoke")
}

// whole checks that a debate of two speakers ended with all that they had to say.
func whole(t *testing.T, r *flow.Record, rounds int) {
	t.Helper()
	require.Equal(t, flow.StateCompleted, r.State)
	require.Len(t, r.Turns, 2*rounds)
	for i, turn := range r.Turns {
		require.Equal(t, []string{"Ada", "Ben"}[i%2], turn.Speaker)
		require.Equal(t, i/2+1, turn.Round)
		require.True(t, strings.HasPrefix(turn.Text, fmt.Sprintf("r%d.", turn.Round)), turn.Text)
	}
	require.Zero(t, r.InFlight())
	require.Zero(t, r.Reserved())
}
