package file_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// told is what a list says, a line for each conversation.
func told(s store.Store, filter store.Filter) (lines []string) {
	for info, err := range s.List(context.Background(), filter) {
		info.StartedAt, info.LastAt, info.Since = info.StartedAt.UTC(), info.LastAt.UTC(), info.Since.UTC()
		lines = append(lines, fmt.Sprintf("%+v %v", info, err))
	}
	return lines
}

// indexed is a folder in which anything may happen to conversations and to the index.
type indexed struct {
	rng    *rand.Rand
	drive  *drive
	stores [2]*file.Store
	old    []byte // an index of some earlier time
	lists  int
}

func (x *indexed) mount(d *drive) {
	x.drive = d
	for i := range x.stores {
		x.stores[i] = stored(d)
		x.stores[i].Report = func(file.Torn) {}
	}
}

func (x *indexed) id() string { return string(rune('a' + x.rng.IntN(6))) }

// check compares lists with those of a folder without an index.
func (x *indexed) check(t *testing.T, s *file.Store) {
	t.Helper()
	filter := []store.Filter{
		{},
		{},
		{Newest: true},
		{Unfinished: true},
		{Working: true, Idle: true},
		{Labels: map[string]string{"k": "v"}},
		{After: "c"},
		{After: "c", Newest: true, Limit: 1},
		{Limit: 2},
		{Text: "word"},
		{States: []flow.State{flow.StatePaused}},
	}[x.rng.IntN(11)]
	want := told(stored(x.drive.without("index")), filter)
	require.Equal(t, want, told(s, filter), "%+v", filter)
	x.lists++
}

// events are some that a list tells of.
func (x *indexed) events(after int64) []flow.Event {
	events := make([]flow.Event, 1+x.rng.IntN(3))
	for i := range events {
		seq := after + int64(i) + 1
		body := []flow.Body{
			&flow.Start{
				Flow: "talk", Shape: fmt.Sprint("shape ", x.rng.IntN(3)),
				Settings: flow.Settings{Topic: fmt.Sprint("topic ", x.rng.IntN(100)), Labels: map[string]string{"k": "v"}},
			},
			&flow.Transition{
				To: []flow.State{flow.StatePaused, flow.StateRunning, flow.StateCompleted}[x.rng.IntN(3)], Spent: flow.Money(x.rng.IntN(9)),
				Result: []string{"", "Ada"}[x.rng.IntN(2)],
			},
			&flow.Round{N: x.rng.IntN(9)}, &flow.Turn{Text: strings.Repeat("word", x.rng.IntN(300))}, &flow.RetriedNow{},
		}[x.rng.IntN(5)]
		events[i] = flow.Event{Seq: seq, At: time.Unix(seq, 0).UTC(), Body: body}
	}
	return events
}

// change changes a conversation, or fails to.
func (x *indexed) change(t *testing.T) {
	t.Helper()
	s, id := x.stores[x.rng.IntN(2)], x.id()
	switch x.rng.IntN(8) {
	case 0:
		_ = s.Delete(t.Context(), id)
	case 1:
		_ = s.Lease(t.Context(), id, "me", time.Hour)
	default:
		after := int64(0)
		if events, _ := collect(s, id); len(events) > 0 { // as far as they can be read
			after = events[len(events)-1].Seq
		}
		_ = s.Append(t.Context(), id, after, "w", x.events(after))
	}
}

// happen lets one thing happen.
func (x *indexed) happen(t *testing.T) {
	t.Helper()
	d := x.drive
	switch x.rng.IntN(11) {
	case 0: // a process is killed at some moment, perhaps while it writes the index
		at, killed := d.steps+1+x.rng.IntN(12), (*drive)(nil)
		d.after = func(step int) {
			if step == at {
				killed = d.copied()
			}
		}
		x.change(t)
		_ = told(x.stores[0], store.Filter{})
		if d.after = nil; killed != nil {
			x.mount(killed)
		}
	case 1: // a list beside a change that is under way
		at, busy := d.steps+1+x.rng.IntN(8), false
		d.after = func(step int) {
			if step == at && !busy {
				busy = true
				x.check(t, stored(d))
			}
		}
		x.change(t)
		d.after = nil
	case 2: // the disk fails
		at := d.steps + x.rng.IntN(8)
		d.trouble = func(step int, _ string) error {
			if step >= at && step < at+3 {
				return []error{syscall.EIO, errShort}[x.rng.IntN(2)]
			}
			return nil
		}
		x.change(t)
		d.trouble = nil
	case 3:
		x.mount(d.image(mixture(x.rng), func() bool { return x.rng.IntN(2) == 0 }))
	case 4: // the index is damaged, or is that of another time
		text := bytes.Clone(d.get("index"))
		if x.rng.IntN(4) == 0 {
			text, x.old = x.old, text
		}
		for range x.rng.IntN(3) {
			if len(text) > 0 {
				text[x.rng.IntN(len(text))] ^= 1 << x.rng.IntN(8)
			}
		}
		if x.rng.IntN(3) == 0 {
			text = text[:x.rng.IntN(len(text)+1)]
		}
		d.put("index", text)
	case 5: // a journal is damaged
		name := x.id() + ".log"
		if f, err := d.Open(name, os.O_RDWR); err == nil && x.rng.IntN(3) == 0 {
			at := x.rng.IntN(len(d.get(name)) + 1)
			_, _ = f.WriteAt([]byte{byte(x.rng.IntN(256))}, int64(at))
			_ = f.Sync() // it is damage on the disk
		}
	case 6: // a change beside a list that is under way
		left := 1 + x.rng.IntN(20)
		d.onRead = func() {
			if left--; left == 0 {
				x.change(t)
			}
		}
		_ = told(x.stores[0], store.Filter{})
		d.onRead = nil
	default:
		x.change(t)
	}
}

// Whatever happens to a folder, a list is the same as without an index.
func TestListIsThatOfTheJournals(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	seeds := longform.Or(300, 60)
	written := 0
	for seed := range seeds {
		x := &indexed{rng: rand.New(rand.NewPCG(uint64(seed), 1))}
		x.mount(newDrive())
		for range 60 {
			x.happen(t)
			x.check(t, x.stores[x.rng.IntN(2)])
		}
		if x.drive.get("index") != nil {
			written++
		}
	}
	assert.Greater(t, written, seeds/2, "there are indexes")
}

// A second list reads no journal. A list reads those that have changed, and no other.
func TestListReadsTheIndex(t *testing.T) {
	d := newDrive()
	s := stored(d)
	for i := range 100 {
		require.NoError(t, s.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 1)))
	}
	opened := func() (names []string) {
		s := &file.Store{Dir: "x"}
		s.SetDisk(opening{d, &names})
		require.Len(t, told(s, store.Filter{}), 100)
		return names
	}
	assert.Len(t, opened(), 103, "the index, each journal, and for a new index the old one and it")
	assert.Equal(t, []string{"index"}, opened())
	require.NoError(t, s.Append(t.Context(), "d7", 1, "w", facts(1, 1)))
	assert.Equal(t, []string{"index", "d7.log"}, opened())
	assert.Equal(t, []string{"index", "d7.log"}, opened(), "one is not worth a new index")
	for i := range 10 {
		require.NoError(t, s.Append(t.Context(), fmt.Sprint("d", 20+i), 1, "w", facts(1, 1)))
	}
	assert.Len(t, opened(), 14)
	assert.Equal(t, []string{"index"}, opened())
}

// A loop over a list may take long. The index that another list writes meanwhile is not lost.
func TestTheIndexOfALongLoop(t *testing.T) {
	d := newDrive()
	s := stored(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, s.Append(t.Context(), "b", 0, "w", facts(0, 1)))
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		if info.ID == "a" {
			for i := range 50 {
				require.NoError(t, s.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 1)))
			}
			require.NoError(t, s.Delete(t.Context(), "b"))
			require.Len(t, told(stored(d), store.Filter{}), 51)
		}
	}
	var opened []string
	other := &file.Store{Dir: "x"}
	other.SetDisk(opening{d, &opened})
	require.Len(t, told(other, store.Filter{}), 51)
	assert.Equal(t, []string{"index"}, opened)
}

// opening is a disk that notes which files are opened.
type opening struct {
	file.Disk

	names *[]string
}

func (d opening) Open(name string, mode int) (file.Handle, error) {
	*d.names = append(*d.names, name)
	return d.Disk.Open(name, mode)
}

// A journal that has changed just now may change again, and have the same size and time of modification.
func TestTheIndexLeavesOutWhatIsRecent(t *testing.T) {
	for _, age := range []time.Duration{0, time.Second, -time.Hour} {
		dir, at := t.TempDir(), time.Now().Add(-age)
		s := open(t, dir)
		for _, topic := range []string{"one", "two"} {
			require.NoError(t, s.Delete(t.Context(), "a"))
			require.NoError(t, s.Append(t.Context(), "a", 0, "w", []flow.Event{{
				Seq: 1, At: time.Unix(1, 0), Body: &flow.Start{Settings: flow.Settings{Topic: topic}},
			}}))
			require.NoError(t, os.Chtimes(filepath.Join(dir, "a.log"), at, at))
			for info, err := range s.List(t.Context(), store.Filter{}) {
				require.NoError(t, err)
				assert.Equal(t, topic, info.Topic)
			}
		}
		assert.NoFileExists(t, filepath.Join(dir, "index"))
	}
}

// What a process that was killed has left of an index is removed with the next one. A folder that cannot be written to is
// listed all the same.
func TestIndexOfAKilledProcess(t *testing.T) {
	dir, at := t.TempDir(), time.Now().Add(-time.Hour)
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a.log"), at, at))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index-x.new"), []byte("half an ind"), 0o600))
	writing, ok, err := file.Folder(dir).Lock("index-y.new")
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, told(s, store.Filter{}), 1)
	names, err := file.Folder(dir).Names()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"a.log", "a.lock", "index", "index-y.new"}, names, "another process writes that one now")
	require.NoError(t, writing.Unlock(true))

	d := newDrive()
	d.put("a.log", []byte(strings.Repeat("x", 10)))
	require.NoError(t, stored(d).Append(t.Context(), "b", 0, "w", facts(0, 1)))
	want := told(stored(d.without("index")), store.Filter{})
	d.trouble = func(int, string) error { return syscall.EROFS }
	assert.Equal(t, want, told(stored(d), store.Filter{}))
	assert.Nil(t, d.get("index"))
}
