package debate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

// facts yields events numbered from after+1.
func facts(after int64, n int) []debate.Event {
	events := make([]debate.Event, n)
	for i := range events {
		events[i] = debate.Event{
			Seq: after + int64(i) + 1, At: time.Unix(after+int64(i), 0).UTC(), Kind: debate.EventDropped,
			Dropped: &debate.Dropped{Participant: fmt.Sprint(after + int64(i) + 1)},
		}
	}
	return events
}

// stored yields the participants of the dropped events of debate a: the numbers that facts wrote.
func stored(t *testing.T, store debate.Store, after int64) (out []string) {
	t.Helper()
	for event, err := range store.Read(t.Context(), "a", after) {
		require.NoError(t, err)
		require.Equal(t, after+int64(len(out))+1, event.Seq)
		out = append(out, event.Dropped.Participant)
	}
	return out
}

func TestAppend(t *testing.T) {
	ctx := t.Context()
	var store debate.MemoryStore
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 2)))
	require.NoError(t, store.Append(ctx, "a", 2, "w", facts(2, 1)))
	assert.Equal(t, []string{"1", "2", "3"}, stored(t, &store, 0))
	assert.Equal(t, []string{"3"}, stored(t, &store, 2))
	assert.Empty(t, stored(t, &store, 3))
	assert.Empty(t, stored(t, &store, 99))

	assert.ErrorIs(t, store.Append(ctx, "a", 2, "other", facts(2, 1)), debate.ErrConflict, "somebody else was faster")
	assert.ErrorIs(t, store.Append(ctx, "a", 0, "w", facts(0, 2)), debate.ErrConflict, "that is long past")
	assert.ErrorIs(t, store.Append(ctx, "a", 4, "w", facts(4, 1)), debate.ErrConflict, "that would leave a gap")
	assert.ErrorIs(t, store.Append(ctx, "new", 1, "w", facts(1, 1)), debate.ErrConflict)
	assert.ErrorIs(t, store.Append(ctx, "a", 2, "", facts(2, 1)), debate.ErrConflict, "a writer without a name cannot prove itself")
	require.NoError(t, store.Append(ctx, "a", 2, "w", facts(2, 1)), "the same writer's second try has succeeded before")
	assert.Equal(t, []string{"1", "2", "3"}, stored(t, &store, 0), "and nothing is there twice")
	assert.NoError(t, store.Append(ctx, "a", 3, "w", nil))
}

func TestTheCallersEventsMayBeOverwritten(t *testing.T) {
	var store debate.MemoryStore
	events := facts(0, 1)
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", events))
	events[0] = debate.Event{Kind: debate.EventAck}
	assert.Equal(t, []string{"1"}, stored(t, &store, 0))
}

// Every kind of event comes back as it went in.
func TestEveryKindIsStored(t *testing.T) {
	config := debate.Config{Topic: "t", Labels: map[string]string{"tenant": "blue"}}
	bodies := []debate.Event{
		{Kind: debate.EventStart, Start: &debate.Start{Version: 1, Config: &config}},
		{Kind: debate.EventTransition, Transition: &debate.Transition{To: debate.StateInitializing}},
		{Kind: debate.EventRound, Round: &debate.Round{N: 1}},
		{Kind: debate.EventIntent, Intent: &debate.Intent{Call: "c"}},
		{Kind: debate.EventTurn, Turn: &debate.Turn{Text: "t"}},
		{Kind: debate.EventAssessment, Assessment: &debate.Assessment{Judge: "j"}},
		{Kind: debate.EventVerdict, Verdict: &debate.Verdict{Judge: "j"}},
		{Kind: debate.EventRejected, Rejection: &debate.Rejection{By: "j"}},
		{Kind: debate.EventFailed, Failure: &debate.Failure{By: "j", Error: &debate.Error{Kind: debate.KindAPI}}},
		{Kind: debate.EventSpend, Spend: &debate.Spend{Cost: 1}},
		{Kind: debate.EventDropped, Dropped: &debate.Dropped{Participant: "p"}},
		{Kind: debate.EventWarning, Warning: &debate.Warning{Kind: debate.WarnCost}},
		{Kind: debate.EventAck},
		{Kind: debate.EventInquiry, Inquiry: &debate.Inquiry{ID: "i"}},
		{Kind: debate.EventAnswer, Answer: &debate.Answer{Inquiry: "i", Text: "a"}},
		{Kind: debate.EventSent, Sent: &debate.Sent{Trigger: "s"}},
	}
	for i := range bodies {
		bodies[i].Seq, bodies[i].At = int64(i+1), time.Unix(int64(i), 0).UTC()
	}
	var store debate.MemoryStore
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", bodies))
	var read []debate.Event
	for event, err := range store.Read(t.Context(), "a", 0) {
		require.NoError(t, err)
		read = append(read, event)
	}
	assert.Equal(t, bodies, read)
	for info, err := range store.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		assert.Equal(t, debate.Info{
			ID: "a", State: debate.StateInitializing, Topic: "t", Labels: config.Labels, Round: 1, Seq: 16,
			StartedAt: bodies[0].At, LastAt: bodies[15].At,
		}, info)
	}
}

func TestReadingStops(t *testing.T) {
	var store debate.MemoryStore
	for _, err := range store.Read(t.Context(), "none", 0) {
		assert.ErrorIs(t, err, debate.ErrNotFound)
	}
	require.NoError(t, store.Lease(t.Context(), "leased", "me", time.Hour))
	for _, err := range store.Read(t.Context(), "leased", 0) {
		assert.ErrorIs(t, err, debate.ErrNotFound, "a lease is no debate")
	}
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 5)))
	n := 0
	for _, err := range store.Read(t.Context(), "a", 0) {
		require.NoError(t, err)
		if n++; n == 2 {
			break
		}
	}
	assert.Equal(t, 2, n)
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	for _, err := range store.Read(ctx, "a", 0) {
		n++
		if n == 2 {
			assert.ErrorIs(t, err, context.Canceled)
		}
		cancel()
	}
	cancel()
	assert.Equal(t, 2, n, "one event, then the reason")
}

func TestDelete(t *testing.T) {
	var store debate.MemoryStore
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, store.Delete(t.Context(), "a"))
	require.NoError(t, store.Delete(t.Context(), "a"))
	for _, err := range store.Read(t.Context(), "a", 0) {
		assert.ErrorIs(t, err, debate.ErrNotFound)
	}
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)), "the id is free")
}

func TestLeases(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1000, 0)
	store := debate.MemoryStore{Now: func() time.Time { return now }}
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute))
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Lease(ctx, "b", "you", time.Minute), "another debate is free")
	now = now.Add(59 * time.Second)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute), "renewed")
	now = now.Add(59 * time.Second)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	now = now.Add(time.Second)
	require.NoError(t, store.Lease(ctx, "a", "you", time.Minute), "it has run out")
	require.NoError(t, store.Release(ctx, "a", "me"), "that is not mine any more")
	assert.ErrorIs(t, store.Lease(ctx, "a", "me", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Release(ctx, "a", "you"))
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute))
	require.NoError(t, store.Release(ctx, "none", "me"))

	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 1)))
	owner := func() (owner string) {
		for info, err := range store.List(ctx, debate.Filter{}) {
			require.NoError(t, err)
			owner = info.Owner
		}
		return owner
	}
	assert.Equal(t, "me", owner())
	now = now.Add(time.Hour)
	assert.Empty(t, owner())
}

func TestList(t *testing.T) {
	ctx := t.Context()
	var store debate.MemoryStore
	for i, tenant := range []string{"blue", "red", "blue", ""} {
		config := debate.Config{Topic: tenant, Labels: map[string]string{"tenant": tenant}}
		if tenant == "" {
			config.Labels = nil
		}
		state := debate.StateCompleted
		if i == 2 {
			state = debate.StatePaused
		}
		require.NoError(t, store.Append(ctx, fmt.Sprint(4-i), 0, "w", []debate.Event{
			{Seq: 1, Kind: debate.EventStart, Start: &debate.Start{Config: &config}},
			{Seq: 2, Kind: debate.EventTransition, Transition: &debate.Transition{To: state}},
		}))
	}
	require.NoError(t, store.Lease(ctx, "0", "me", time.Hour))
	for name, c := range map[string]struct {
		filter debate.Filter
		want   string
	}{
		"all":                {debate.Filter{}, "1 2 3 4"},
		"by state":           {debate.Filter{States: []debate.State{debate.StatePaused, debate.StateError}}, "2"},
		"by label":           {debate.Filter{Labels: map[string]string{"tenant": "blue"}}, "2 4"},
		"by an empty label":  {debate.Filter{Labels: map[string]string{"tenant": ""}}, ""},
		"by two labels":      {debate.Filter{Labels: map[string]string{"tenant": "blue", "trace": "x"}}, ""},
		"after one":          {debate.Filter{After: "2"}, "3 4"},
		"after the last":     {debate.Filter{After: "4"}, ""},
		"the first two":      {debate.Filter{Limit: 2}, "1 2"},
		"two that match":     {debate.Filter{Limit: 1, Labels: map[string]string{"tenant": "blue"}}, "2"},
		"a page behind one":  {debate.Filter{Limit: 1, After: "1"}, "2"},
		"by state and label": {debate.Filter{States: []debate.State{debate.StateCompleted}, Labels: map[string]string{"tenant": "blue"}}, "4"},
	} {
		var ids []string
		for info, err := range store.List(ctx, c.filter) {
			require.NoError(t, err)
			assert.True(t, c.filter.Matches(info))
			ids = append(ids, info.ID)
		}
		assert.Equal(t, c.want, strings.Join(ids, " "), name)
	}
	for _, err := range store.List(ctx, debate.Filter{}) {
		require.NoError(t, err)
		break
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store debate.MemoryStore
		ctx, cancel := context.WithCancel(t.Context())
		grown := store.Watch(ctx, "a")
		other := store.Watch(t.Context(), "b")
		for n := range 3 { // nobody reads: the store does not wait
			require.NoError(t, store.Append(t.Context(), "a", int64(n), "w", facts(int64(n), 1)))
		}
		<-grown
		select {
		case <-grown:
			assert.Fail(t, "one sign is enough for three commits")
		case <-other:
			assert.Fail(t, "the other debate has not grown")
		default:
		}
		require.NoError(t, store.Append(t.Context(), "a", 3, "w", facts(3, 1)))
		<-grown
		cancel()
		synctest.Wait()
		require.NoError(t, store.Append(t.Context(), "a", 4, "w", facts(4, 1)))
		select {
		case _, open := <-grown:
			assert.False(t, open, "nobody watches any more")
		default:
		}
	})
}

// Of many who append to the same place one succeeds, and the log is whole at every moment.
func TestManyWriters(t *testing.T) {
	const writers, rounds = 8, 50
	var store debate.MemoryStore
	var wins [writers]int
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			name := fmt.Sprint("w", w)
			for after := int64(0); after < rounds; {
				err := store.Append(t.Context(), "a", after, name, facts(after, 1))
				switch {
				case err == nil:
					wins[w]++
				case !errors.Is(err, debate.ErrConflict):
					assert.NoError(t, err)
				}
				n := int64(0)
				for event, err := range store.Read(t.Context(), "a", 0) {
					assert.NoError(t, err)
					n++
					assert.Equal(t, n, event.Seq)
				}
				for _, err := range store.List(t.Context(), debate.Filter{}) {
					assert.NoError(t, err)
				}
				after = n
			}
		})
	}
	group.Wait()
	sum := 0
	for _, n := range wins {
		sum += n
	}
	assert.Equal(t, rounds, sum)
	assert.Len(t, stored(t, &store, 0), rounds)
}
