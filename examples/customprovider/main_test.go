package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		began := time.Now()
		require.NoError(t, run(t.Context(), &out, 60*time.Millisecond))
		assert.Equal(t, `Eliza: Why do you say that you have nothing to say?
Carl: I think that my words fall into a well.
Eliza: Why do you say that you think that your words fall into a well?
Carl: I know that you only turn round what I say.
Eliza: Why do you say that you know that I only turn round what you say?
Carl: I am sure that nobody is there.
`, out.String())
		assert.Greater(t, time.Since(began), 3*time.Second, "it was spoken word by word")
	})
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, run(ctx, io.Discard, 60*time.Millisecond), context.DeadlineExceeded)
	})
}

// Eliza does what the contract asks of a provider. What she has no words for is skipped.
func TestConformance(t *testing.T) {
	providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		if len(s.Calls) > 0 {
			t.Skip("Eliza calls no tools")
		}
		return &Eliza{Speak: func(ctx context.Context, req *provider.Request) iter.Seq2[Piece, error] {
			return func(yield func(Piece, error) bool) { play(ctx, s, req, yield) }
		}}
	})
}

// play does in Speak's place what a scenario says.
func play(ctx context.Context, s providertest.Scenario, req *provider.Request, yield func(Piece, error) bool) {
	if s.Sent != nil {
		s.Sent(heard(req))
	}
	for i, piece := range s.Reply {
		if !yield(Piece{Text: piece}, nil) {
			return
		}
		if i > 0 || s.Hold == nil {
			continue
		}
		select {
		case <-s.Hold:
		case <-ctx.Done():
			yield(Piece{}, ctx.Err())
			return
		}
	}
	switch {
	case s.Cut:
		return
	case s.Fail != "" && s.Fail != provider.KindInvalidResponse:
		yield(Piece{}, &provider.Error{Kind: s.Fail, RetryAfter: s.RetryAfter})
	default:
		yield(Piece{Stop: cmp.Or(s.Stop, provider.StopEnd), Usage: s.Usage, Model: s.Model}, nil)
	}
}

// heard is what reaches Speak of a request.
func heard(req *provider.Request) providertest.Sent {
	sent := providertest.Sent{
		Model: req.Model, System: req.System, MaxTokens: req.MaxTokens, Temperature: req.Temperature, Schema: req.Schema != nil,
	}
	for role, text := range req.Chat() {
		if role != provider.RoleSystem {
			sent.Turns = append(sent.Turns, providertest.Turn{Role: role, Text: text})
		}
	}
	return sent
}
