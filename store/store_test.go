package store_test

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
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Package store/storetest asks of a store.Memory what is asked of every store. Here is what is its own.

// facts yields events numbered from after+1.
func facts(after int64, n int) []debate.Event {
	events := make([]debate.Event, n)
	for i := range events {
		events[i] = debate.Event{
			Seq: after + int64(i) + 1, At: time.Unix(after+int64(i), 0).UTC(),
			Body: &flow.Dropped{Participant: fmt.Sprint(after + int64(i) + 1)},
		}
	}
	return events
}

// stored yields the events of debate a with numbers above after.
func stored(t *testing.T, store debate.Store, after int64) (out []debate.Event) {
	t.Helper()
	for event, err := range store.Read(t.Context(), "a", after) {
		require.NoError(t, err)
		out = append(out, event)
	}
	return out
}

// holders yields who holds which debate.
func holders(t *testing.T, store debate.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for info, err := range store.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		out[info.ID] = info.Owner
	}
	return out
}

func TestMemoryStoreAppend(t *testing.T) {
	ctx := t.Context()
	var store store.Memory
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 2)))
	require.NoError(t, store.Append(ctx, "a", 2, "w", facts(2, 100)))
	assert.Equal(t, facts(0, 102), stored(t, &store, 0))
	assert.Equal(t, facts(63, 39), stored(t, &store, 63), "a log lies in blocks of 64")
	assert.Equal(t, facts(64, 38), stored(t, &store, 64))
	assert.Equal(t, facts(65, 37), stored(t, &store, 65))
	assert.Empty(t, stored(t, &store, 102))

	require.NoError(t, store.Append(ctx, "a", 2, "w", facts(2, 100)), "the same writer's second try has succeeded before")
	assert.ErrorIs(t, store.Append(ctx, "a", 2, "v", facts(2, 100)), debate.ErrConflict)
	assert.ErrorIs(t, store.Append(ctx, "a", 2, "", facts(2, 100)), debate.ErrConflict)
	assert.ErrorIs(t, store.Append(ctx, "a", 2, "w", facts(2, 101)), debate.ErrConflict, "of that try the last is not there")
	assert.ErrorIs(t, store.Append(ctx, "new", 1, "w", facts(1, 1)), debate.ErrConflict)
	assert.ErrorIs(t, store.Append(ctx, "..", 0, "w", facts(0, 1)), &debate.Error{Kind: provider.KindValidation})
	assert.NoError(t, store.Append(ctx, "none", 0, "w", nil))
	assert.Equal(t, facts(0, 102), stored(t, &store, 0))
	assert.Equal(t, map[string]string{"a": ""}, holders(t, &store))
	require.NoError(t, store.Append(ctx, "b", 0, "", facts(0, 1)))
	assert.ErrorIs(t, store.Append(ctx, "b", 0, "", facts(0, 1)), debate.ErrConflict, "nobody has no second try")
}

// What an event points to is neither copied nor lost, whatever its kind.
func TestMemoryStoreKeepsEveryKind(t *testing.T) {
	events := []debate.Event{
		{Body: &flow.Start{Config: flow.Value{Go: &debate.Config{Topic: "topic"}}}},
		{Body: &flow.Transition{To: flow.StatePaused}},
		{Body: &flow.Round{N: 1}},
		{Body: &flow.Intent{}},
		{Body: &debate.Turn{Text: "text"}},
		{Body: &debate.Assignment{Reasoning: "They differ."}},
		{Body: &debate.Ballot{Voter: "Eve"}},
		{Body: &flow.Summarized{Upto: 7, Text: "So far so good."}},
		{Body: &debate.Assessment{}},
		{Body: &debate.Verdict{}},
		{Body: &flow.Rejection{}},
		{Body: &flow.Failure{}},
		{Body: &flow.Charge{}},
		{Body: &flow.Late{}},
		{Body: &flow.Dropped{}},
		{Body: &flow.Warning{}},
		{Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}},
		{Body: &flow.Inquiry{}},
		{Body: &flow.Answer{}},
		{Body: &flow.Sent{}},
		{Body: &flow.Opened{}},
		{Body: &flow.ToolCalls{}},
		{Body: &flow.ToolResult{}},
	}
	for i := range events {
		events[i].Seq, events[i].At = int64(i+1), time.Unix(int64(i), 0).UTC()
	}
	var store store.Memory
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", events))
	read := stored(t, &store, 0)
	require.Equal(t, events, read)
	assert.Same(t, body.As[debate.Turn](events[4]), body.As[debate.Turn](read[4]))
}

func TestMemoryStoreReadsWhatIsThereAtTheCall(t *testing.T) {
	ctx := t.Context()
	var store store.Memory
	for _, err := range store.Read(ctx, "a", 0) {
		assert.ErrorIs(t, err, debate.ErrNotFound)
	}
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 3)))
	var read []debate.Event
	for event, err := range store.Read(ctx, "a", 0) {
		require.NoError(t, err)
		read = append(read, event)
		require.NoError(t, store.Append(ctx, "a", event.Seq+2, "w", facts(event.Seq+2, 1)))
		if event.Seq == 2 {
			require.NoError(t, store.Delete(ctx, "a"))
			break
		}
	}
	assert.Equal(t, facts(0, 2), read)
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 3)))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range store.Read(ended, "a", 0) {
		assert.ErrorIs(t, err, context.Canceled)
	}
	for _, err := range store.List(ended, debate.Filter{}) {
		assert.ErrorIs(t, err, context.Canceled)
	}
}

func TestMemoryStoreLeases(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1000, 0)
	store := store.Memory{Now: func() time.Time { return now }}
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 1)))
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute))
	require.NoError(t, store.Lease(ctx, "unbegun", "you", time.Minute), "another debate is free")
	now = now.Add(time.Minute - 1)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute), "renewed")
	now = now.Add(time.Minute - 1)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	assert.Equal(t, map[string]string{"a": "me"}, holders(t, &store), "a lease is no debate")
	now = now.Add(1)
	assert.Equal(t, map[string]string{"a": ""}, holders(t, &store), "it has run out to the nanosecond")
	require.NoError(t, store.Lease(ctx, "a", "you", time.Minute))
	require.NoError(t, store.Release(ctx, "a", "me"), "that is not mine any more")
	assert.ErrorIs(t, store.Lease(ctx, "a", "me", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Release(ctx, "a", "you"))
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute))
	require.NoError(t, store.Release(ctx, "unbegun", "you"))
	require.NoError(t, store.Release(ctx, "none", "me"))
	assert.ErrorIs(t, store.Lease(ctx, "..", "me", time.Minute), &debate.Error{Kind: provider.KindValidation})
	require.NoError(t, store.Delete(ctx, "a"))
	require.NoError(t, store.Delete(ctx, "a"))
	require.NoError(t, store.Lease(ctx, "a", "you", time.Minute), "the lease went with the debate")
}

func TestMemoryStoreList(t *testing.T) {
	ctx := t.Context()
	var store store.Memory
	labels := map[string]string{"tenant": "blue"}
	for i, id := range []string{"d", "b", "a", "c"} {
		require.NoError(t, store.Append(ctx, id, 0, "w", []debate.Event{
			{Seq: 1, At: time.Unix(int64(i), 0), Body: &flow.Start{Settings: flow.Settings{Topic: "topic " + id, Labels: labels}}},
			{Seq: 2, At: time.Unix(9, 0), Body: &debate.Turn{Text: "Words of " + id}},
		}))
	}
	for name, c := range map[string]struct {
		filter debate.Filter
		want   []string
	}{
		"all":                    {debate.Filter{}, []string{"a", "b", "c", "d"}},
		"newest first":           {debate.Filter{Newest: true}, []string{"d", "c", "b", "a"}},
		"a page":                 {debate.Filter{After: "a", Limit: 2}, []string{"b", "c"}},
		"what matches":           {debate.Filter{From: time.Unix(1, 0), Until: time.Unix(3, 0)}, []string{"a", "b"}},
		"what is found":          {debate.Filter{Text: "words of C"}, []string{"c"}},
		"what is found, by page": {debate.Filter{Text: "TOPIC", Limit: 3}, []string{"a", "b", "c"}},
		"what nobody has said":   {debate.Filter{Text: "needle"}, nil},
	} {
		var ids []string
		for info, err := range store.List(ctx, c.filter) {
			require.NoError(t, err)
			ids = append(ids, info.ID)
		}
		assert.Equal(t, c.want, ids, name)
	}
	for info, err := range store.List(ctx, debate.Filter{}) {
		require.NoError(t, err)
		assert.Equal(t, debate.Info{ID: "a", Topic: "topic a", Labels: labels, Seq: 2, StartedAt: time.Unix(2, 0), LastAt: time.Unix(9, 0)}, info)
		info.Labels["tenant"] = "spoiled"
		break
	}
	assert.Equal(t, map[string]string{"tenant": "blue"}, labels, "what is listed is a copy")
}

func TestMemoryStoreWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store store.Memory
		ctx, cancel := context.WithCancel(t.Context())
		grown := store.Watch(ctx, "a")
		other := store.Watch(t.Context(), "b")
		signs := func(c <-chan struct{}) (n int) {
			synctest.Wait()
			for len(c) > 0 {
				<-c
				n++
			}
			return n
		}
		for n := range int64(3) { // nobody reads: the store does not wait
			require.NoError(t, store.Append(t.Context(), "a", n, "w", facts(n, 1)))
		}
		assert.Equal(t, 1, signs(grown), "one sign is enough for three commits")
		assert.Equal(t, 0, signs(other), "the other debate has not grown")
		require.NoError(t, store.Append(t.Context(), "a", 2, "w", facts(2, 1)))
		require.ErrorIs(t, store.Append(t.Context(), "a", 2, "v", facts(2, 1)), debate.ErrConflict)
		require.NoError(t, store.Lease(t.Context(), "a", "me", time.Hour))
		assert.Equal(t, 0, signs(grown), "nothing was appended")
		require.NoError(t, store.Delete(t.Context(), "a"))
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		assert.Equal(t, 1, signs(grown), "who watches stays when a debate is begun again")
		cancel()
		synctest.Wait()
		require.NoError(t, store.Append(t.Context(), "a", 1, "w", facts(1, 1)))
		assert.Equal(t, 0, signs(grown), "nobody watches any more")
	})
}

// Times lie packed in memory; those that do not fit, or that are not in UTC, stay as they are.
func TestMemoryStoreKeepsEveryTime(t *testing.T) {
	store := &store.Memory{}
	times := []time.Time{
		{},
		time.Date(1, 2, 3, 4, 5, 6, 7, time.UTC), time.Date(1677, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0).UTC(),
		time.Date(2026, 1, 31, 12, 0, 0, 123_456_789, time.UTC), time.Date(2026, 1, 31, 12, 0, 0, 0, time.FixedZone("here", 3600)),
		time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	for i, at := range times {
		require.NoError(t, store.Append(t.Context(), "x", int64(i), "w", []debate.Event{{
			Seq: int64(i) + 1, At: at, Body: &flow.Sent{Trigger: "x"},
		}}))
	}
	for event, err := range store.Read(t.Context(), "x", 0) {
		require.NoError(t, err)
		assert.Equal(t, times[event.Seq-1], event.At)
		require.NotNil(t, body.As[flow.Sent](event))
	}
}
