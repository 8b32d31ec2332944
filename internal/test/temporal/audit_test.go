package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
)

// tally compares conversations that are over with those that nobody has disturbed.
type tally struct {
	flows.Audit

	cluster *cluster
	asked   map[string][]flows.Asked
}

func (c *cluster) tally(t testing.TB) *tally {
	t.Helper()
	asked, err := flows.ReadLedger(c.order.ledger())
	require.NoError(t, err)
	return &tally{cluster: c, asked: asked}
}

// add audits a conversation.
func (s *tally) add(t testing.TB, id string, want *outcome) {
	t.Helper()
	s.Add(s.cluster.log(t, id), s.asked[id], want.results)
	record, err := s.cluster.client.Engine.Record(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, want.canonical, canonical(t, record), id)
}

// log is the log of a conversation that is over.
func (c *cluster) log(t testing.TB, id string) (log []flow.Event) {
	t.Helper()
	for event, err := range c.client.Engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		log = append(log, event)
	}
	return log
}

// outcome is what a conversation comes to that nobody disturbs.
type outcome struct {
	results   map[string]string
	canonical string
	reason    flow.EndReason
}

// undisturbed lets a session play a conversation.
func undisturbed(t testing.TB, config flow.Config) *outcome {
	t.Helper()
	engine := flows.Engine(&store.Memory{}, nil)
	engine.Seed = func() string { return "seed" }
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	var log []flow.Event
	for event, err := range engine.Events(t.Context(), record.ID, 0) {
		require.NoError(t, err)
		log = append(log, event)
	}
	return &outcome{flows.Results(log), canonical(t, record), record.Reason}
}

// canonical is the record of a debate without its times; "": it is of another flow.
func canonical(t testing.TB, record *debate.Record) string {
	t.Helper()
	d, ok := debate.Of(record)
	if !ok {
		return ""
	}
	data, err := d.Canonical()
	require.NoError(t, err)
	return string(data)
}

// wait lets time pass, in which other processes work.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
