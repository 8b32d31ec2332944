package temporal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// asked counts how often the providers of all processes were asked, by the id of the request, which names call and attempt.
func (c *cluster) asked(t testing.TB) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.order.Folder, "ledger"))
	require.NoError(t, err)
	times := make(map[string]int)
	for id := range strings.Lines(string(text)) {
		times[strings.TrimSpace(id)]++
	}
	return times
}

// tally is what the logs of debates show.
type tally struct {
	asked                             map[string]int
	repeats, missing, doubles, losses int
	continued                         []time.Duration // from a kill until a call that it met was made again
}

// audit reads the log of a debate and compares it with what the providers were asked.
func (s *tally) audit(t testing.TB, c *cluster, id string, killed []time.Time) {
	t.Helper()
	begun := make(map[flow.Lost]time.Time)
	settled := make(map[flow.Lost]bool)
	done := make(map[string]bool)
	kind := debate.DebateFlow()
	for event, err := range c.client.Engine.Store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		event, err = kind.DecodeEvent(event)
		require.NoError(t, err)
		if intent, ok := event.Body.(*flow.Intent); ok {
			if done[intent.Call] {
				s.repeats++
			}
			begun[flow.Lost{Call: intent.Call, Attempt: intent.Attempt}] = event.At
			continue
		}
		spend := flow.SpendOf(event.Body)
		if spend == nil {
			continue
		}
		attempt := flow.Lost{Call: spend.Call, Attempt: spend.Attempt}
		if settled[attempt] || done[spend.Call] {
			s.doubles++
		}
		settled[attempt] = true
		failure, failed := event.Body.(*flow.Failure)
		done[spend.Call] = !failed
		if failed && failure.Void {
			s.losses++
			if i := slices.IndexFunc(killed, func(at time.Time) bool { return at.After(begun[attempt]) }); i >= 0 {
				s.continued = append(s.continued, event.At.Sub(killed[i]))
			}
		}
	}
	for attempt := range begun {
		if !settled[attempt] {
			s.missing++
		}
		if s.asked[id+"/"+attempt.Call+"/"+strconv.Itoa(attempt.Attempt)] > 1 {
			s.repeats++
		}
	}
}

// percentile returns a percentile of the times to continue.
func (s *tally) percentile(n int) time.Duration {
	if len(s.continued) == 0 {
		return 0
	}
	slices.Sort(s.continued)
	return s.continued[(len(s.continued)-1)*n/100].Round(10 * time.Millisecond)
}

// undisturbed is the canonical record of a debate that a session plays.
func (c *cluster) undisturbed(t testing.TB, mode debate.Mode) string {
	t.Helper()
	plays.Lock()
	defer plays.Unlock()
	if plays.ended[mode] == "" {
		config := stage.TwoDebaters()
		config.Mode = mode
		engine, _ := stage.Engine(config)
		engine.Store, engine.Seed = &store.Memory{}, func() string { return "seed" }
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		plays.ended[mode] = canonical(t, record)
	}
	return plays.ended[mode]
}

// plays are undisturbed debates.
var plays = struct {
	sync.Mutex

	ended map[debate.Mode]string
}{ended: make(map[debate.Mode]string)}

func canonical(t testing.TB, record *debate.Record) string {
	t.Helper()
	d, ok := debate.Of(record)
	require.True(t, ok)
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
