package session_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
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

// A log from before logs said until when a person is awaited tells no store of it. Whoever removes a text from it, or opens it, sets the
// alarm: the text's removal ends one that was set then, and a process may have died before it set one.
func TestAnOlderLogThatWaitsForAPersonKeepsItsAlarm(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, engine *debate.Engine, id string){
		"a text is removed": func(t *testing.T, engine *debate.Engine, id string) {
			_, err := engine.Redact(t.Context(), id, flow.Redaction{Texts: []string{"Zora Quill owes me money"}})
			require.NoError(t, err)
		},
		"it is opened and closed": func(t *testing.T, engine *debate.Engine, id string) {
			require.NoError(t, stage.Reopen(t, engine, id).Close())
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID, config.Topic, config.Judging = "a", "Zora Quill owes me money", nil
			term := flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: "test/debater"}
			config.Participants[0] = debate.Participant{Name: "Ada", Side: debate.For, Position: "Yes, ban them.", Person: true, Term: term}
			engine, _ := stage.Engine(config)
			engine.Store = &store.Memory{}
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			stage.AwaitsInput(t, s)
			require.NoError(t, s.Close())
			log := stage.Kept(t, engine.Store, "a")
			for i := range log {
				if told, ok := log[i].Body.(*flow.Questions); ok {
					require.NotZero(t, told.Wake)
					log[i].Body = &flow.Questions{Open: told.Open, Since: told.Since}
				}
			}
			older := &store.Memory{}
			engine = stage.Twin(engine)
			engine.Store = older
			require.NoError(t, older.Append(t.Context(), "a", 0, "older", log))
			stage.Pass(time.Minute)
			act(t, engine, "a")
			synctest.Wait()
			info, err := older.Describe(t.Context(), "a")
			require.NoError(t, err)
			assert.Zero(t, info.Wake)
			assert.InDelta(t, 9*time.Minute, time.Duration(info.Alarm), float64(10*time.Second))
		}))
	}
}
