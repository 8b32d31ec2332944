package file_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// facts returns n events behind another.
func facts(after int64, n int) []flow.Event {
	events := make([]flow.Event, n)
	for i := range events {
		events[i] = flow.Event{
			Seq: after + int64(i) + 1, At: time.Unix(after+int64(i), 0).UTC(),
			Body: &flow.Answer{Inquiry: "q", Text: "an answer <of> some words"},
		}
	}
	return events
}

// collect reads a log.
func collect(s store.Store, id string) ([]flow.Event, error) {
	var events []flow.Event
	for event, err := range s.Read(context.Background(), id, 0) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

func open(t testing.TB, dir string) *file.Store {
	t.Helper()
	s, err := file.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "x", 0, "w", facts(0, 1)))
	require.NoError(t, s.Lease(t.Context(), "x", "me", time.Hour))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(dir)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), "a log holds the conversation's secret")
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), entry.Name())
		}
	}

	_, err := file.Open("")
	invalid, ok := errors.AsType[*flow.Error](err)
	require.True(t, ok)
	assert.Equal(t, provider.KindValidation, invalid.Kind)
	assert.Error(t, (&file.Store{}).Append(t.Context(), "x", 0, "w", facts(0, 1)))
	_, err = file.Open(filepath.Join(dir, "x.log", "below a file"))
	assert.Error(t, err)
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	s, err := file.Open(dir)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, s.Append(ctx, "a", 0, "w", facts(0, 2)))
	require.NoError(t, s.Lease(ctx, "a", "me", time.Hour))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())

	assert.ErrorIs(t, s.Append(ctx, "a", 2, "w", facts(2, 1)), fs.ErrClosed)
	assert.ErrorIs(t, s.Lease(ctx, "a", "me", time.Hour), fs.ErrClosed)
	assert.ErrorIs(t, s.Release(ctx, "a", "me"), fs.ErrClosed)
	assert.ErrorIs(t, s.Delete(ctx, "a"), fs.ErrClosed)
	assert.Len(t, s.Watch(ctx, "a"), 1, "whoever watches reads, and gets the error")
	other := open(t, dir)
	require.NoError(t, other.Lease(ctx, "a", "you", time.Hour), "the lease is given up")
	require.NoError(t, other.Append(ctx, "a", 2, "w", facts(2, 1)))
	assert.NoError(t, new(file.Store).Close(), "it was never opened")
}

// A debate leaves one file when nobody works on it any more, and none when it is deleted.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	names := func() []string {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	s, err := file.Open(dir)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, s.Lease(ctx, "Ab", "me", time.Hour))
	require.NoError(t, s.Append(ctx, "Ab", 0, "w", facts(0, 2)))
	require.NoError(t, s.Release(ctx, "Ab", "you"))
	got := names()
	require.Len(t, got, 4)
	assert.Subset(t, got, []string{"ab+01.lease", "ab+01.lock", "ab+01.log"})
	require.NoError(t, s.Release(ctx, "Ab", "me"))
	require.NoError(t, s.Release(ctx, "none", "me"))
	require.NoError(t, s.Close())
	assert.Equal(t, []string{"ab+01.log"}, names())

	s = open(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ab+01.torn"), []byte("x"), 0o600))
	require.NoError(t, s.Lease(ctx, "Ab", "me", time.Hour))
	require.NoError(t, s.Delete(ctx, "Ab"))
	assert.Len(t, names(), 1, "the handle's own")
	require.NoError(t, s.Close())
	assert.Empty(t, names())
}

// What is not a journal of ours is nobody's business.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	for _, name := range []string{"README", ".log", "+.log", "B.log", "b+02.log", "b+1.log", "b+0100.log", "b+zz.log", "a b.log", "empty.log", "con.log"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	var ids []string
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		ids = append(ids, info.ID)
	}
	assert.Equal(t, []string{"a"}, ids)
	_, err := collect(s, "empty")
	assert.ErrorIs(t, err, flow.ErrNotFound)
	require.NoError(t, s.Append(t.Context(), "empty", 0, "w", facts(0, 1)), "a file was made, and then there was no power")
}

func TestEventsThatCannotBeStored(t *testing.T) {
	s := open(t, t.TempDir())
	gap := facts(0, 2)
	gap[1].Seq = 3
	assert.ErrorContains(t, s.Append(t.Context(), "a", 0, "w", gap), "event 3 is in the place of event 2")
	late := facts(0, 1)
	late[0].At = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	assert.ErrorContains(t, s.Append(t.Context(), "a", 0, "w", late), "event 1")
	long := string(make([]byte, 64<<10))
	assert.ErrorContains(t, s.Append(t.Context(), "a", 0, long, facts(0, 1)), "writer")
	assert.ErrorContains(t, s.Lease(t.Context(), "a", long, time.Hour), "a.lease would have")
	_, err := collect(s, "a")
	assert.ErrorIs(t, err, flow.ErrNotFound)
}
