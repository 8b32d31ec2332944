package file_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

func spoken(seq int64, text string) flow.Event {
	return flow.Event{Seq: seq, At: time.Unix(seq, 0).UTC(), Body: &flow.Turn{Speaker: "Ada", Text: text}}
}

// textsIn returns the texts of a log of turns, with what cannot be read.
func textsIn(s *file.Store) (out []string) {
	for e, err := range s.Read(context.Background(), "a", 0) {
		if err != nil {
			return append(out, err.Error())
		}
		if turn, ok := e.Body.(*flow.Turn); ok {
			out = append(out, turn.Text)
		} else {
			out = append(out, string(e.Kind()))
		}
	}
	return out
}

// secretLog begins a log of three commits, and returns what becomes of it when its secrets are removed.
func secretLog(t *testing.T, s *file.Store) (old, now []string, events []flow.Event) {
	t.Helper()
	long := strings.Repeat("the secret ", 200)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", []flow.Event{spoken(1, "the secret"), spoken(2, "one")}))
	require.NoError(t, s.Append(t.Context(), "a", 2, "w", []flow.Event{spoken(3, long)}))
	require.NoError(t, s.Append(t.Context(), "a", 3, "w", []flow.Event{spoken(4, "two"), spoken(5, "the secret")}))
	events = []flow.Event{
		spoken(1, strings.Repeat("what stands there now ", 300)), spoken(3, "gone"), spoken(5, "gone"),
		{Seq: 6, At: time.Unix(6, 0).UTC(), Body: &flow.Redacted{With: "gone"}},
	}
	old = []string{"the secret", "one", long, "two", "the secret"}
	now = []string{events[0].Body.(*flow.Turn).Text, "one", "gone", "two", "gone", "redacted"}
	return old, now, events
}

// TestACrashLeavesOneJournalOrTheOther ends the process, or the power, after each operation on files while texts are removed, and
// goes on with what is left.
func TestACrashLeavesOneJournalOrTheOther(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	yes, no := func() bool { return true }, func() bool { return false }
	either := func() bool { return rng.IntN(2) == 0 }
	d := newDrive()
	s := &file.Store{Dir: "x"}
	s.SetDisk(d)
	old, now, events := secretLog(t, s)
	hash := flow.HashOf([]byte("the secret file"))
	require.NoError(t, s.PutBlob(t.Context(), "a", hash, []byte("the secret file")))
	looked, changed := 0, 0
	look := func(image *drive, done bool) {
		looked++
		left := &file.Store{Dir: "x"}
		left.SetDisk(image)
		got := textsIn(left)
		is := old
		if done || len(got) > len(old) {
			is = now
			changed++
		}
		if !assert.Equal(t, is, got) {
			return
		}
		end := int64(len(got))
		require.NoError(t, left.Append(context.Background(), "a", end, "v", []flow.Event{spoken(end+1, "more")}))
		again := &file.Store{Dir: "x"}
		again.SetDisk(image.image(nothing, no)) // what was acknowledged is on the disk
		assert.Equal(t, append(slices.Clip(is), "more"), textsIn(again))
	}
	all := func(done bool) {
		for _, image := range []*drive{
			d.image(nothing, no), d.image(nothing, yes), d.image(everything, no), d.image(everything, yes),
			d.image(part(rng.Float64()), either), d.image(mixture(rng), either), d.copied(),
		} {
			look(image, done)
		}
	}
	d.after = func(int) {
		after := d.after
		d.after = nil
		all(false)
		d.after = after
	}
	require.NoError(t, s.Redact(t.Context(), "a", 5, events, []string{hash}))
	d.after = nil
	all(true)
	assert.Equal(t, now, textsIn(s))
	t.Logf("%d images, %d of them with the new journal", looked, changed)
}

// TestARedactionThatFails fails each operation on files once: the log is the one or the other, and a second try removes the texts.
func TestARedactionThatFails(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		d := newDrive()
		s := &file.Store{Dir: "x"}
		s.SetDisk(d)
		old, now, events := secretLog(t, s)
		failed := false
		from := d.steps
		d.trouble = func(step int, _ string) error {
			if step == from+at {
				failed = true
				return syscall.EIO
			}
			return nil
		}
		err := s.Redact(t.Context(), "a", 5, events, nil)
		if !failed {
			require.NoError(t, err)
			require.Greater(t, at, 4)
			return
		}
		d.trouble = nil
		got := textsIn(s)
		if len(got) == len(old) {
			assert.Equal(t, old, got, "after operation %d", at)
			require.Error(t, err)
			require.NoError(t, s.Redact(t.Context(), "a", 5, events, nil))
		} else {
			require.NoError(t, s.Redact(t.Context(), "a", 6, nil, nil))
		}
		assert.Equal(t, now, textsIn(s), "after operation %d", at)
		require.NoError(t, s.Append(t.Context(), "a", 6, "w", []flow.Event{spoken(7, "more")}))
		assert.Equal(t, append(now, "more"), textsIn(s))
	}
}

// TestNothingThatWasRemovedIsLeftInTheFolder looks for it in the index, in what was cut off the journal, and in what a process has
// left that died while it wrote an index.
func TestNothingThatWasRemovedIsLeftInTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &file.Store{Dir: dir}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	start := flow.Event{Seq: 1, At: time.Unix(1, 0).UTC(), Body: &flow.Start{Version: 1, Settings: flow.Settings{Topic: "the secret"}}}
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", []flow.Event{start}))
	require.NoError(t, s.Append(t.Context(), "b", 0, "w", []flow.Event{spoken(1, "b")}))
	for _, name := range []string{"a.log", "b.log"} { // the index describes only what has not changed for a while
		long := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), long, long))
	}
	list := func() (topics []string) {
		for info, err := range s.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			topics = append(topics, fmt.Sprint(info.ID, " ", info.Topic))
		}
		return topics
	}
	require.Equal(t, []string{"a the secret", "b "}, list())
	for _, name := range []string{"a.torn", "index-left.new"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("the secret"), 0o600))
	}
	require.Len(t, holding(t, dir, "the secret"), 4, "the journal, the index, and what is left over")

	gone := flow.Event{Seq: 1, At: start.At, Body: &flow.Start{Version: 1, Settings: flow.Settings{Topic: "gone"}}}
	fact := flow.Event{Seq: 2, At: start.At, Body: &flow.Redacted{With: "gone"}}
	require.NoError(t, s.Redact(t.Context(), "a", 1, []flow.Event{gone, fact}, nil))
	assert.Empty(t, holding(t, dir, "the secret"))
	assert.Equal(t, []string{"a gone", "b "}, list())
	assert.Empty(t, holding(t, dir, "the secret"))

	data, err := os.ReadFile(filepath.Join(dir, "a.log"))
	require.NoError(t, err)
	torn := append(slices.Clone(data), `0a0b0c0d {"seq":3,"at":"the secret`...) // of a commit that was never acknowledged
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), torn, 0o600))
	again := &file.Store{Dir: dir}
	t.Cleanup(func() { require.NoError(t, again.Close()) })
	fact.Seq = 3
	require.NoError(t, again.Redact(t.Context(), "a", 2, []flow.Event{gone, fact}, nil))
	assert.Empty(t, holding(t, dir, "the secret"))
	assert.Equal(t, []string{"start", "redacted", "redacted"}, textsIn(s))
}
