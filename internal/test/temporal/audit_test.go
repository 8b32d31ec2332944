package temporal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
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
func (s *tally) add(t testing.TB, id string, config flow.Config) {
	t.Helper()
	s.Hold(t, s.cluster.client.Engine, id, s.asked[id], flows.Undisturbed(t, config))
}

// wait lets time pass, in which other processes work.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
