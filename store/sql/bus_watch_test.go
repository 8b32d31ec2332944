package sql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store/sql"
)

// speaker replies with a word every few milliseconds, and records when each word was spoken. It goes on until a reader has heard of the
// call.
type speaker struct {
	pace time.Duration

	mu     sync.Mutex
	spoken map[string]time.Time // by word
	heard  map[string]bool      // by call; nil: nobody listens
}

// hear notes that a reader has heard of a call.
func (s *speaker) hear(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard[call] = true
}

func (s *speaker) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	_, call, _ := strings.Cut(req.ID[:strings.LastIndexByte(req.ID, '/')], "/")
	var reply strings.Builder
	heard := false
	for i := 0; i < 40 || !heard; i++ {
		word := fmt.Sprintf("<%s %d> ", req.ID, i)
		select {
		case <-time.After(s.pace):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		s.spoken[word] = time.Now()
		heard = s.heard == nil || s.heard[call]
		s.mu.Unlock()
		reply.WriteString(word)
		emit(provider.Chunk{Text: word})
	}
	return &provider.Response{Text: reply.String(), Stop: provider.StopEnd, Usage: provider.Usage{Input: 10, Output: 10}}, nil
}

// watchedDebate is a debate of two without a judge.
func watchedDebate() debate.Config {
	return debate.Config{
		Topic: "Is it heard?", Rounds: 1, Unattended: true,
		Participants: []debate.Participant{{Name: "Ada", Model: "test/m"}, {Name: "Ben", Model: "test/m"}},
	}
}

// engine returns an engine on a database, with a bus of its own, for as long as the test runs.
func (s *speaker) engine(t *testing.T, url string) *debate.Engine {
	t.Helper()
	store, err := sql.OpenPostgres(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	engine := &debate.Engine{Store: store, Bus: openBus(t, url), Providers: map[string]debate.Provider{"test": s}, SkipModelCheck: true}
	t.Cleanup(func() { assert.NoError(t, engine.Shutdown(context.WithoutCancel(t.Context()))) })
	return engine
}

// Two engines on one database, each with a bus of its own: the second one's reader gets the text while it is spoken.
func TestAnotherEngineHearsByPostgreSQL(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	voice := &speaker{pace: 10 * time.Millisecond, spoken: map[string]time.Time{}, heard: map[string]bool{}}
	one, other := voice.engine(t, url), voice.engine(t, url)
	session, err := one.Start(t.Context(), watchedDebate())
	require.NoError(t, err)
	texts, turns, live := map[string]string{}, 0, 0 // live: chunks
	var delays []time.Duration
	for event, err := range other.Events(t.Context(), session.ID(), 0) {
		require.NoError(t, err)
		switch body := event.Body.(type) {
		case *flow.Chunk:
			texts[body.Call] = texts[body.Call][:body.Offset] + body.Text
			if body.Text != "" {
				voice.hear(body.Call)
			}
			voice.mu.Lock()
			words := strings.SplitAfter(body.Text, "> ")
			if at, ok := voice.spoken[words[max(0, len(words)-2)]]; ok {
				delays = append(delays, time.Since(at)) // of the last word that came
			}
			voice.mu.Unlock()
			live++
		case *flow.Turn:
			assert.Equal(t, body.Text, texts[body.Call])
			turns++
		}
	}
	require.Equal(t, 2, turns)
	require.Len(t, voice.heard, 2, "of each turn something was heard while it was spoken")
	slices.Sort(delays)
	t.Logf("%d chunks; from the last word of a chunk to its reader: p50 %s, most %s", len(delays), delays[len(delays)/2], delays[len(delays)-1])
}
