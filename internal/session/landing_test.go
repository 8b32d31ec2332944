package session_test

import (
	"context"
	"fmt"
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

// tardy is a store that takes a second for each commit.
type tardy struct{ *store.Memory }

// Append implements [store.Store].
func (s tardy) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	stage.Pass(time.Second)
	return s.Memory.Append(ctx, id, after, writer, events)
}

// crowded starts a conversation of a hundred calls over a store that takes a second for each commit. Half of them take half a minute, and
// the others a whole one.
func crowded(t *testing.T) (*debate.Engine, *debate.Session) {
	t.Helper()
	f := stage.OneState(flow.Missing(func(r *flow.Record) []*flow.Call {
		calls := make([]*flow.Call, 100)
		for i := range calls {
			name := r.Active()[i%len(r.Active())]
			calls[i] = &flow.Call{ID: fmt.Sprintf("say.%d", i), Kind: "word", By: name, Model: stage.ModelOf(r, name), Slot: i}
		}
		return calls
	}))
	engine, p, config := stage.WithFlow(f)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r, call := reply(req), stage.CallOf(req)
		r.Delay = time.Duration(1+int(call[len(call)-1])%2) * 30 * time.Second // the time of a turn is two minutes
		return r
	}
	engine.Store = tardy{&store.Memory{}}
	session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
	require.NoError(t, err)
	return engine, session
}

// Results that come at the same time are saved together, and not in as many commits.
func TestResultsThatComeTogetherAreSavedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, session := crowded(t)
		defer session.Close()
		stage.Pass(time.Minute)
		began := time.Now()
		record := stage.Ended(t, session)
		assert.Len(t, record.Turns, 100)
		assert.Less(t, time.Since(began), 10*time.Second)
	})
}

// A control, the end of calls that it breaks off, and a shutdown wait for no more than a few commits, however many calls are in flight.
func TestACrowdOfCallsIsBrokenOffAtOnce(t *testing.T) {
	for _, landed := range []bool{false, true} {
		t.Run(fmt.Sprintf("landed=%t", landed), stage.Bubbled(func(t *testing.T) {
			engine, session := crowded(t)
			stage.Pass(15 * time.Second)
			if landed {
				stage.Pass(15*time.Second + time.Millisecond)
			}
			began := time.Now()
			require.NoError(t, session.Pause(t.Context()))
			_, err := session.WaitIdle(t.Context())
			require.ErrorIs(t, err, flow.ErrPaused)
			assert.Less(t, time.Since(began), 10*time.Second)
			require.NoError(t, session.Resume(t.Context()))
			stage.Pass(15 * time.Second)
			began = time.Now()
			require.NoError(t, stage.Abort(engine))
			assert.Less(t, time.Since(began), 10*time.Second)
		}))
	}
}
