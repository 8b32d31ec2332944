package sql_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// jobs is a table of a host program, into which [sql.Options.OnWake] inserts.
type jobs struct {
	*storage

	mu    sync.Mutex
	woken []store.Info
	fails string // the conversation whose jobs cannot be inserted
}

var errNoRoom = errors.New("no room for jobs")

// newJobs makes the table in an empty database.
func newJobs(t *testing.T, s *storage) *jobs {
	t.Helper()
	s.store(t)
	s.execute(t, `CREATE TABLE job (id text NOT NULL, seq bigint NOT NULL)`)
	return &jobs{storage: s}
}

func (j *jobs) insert(ctx context.Context, tx sql.Tx, woken store.Info) error {
	if _, err := tx.SQL.ExecContext(ctx, `INSERT INTO job (id, seq) VALUES ($1, $2)`, woken.ID, woken.Seq); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.woken = append(j.woken, woken)
	if woken.ID == j.fails {
		return errNoRoom
	}
	return nil
}

func (j *jobs) store(t *testing.T) *sql.Store {
	t.Helper()
	kept, err := j.open(t.Context(), sql.Options{OnWake: j.insert})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, kept.Close()) })
	return kept
}

// moved returns one event: a change of state.
func moved(seq int64, from, to flow.State) []flow.Event {
	return []flow.Event{{Seq: seq, At: time.Unix(seq, 0).UTC(), Body: &flow.Transition{From: from, To: to}}}
}

// begun returns the first events of a conversation in a state.
func begun(state flow.State) []flow.Event {
	return append(start("Cars", map[string]string{"tenant": "blue"}), moved(2, flow.StateReady, state)...)
}

// Which appends wake a conversation, and what the host's function is told.
func TestWhatWakes(t *testing.T) {
	const working = flow.State("speaking")
	cases := map[string]struct {
		began  flow.State // the conversation's
		leased string     // who holds its lease; "": nobody
		writer string     // of the append
		events []flow.Event
		woken  bool
	}{
		"a step under the lease":                   {working, "me", "me", facts(2, 1), false},
		"a change of state under the lease":        {working, "me", "me", moved(3, working, flow.StateCompleting), false},
		"a pause under the lease":                  {working, "me", "me", moved(3, working, flow.StatePaused), false},
		"an answer under the lease":                {flow.StateAwaitingInput, "me", "me", moved(3, flow.StateAwaitingInput, working), true},
		"an answer without any lease":              {flow.StateAwaitingInput, "", "you", moved(3, flow.StateAwaitingInput, working), true},
		"an answer, and others are missing":        {flow.StateAwaitingInput, "", "you", facts(2, 1), false},
		"a control, and nobody holds the lease":    {working, "", "you", facts(2, 1), true},
		"a control, and somebody holds the lease":  {working, "me", "you", facts(2, 1), true},
		"a step of one of the owner's writers":     {working, "me", "me/2", facts(2, 1), false},
		"a control of a like-named writer":         {working, "me", "me2", facts(2, 1), true},
		"a pause from elsewhere":                   {working, "me", "you", moved(3, working, flow.StatePaused), false},
		"a cancellation from elsewhere":            {working, "", "you", moved(3, working, flow.StateCanceled), false},
		"a control without effect, when it paused": {flow.StatePaused, "", "you", facts(2, 1), false},
	}
	each(t, func(t *testing.T, s *storage) {
		j := newJobs(t, s)
		kept := j.store(t)
		for name, c := range cases {
			id := fmt.Sprint("d", len(name))
			require.NoError(t, kept.Append(t.Context(), id, 0, "first", begun(c.began)))
			if c.leased != "" {
				require.NoError(t, kept.Lease(t.Context(), id, c.leased, time.Hour))
			}
			j.woken = nil
			require.NoError(t, kept.Append(t.Context(), id, 2, c.writer, c.events))
			if assert.Len(t, j.woken, map[bool]int{true: 1}[c.woken], name) && c.woken {
				since := time.Unix(2, 0).UTC() // it began in its state
				if _, ok := c.events[0].Body.(*flow.Transition); ok {
					since = time.Unix(3, 0).UTC()
				}
				assert.Equal(t, store.Info{
					ID: id, State: working, Topic: "Cars", Labels: map[string]string{"tenant": "blue"}, Seq: 3, StartedAt: time.Unix(1, 0).UTC(),
					LastAt: time.Unix(3, 0).UTC(), Since: since, Owner: c.leased,
				}, j.woken[0], name)
			}
			require.NoError(t, kept.Delete(t.Context(), id))
		}
	})
}

// A conversation that begins in a state in which nothing happens by itself wakes nobody: a fork of a paused one.
func TestABeginningWakes(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		j := newJobs(t, s)
		kept := j.store(t)
		require.NoError(t, kept.Append(t.Context(), "paused", 0, "w", begun(flow.StatePaused)))
		assert.Empty(t, j.woken)
		require.NoError(t, kept.Lease(t.Context(), "started", "me", time.Hour))
		require.NoError(t, kept.Append(t.Context(), "started", 0, "me", begun(flow.StateInitializing)))
		require.Len(t, j.woken, 1, "whoever holds the lease may die")
		assert.Equal(t, "me", j.woken[0].Owner)
		assert.Equal(t, 1, s.count(t, "job"))
	})
}

// The lease of an append's writer counts, whichever store has acquired it, for as long as it lasts.
func TestTheLeaseOfAWriter(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		j := newJobs(t, s)
		kept, other := j.store(t), j.store(t)
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", begun("speaking")))
		j.woken = nil
		require.NoError(t, other.Lease(t.Context(), "a", "me", time.Hour))
		require.NoError(t, kept.Append(t.Context(), "a", 2, "me", facts(2, 1)))
		assert.Empty(t, j.woken, "the lease was acquired elsewhere")
		require.ErrorIs(t, kept.Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased)
		require.NoError(t, other.Release(t.Context(), "a", "me"))
		require.NoError(t, kept.Append(t.Context(), "a", 3, "me", facts(3, 1)))
		assert.Len(t, j.woken, 1)
		require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
		require.NoError(t, kept.Append(t.Context(), "a", 4, "me", facts(4, 1)))
		assert.Len(t, j.woken, 1)
		require.NoError(t, kept.Release(t.Context(), "a", "me"))
		require.NoError(t, kept.Append(t.Context(), "a", 5, "me", facts(5, 1)))
		assert.Len(t, j.woken, 2)
	})
}

// A job is there if and only if the events are.
func TestAJobIsInsertedWithItsEvents(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		j := newJobs(t, s)
		kept := j.store(t)
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", begun("speaking")))
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", begun("speaking")), "the same again")
		require.ErrorIs(t, kept.Append(t.Context(), "a", 0, "other", begun("speaking")), flow.ErrConflict)
		require.ErrorIs(t, kept.Append(t.Context(), "a", 1, "other", facts(1, 1)), flow.ErrConflict)
		assert.Equal(t, 1, s.count(t, "job"))

		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, kept.Append(canceled, "b", 0, "w", begun("speaking")), context.Canceled)
		j.fails = "b"
		require.ErrorIs(t, kept.Append(t.Context(), "b", 0, "w", begun("speaking")), errNoRoom)
		_, err := read(t, kept, "b")
		require.ErrorIs(t, err, flow.ErrNotFound)
		j.fails = "a"
		require.ErrorIs(t, kept.Append(t.Context(), "a", 2, "w", facts(2, 1)), errNoRoom)
		assert.Equal(t, 2, length(t, kept, "a"))
		assert.Equal(t, 1, s.count(t, "job"))
		j.fails = ""
		require.NoError(t, kept.Append(t.Context(), "a", 2, "w", facts(2, 1)))
		assert.Equal(t, 2, s.count(t, "job"))
	})
}

// Of many appends that come at once, the one whose job cannot be inserted fails alone, and those that wake nothing share
// their transaction as ever.
func TestAJobThatFailsFailsAlone(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		j := newJobs(t, s)
		kept := j.store(t)
		const debates = 20
		for i := range debates {
			require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", begun("speaking")))
			if i%2 == 0 {
				require.NoError(t, kept.Lease(t.Context(), fmt.Sprint("d", i), "w", time.Hour))
			}
		}
		j.woken, j.fails = nil, "d7"
		release := s.block(t)
		var appending sync.WaitGroup
		for i := range debates {
			appending.Go(func() {
				err := kept.Append(t.Context(), fmt.Sprint("d", i), 2, "w", facts(2, 1))
				if i == 7 {
					assert.ErrorIs(t, err, errNoRoom)
				} else {
					assert.NoError(t, err)
				}
			})
		}
		eventually(t, func() bool { return kept.Waiting() == debates })
		release()
		appending.Wait()
		assert.Len(t, j.woken, debates/2)
		for i := range debates {
			assert.Equal(t, map[bool]int{true: 2, false: 3}[i == 7], length(t, kept, fmt.Sprint("d", i)))
		}
		assert.Equal(t, debates+debates/2-1, s.count(t, "job"))
	})
}

// What the host's function misses are its own tables. No migration of the conversations' tables makes them.
func TestTheHostsTablesAreMissing(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		for _, insert := range []string{`INSERT INTO debate_jobs (id) VALUES ($1)`, `INSERT INTO debate_lease (nothing) VALUES ($1)`} {
			kept, err := s.open(t.Context(), sql.Options{OnWake: func(ctx context.Context, tx sql.Tx, woken store.Info) error {
				_, err := tx.SQL.ExecContext(ctx, insert, woken.ID)
				return err
			}})
			require.NoError(t, err)
			err = kept.Append(t.Context(), "a", 0, "w", begun("speaking"))
			require.ErrorContains(t, err, "OnWake: ")
			assert.NotContains(t, err.Error(), "migrate")
			require.NoError(t, kept.Close())
		}
	})
}

// Over a whole debate there is a job for its start, one for each control, and none for what its process appends.
func TestWhatADebateWakes(t *testing.T) {
	t.Parallel()
	j := newJobs(t, newSQLite(t))
	here := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}, Store: j.store(t)}
	config := debate.Config{
		ID: "cars", Topic: "Should cities ban private cars?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	session, err := here.Start(t.Context(), config)
	require.NoError(t, err)
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	require.Len(t, j.woken, 1)
	assert.Equal(t, "cars", j.woken[0].ID)

	fork, err := here.Fork(t.Context(), "cars", 4, nil)
	require.NoError(t, err)
	_, err = fork.Wait(t.Context())
	require.NoError(t, err)
	require.Len(t, j.woken, 2)
	assert.Equal(t, fork.ID(), j.woken[1].ID)

	slow := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Yes.", Delay: time.Hour} }}
	there := &debate.Engine{Providers: map[string]debate.Provider{"acme": slow}, Store: j.store(t)}
	_, err = there.Fork(t.Context(), "cars", 4, debate.Editing(func(c *debate.Config) { c.ID = "paused" }))
	require.NoError(t, err)
	j.woken = nil
	require.NoError(t, here.Control(t.Context(), "paused", flow.Pause{}))
	assert.Empty(t, j.woken)
	require.NoError(t, there.Shutdown(t.Context()))
	require.NoError(t, here.Control(t.Context(), "paused", flow.Resume{}))
	require.Len(t, j.woken, 1)
	assert.Equal(t, "paused", j.woken[0].ID)
	assert.Empty(t, j.woken[0].Owner)

	j.woken = nil
	next, err := here.Advance(t.Context(), "paused", "a runtime", flow.Opened{})
	require.NoError(t, err)
	require.NotEmpty(t, next.Calls)
	_, err = here.Call(t.Context(), "paused", "a runtime", next.Calls[0], nil)
	require.NoError(t, err)
	assert.Empty(t, j.woken, "a runtime of the host program appends under its lease too")
	require.NoError(t, here.Shutdown(t.Context()))
}
