package session_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A debate whose next call is far away needs no process until then. Its session is closed, and nothing is in flight.
func TestADebateRestsWhileItsNextCallIsFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.Patience = "far", 10*time.Hour
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		reply := p.Reply
		var limited atomic.Bool
		p.Reply = func(req *provider.Request) scripted.Reply {
			if limited.CompareAndSwap(false, true) {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Minute, NotSent: true}}
			}
			return reply(req)
		}
		s, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		next, err := s.Rest(t.Context(), time.Minute)
		require.NoError(t, err)
		assert.False(t, next.Idle)
		assert.Greater(t, next.Wait, 29*time.Minute)
		record := stage.SessionRecord(t, s)
		assert.Equal(t, record.Seq, next.Seq)
		assert.Zero(t, record.InFlight())
		_, err = s.Rest(t.Context(), time.Minute)
		require.ErrorIs(t, err, flow.ErrClosed)

		s = stage.Reopen(t, engine, "far")
		next, err = s.Rest(t.Context(), 24*time.Hour) // no wait is as long
		require.NoError(t, err)
		assert.True(t, next.Idle && next.Over)
		assert.Equal(t, flow.StateCompleted, next.State)
	})
}
