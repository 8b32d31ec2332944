package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
)

// An alarm keeps a conversation from workers until it rings, and the next append removes it.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		due := func() []string { return names(list(t, kept, store.Filter{Due: true})) }
		alarm := func(id string) flow.Duration {
			info, err := kept.Describe(t.Context(), id)
			require.NoError(t, err)
			return info.Alarm
		}
		require.NoError(t, kept.Append(t.Context(), "asked", 0, "w", begun(flow.StateAwaitingInput)))
		require.NoError(t, kept.Append(t.Context(), "over", 0, "w", begun(flow.StateCompleted)))
		require.NoError(t, kept.Append(t.Context(), "works", 0, "w", begun("speaking")))
		assert.Equal(t, []string{"works"}, due())
		announced := s.announcements(t)
		announced()

		for _, id := range []string{"asked", "over", "works"} {
			require.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
			require.NoError(t, kept.SetAlarm(t.Context(), id, 2, time.Hour))
			require.NoError(t, kept.Release(t.Context(), id, "me"))
			assert.InDelta(t, time.Hour, time.Duration(alarm(id)), float64(10*time.Minute))
		}
		assert.Zero(t, announced(), "nobody has to come")
		assert.Empty(t, due())
		assert.Equal(t, []string{"works"}, names(list(t, kept, store.Filter{Working: true, Idle: true})))

		for _, id := range []string{"asked", "over", "works"} {
			require.NoError(t, kept.SetAlarm(t.Context(), id, 1, time.Nanosecond), "the log has grown")
		}
		require.NoError(t, kept.SetAlarm(t.Context(), "none", 0, time.Hour))
		assert.Empty(t, due())
		for _, id := range []string{"asked", "over", "works"} {
			require.NoError(t, kept.SetAlarm(t.Context(), id, 2, time.Nanosecond))
			eventually(t, func() bool { return alarm(id) < 0 })
		}
		assert.Equal(t, []string{"asked", "works"}, due(), "a person's time is over, too")

		require.NoError(t, kept.SetAlarm(t.Context(), "works", 2, time.Hour))
		require.NoError(t, kept.Append(t.Context(), "works", 2, "w", facts(2, 1)))
		assert.Zero(t, alarm("works"))
		require.NoError(t, kept.Append(t.Context(), "asked", 2, "w", moved(3, flow.StateAwaitingInput, "speaking")))
		assert.Zero(t, alarm("asked"))
		assert.Equal(t, []string{"asked", "works"}, due())
		require.NoError(t, kept.SetAlarm(t.Context(), "works", 3, time.Hour))
		require.NoError(t, kept.SetAlarm(t.Context(), "works", 3, 0))
		assert.Equal(t, []string{"asked", "works"}, due(), "it was removed")
	})
}

// Each bounds every value of a label, and those without it together. Values that begin alike are several.
func TestEach(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		long := strings.Repeat("x", 600)
		values := []string{"", "blue", "red", long, long + "!"}
		var all, newest []string
		var appending sync.WaitGroup
		for i := range 300 {
			labels := map[string]string{"tenants": "of another label"}
			if value := values[i%len(values)]; value != "" {
				labels["tenant"] = value
			}
			id := fmt.Sprintf("d%03d", i)
			appending.Go(func() {
				assert.NoError(t, kept.Append(t.Context(), id, 0, "w", append(start("t", labels), moved(2, flow.StateReady, "speaking")...)))
			})
			if i < 2*len(values) {
				all = append(all, id)
			}
			if i >= 300-2*len(values) {
				newest = append([]string{id}, newest...)
			}
		}
		appending.Wait()
		two := store.Filter{Per: "tenant", Each: 2}
		assert.Equal(t, all, names(list(t, kept, two)))
		two.Due = true
		assert.Equal(t, all, names(list(t, kept, two)))
		two.Limit = 7
		assert.Equal(t, all[:7], names(list(t, kept, two)))
		two.Due, two.Limit, two.Newest = false, 0, true
		assert.Equal(t, newest, names(list(t, kept, two)))
		two.Newest, two.After = false, "d004"
		assert.Equal(t, "d014", names(list(t, kept, two))[9])
		blue := store.Filter{Per: "tenant", Each: 2, Labels: map[string]string{"tenant": "blue"}}
		assert.Equal(t, []string{"d001", "d006"}, names(list(t, kept, blue)))
		sum, err := kept.Sum(t.Context(), blue)
		require.NoError(t, err)
		assert.Equal(t, 2, sum.Count)
		assert.Len(t, list(t, kept, store.Filter{Each: 2}), 300, "there is no label")
	})
}

// One statement counts what the list has.
func TestCountStates(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		states := []flow.State{"speaking", flow.StatePaused, flow.StateAwaitingInput, flow.StateError, flow.StateCompleted}
		for i := range 60 {
			id := fmt.Sprintf("d%02d", i)
			events := begun(states[i%len(states)])
			if i%10 == 0 {
				events = facts(0, 2) // in no state
			}
			require.NoError(t, kept.Append(t.Context(), id, 0, "w", events))
			if i%7 == 0 {
				require.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
			}
			if i%11 == 0 {
				require.NoError(t, kept.SetAlarm(t.Context(), id, 2, time.Microsecond)) // it rings at once
			}
			if i%9 == 0 {
				require.NoError(t, kept.SetQuarantine(t.Context(), id, store.Quarantine{Count: 1, Left: flow.Duration(time.Hour)}))
			}
		}
		for name, filter := range map[string]store.Filter{
			"all": {}, "due": {Due: true}, "paused": {States: []flow.State{flow.StatePaused}},
			"labelled": {Labels: map[string]string{"tenant": "blue"}}, "a part of each": {Per: "tenant", Each: 3},
			"none": {Labels: map[string]string{"tenant": "red"}},
		} {
			want, err := store.CountList(t.Context(), kept, filter)
			require.NoError(t, err)
			got, err := kept.CountStates(t.Context(), filter)
			require.NoError(t, err)
			require.Len(t, got, len(want), name)
			for i := range got {
				assert.InDelta(t, want[i].Oldest, got[i].Oldest, float64(time.Minute), name)
				got[i].Oldest = want[i].Oldest
			}
			assert.Equal(t, want, got, name)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := kept.CountStates(canceled, store.Filter{})
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// Fifty thousand conversations that rest until later cost a worker's look nothing: an index leads to the ten that do not. So it does among
// as many that are over.
func TestManyRestingConversations(t *testing.T) {
	longform.Only(t, "that alarms keep conversations from workers, by TestAlarms")
	alone(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		const insert = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
			INSERT INTO debate (id, seq, at, started, state, round, about, due)
			SELECT 'd' || i, 1, '2026-01-01T00:00:00.000000000Z', '2026-01-01T00:00:00.000000000Z',
				CASE WHEN i > 50000 THEN 'completed' ELSE 'speaking' END, 0, '{}',
				CASE WHEN i > 50000 OR i % 5000 = 0 THEN 0 ELSE 9000000000000000 + i END FROM n`
		s.execute(t, insert)
		s.execute(t, `ANALYZE`)
		var fastest time.Duration
		for range 20 {
			began := time.Now()
			found := list(t, kept, store.Filter{Due: true})
			if took := time.Since(began); fastest == 0 || took < fastest {
				fastest = took
			}
			require.Len(t, found, 10)
		}
		t.Logf("a look takes %s", fastest)
		assert.LessOrEqual(t, fastest, 50*time.Millisecond)

		db, err := stdsql.Open(s.driver, s.url)
		require.NoError(t, err)
		defer func() { assert.NoError(t, db.Close()) }()
		plan := ""
		rows, err := db.QueryContext(t.Context(), map[string]string{"pgx": "EXPLAIN ", "sqlite": "EXPLAIN QUERY PLAN "}[s.driver]+kept.DueQuery())
		require.NoError(t, err)
		defer func() { assert.NoError(t, rows.Close()) }()
		columns, err := rows.Columns()
		require.NoError(t, err)
		line := make([]any, len(columns))
		for i := range line {
			line[i] = new(string)
		}
		for rows.Next() {
			require.NoError(t, rows.Scan(line...))
			plan += *line[len(line)-1].(*string) + "\n"
		}
		require.NoError(t, rows.Err())
		assert.Contains(t, plan, "debate_due", plan)
	})
}
