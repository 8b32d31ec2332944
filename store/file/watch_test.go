package file_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store/file"
)

// woken takes a value, if there is one.
func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		store, other := stored(d), stored(d)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := store.Watch(ctx, "a"), store.Watch(t.Context(), "a")
		elsewhere := store.Watch(t.Context(), "b")

		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		assert.True(t, woken(first) && woken(second), "one's own are told at once")
		<-time.After(10 * file.PollEvery)
		assert.False(t, woken(first) || woken(second), "and once")

		require.NoError(t, other.Append(t.Context(), "a", 1, "w", facts(1, 1)))
		require.NoError(t, other.Append(t.Context(), "a", 2, "w", facts(2, 1)))
		<-time.After(file.PollEvery + time.Millisecond)
		assert.True(t, woken(first) && woken(second))
		assert.False(t, woken(first), "values merge")
		assert.False(t, woken(elsewhere))

		cancel()
		synctest.Wait()
		require.NoError(t, store.Append(t.Context(), "a", 3, "w", facts(3, 1)))
		assert.False(t, woken(first), "it has ended")
		assert.True(t, woken(second))
		require.NoError(t, store.Delete(t.Context(), "a"))
		<-time.After(2 * file.PollEvery)
		woken(second)
		require.NoError(t, other.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		<-time.After(2 * file.PollEvery)
		assert.True(t, woken(second), "it was begun again")

		require.NoError(t, store.Close())
		assert.True(t, woken(second), "whoever watches reads, and gets the error")
		require.NoError(t, other.Append(t.Context(), "a", 1, "w", facts(1, 1)))
		<-time.After(2 * file.PollEvery)
		assert.False(t, woken(second))
	}) // and there is no goroutine left
}

// While nobody watches nothing polls.
func TestNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := stored(newDrive())
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			for range 5 {
				store.Watch(ctx, "a")
				store.Watch(ctx, "b")
			}
			<-time.After(3 * file.PollEvery)
			cancel()
			synctest.Wait()
		}
		assert.False(t, woken(store.Watch(t.Context(), "../a")))
	}) // though the store was not closed
}

// What another process is appending wakes a watcher when it may be read, and not only when the file has grown.
func TestWatchDuringAnAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		store := stored(d)
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		slow, written, goOn := &file.Store{Dir: "x"}, make(chan struct{}), make(chan struct{})
		slow.SetDisk(watched{d, func(op string) {
			if op == "sync" {
				written <- struct{}{}
				<-goOn
			}
		}})
		defer func() { require.NoError(t, slow.Close()) }()
		wake := store.Watch(t.Context(), "a")

		done := make(chan error)
		go func() { done <- slow.Append(t.Context(), "a", 1, "v", facts(1, 1)) }()
		<-written
		goOn <- struct{}{} // of what another handle has written before
		<-written
		<-time.After(2 * file.PollEvery)
		woken(wake)
		events, err := collect(store, "a")
		require.NoError(t, err)
		require.Len(t, events, 1, "the second is not on the disk yet")
		<-time.After(time.Minute)
		assert.False(t, woken(wake), "a process that is stopped wakes nobody")

		goOn <- struct{}{}
		require.NoError(t, <-done)
		<-time.After(file.PollEvery + time.Millisecond)
		assert.True(t, woken(wake))
		<-time.After(time.Minute)
		assert.False(t, woken(wake))
	})
}
