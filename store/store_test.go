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

// Who asks for a conversation that is not there reads its id, whether the store describes one or lists all.
func TestInfoOfAConversationThatIsMissing(t *testing.T) {
	memory := &store.Memory{}
	for _, s := range []store.Store{memory, struct{ store.Store }{memory}} {
		_, err := store.InfoOf(t.Context(), s, "nobody")
		require.ErrorIs(t, err, flow.ErrNotFound)
		require.EqualError(t, err, `no such conversation: "nobody"`)
	}
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

// Read yields what the log has at the call, though it grows and is deleted meanwhile. What the events point to is shared.
func TestMemoryStoreReadsWhatIsThereAtTheCall(t *testing.T) {
	ctx := t.Context()
	var store store.Memory
	events := facts(0, 3)
	require.NoError(t, store.Append(ctx, "a", 0, "w", events))
	var read []debate.Event
	for event, err := range store.Read(ctx, "a", 0) {
		require.NoError(t, err)
		read = append(read, event)
		switch event.Seq {
		case 1:
			require.NoError(t, store.Append(ctx, "a", 3, "w", facts(3, 1)))
		case 2:
			require.NoError(t, store.Delete(ctx, "a"))
		}
	}
	require.Equal(t, events, read)
	assert.Same(t, body.As[flow.Dropped](events[0]), body.As[flow.Dropped](read[0]))
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

// A lease lasts to the nanosecond, by the clock of the store.
func TestMemoryStoreLeases(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1000, 0)
	store := store.Memory{Now: func() time.Time { return now }}
	require.NoError(t, store.Append(ctx, "a", 0, "w", facts(0, 1)))
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute))
	now = now.Add(time.Minute - 1)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	require.NoError(t, store.Lease(ctx, "a", "me", time.Minute), "renewed")
	now = now.Add(time.Minute - 1)
	assert.ErrorIs(t, store.Lease(ctx, "a", "you", time.Minute), debate.ErrLeased)
	assert.Equal(t, map[string]string{"a": "me"}, holders(t, &store))
	now = now.Add(1)
	assert.Equal(t, map[string]string{"a": ""}, holders(t, &store), "it has run out to the nanosecond")
	require.NoError(t, store.Lease(ctx, "a", "you", time.Minute))
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
