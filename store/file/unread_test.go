package file_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// A disk that fails at any of the reads is told as it is. The journal is not damaged, and can be read afterwards.
func TestADiskThatFailsIsNoDamage(t *testing.T) {
	text, _ := journal(t)
	started := newDrive()
	require.NoError(t, stored(started).Append(t.Context(), "a", 0, "w", []flow.Event{{
		Seq: 1, At: facts(0, 1)[0].At, Body: &flow.Start{Version: flow.LogVersion, Settings: flow.Settings{Topic: "Cars"}},
	}}))
	for name, data := range map[string][]byte{"turns": text, "a start": started.get("a.log")} {
		const listing = 5
		for from := range listing + 1 {
			for fails, done := 1, false; !done; fails++ {
				d := newDrive()
				d.put("a.log", data)
				reads := 0
				d.onRead = func() {
					if reads++; reads == fails {
						d.unreadable = 0
					}
				}
				read := func() error {
					if from == listing {
						return errors.Join(slices.Collect(unread(stored(d), store.Filter{}))...)
					}
					return lastError(stored(d).Read(t.Context(), "a", int64(from)))
				}
				err := read()
				done = reads < fails
				if done {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, syscall.EIO, "%s, read %d from %d", name, fails, from)
				_, corrupt := errors.AsType[*file.CorruptError](err)
				assert.False(t, corrupt, "%s, read %d from %d: %v", name, fails, from, err)
				d.onRead, d.unreadable = nil, -1
				require.NoError(t, read())
			}
		}
	}
}

// unread yields the errors of a list, and of the conversations in it.
func unread(s store.Store, filter store.Filter) iter.Seq[error] {
	return func(yield func(error) bool) {
		for info, err := range s.List(context.Background(), filter) {
			if err := errors.Join(err, info.Err); err != nil && !yield(err) {
				return
			}
		}
	}
}

func lastError[T any](all iter.Seq2[T, error]) (last error) {
	for _, err := range all {
		last = err
	}
	return last
}
