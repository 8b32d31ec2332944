package file_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// journal returns one of three commits, of 2, 1 and 2 events, and where each of them ends. The first end
// is that of the header.
func journal(t testing.TB) (text []byte, ends []int) {
	t.Helper()
	d := newDrive()
	s := &file.Store{Dir: "x"}
	s.SetDisk(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w0", facts(0, 2)))
	require.NoError(t, s.Append(t.Context(), "a", 2, "w1", facts(2, 1)))
	require.NoError(t, s.Append(t.Context(), "a", 3, "w2", facts(3, 2)))
	text = d.get("a.log")
	at := 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if len(ends) == 0 || bytes.Contains(line, []byte(` {"commit":`)) {
			ends = append(ends, at)
		}
	}
	require.Len(t, ends, 4)
	return text, ends
}

// count is how many events there are after each of these commits.
var count = []int{0, 2, 3, 5}

// put makes a folder with one journal.
func put(t testing.TB, text []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), text, 0o600))
	return dir
}

// checkTear opens a journal that ends in a tear, and goes on with it.
func checkTear(t *testing.T, text []byte, end, commits int) {
	t.Helper()
	d := newDrive()
	d.put("a.log", text)
	var reports []file.Torn
	s := &file.Store{Dir: "x", Report: func(torn file.Torn) { reports = append(reports, torn) }}
	s.SetDisk(d)
	n := count[commits]
	events, err := collect(s, "a")
	if commits == 0 {
		require.ErrorIs(t, err, flow.ErrNotFound)
	} else {
		require.NoError(t, err)
	}
	require.Len(t, events, n)
	listed := 0
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, int64(n), info.Seq)
		listed++
	}
	require.Equal(t, min(commits, 1), listed)
	require.Empty(t, reports, "who reads changes nothing")
	require.True(t, bytes.Equal(text, d.get("a.log")))

	require.NoError(t, s.Append(t.Context(), "a", int64(n), "next", facts(int64(n), 2)))
	events, err = collect(s, "a")
	require.NoError(t, err)
	require.Equal(t, facts(0, n+2), events)
	require.NoError(t, s.Append(t.Context(), "a", int64(n+2), "next", facts(int64(n+2), 1)))
	if len(text) == end {
		require.Empty(t, reports)
		require.Nil(t, d.get("a.torn"))
		return
	}
	want := file.Torn{ID: "a", Offset: int64(end), Bytes: int64(len(text) - end), Kept: filepath.Join("x", "a.torn")}
	require.Equal(t, []file.Torn{want}, reports)
	note, cut, _ := bytes.Cut(d.get("a.torn"), []byte("\n"))
	require.Contains(t, string(note), fmt.Sprintf("%d bytes from byte %d on, cut off at 20", want.Bytes, end))
	require.True(t, bytes.Equal(text[end:], cut))
}

// A journal is cut off at each of its bytes.
func TestTornAnywhere(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	text, ends := journal(t)
	for at := range text {
		commits, end := 0, 0
		for i, e := range ends {
			if e <= at {
				commits, end = i, e
			}
		}
		checkTear(t, text[:at], end, commits)
	}
}

// A loss of power leaves gaps where sectors were not written.
func TestTornTails(t *testing.T) {
	text, ends := journal(t)
	d := newDrive()
	d.put("a.log", text[:ends[2]:ends[2]])
	require.NoError(t, stored(d).Append(t.Context(), "a", 3, "w", facts(3, 20)))
	last := d.get("a.log")[ends[2]:]
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	first := 512 - ends[2]%512 // where the next sector begins
	require.Greater(t, len(last), first+1024)
	for name, tail := range map[string]string{
		"zeros":                   strings.Repeat("\x00", 100_000),
		"its first sector":        zeros(first) + string(last[first:]),
		"all but that":            string(last[:first]) + zeros(len(last)-first),
		"it ended within a":       string(last[:first-30]) + zeros(30) + string(last[first:]),
		"the file is longer":      string(last[:first]) + zeros(5000),
		"all but its last sector": zeros(first+(len(last)-first)/512*512) + string(last[first+(len(last)-first)/512*512:]),
	} {
		t.Run(name, func(t *testing.T) {
			checkTear(t, append(bytes.Clone(text[:ends[2]]), tail...), ends[2], 2)
		})
	}
}

// Of what was taken back or cut off nothing comes up again after a loss of power, mixed with what was written
// in its place.
func TestTornIsGone(t *testing.T) {
	text, ends := journal(t)
	for name, begin := range map[string]func(d *drive){
		"a first commit that failed": func(d *drive) {
			failed := false
			d.trouble = func(_ int, op string) error {
				if op != "sync" || failed {
					return nil
				}
				failed = true
				return syscall.EIO
			}
			require.Error(t, stored(d).Append(t.Context(), "a", 0, "another", facts(0, 40)))
		},
		"a tear": func(d *drive) { d.put("a.log", text[:ends[1]-1]) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			d := newDrive()
			begin(d)
			d.after = func(int) {
				for range 50 {
					image := d.image(mixture(rng), func() bool { return true })
					events, err := collect(stored(image), "a")
					if err != nil {
						require.ErrorIs(t, err, flow.ErrNotFound)
						continue
					}
					require.Equal(t, turns(30), events)
				}
			}
			require.NoError(t, stored(d).Append(t.Context(), "a", 0, "w", turns(30)))
		})
	}
}

// turns returns events that are others than facts.
func turns(n int) []flow.Event {
	events := facts(0, n)
	for i := range events {
		events[i].Body = &flow.Turn{Speaker: "Ada", Text: strings.Repeat("word ", 9+i)}
	}
	return events
}

// What was cut off twice is kept twice.
func TestTornTwice(t *testing.T) {
	text, ends := journal(t)
	dir := put(t, append(text, "1"...))
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 5, "w", facts(5, 1)), "nobody has to be told")
	log := filepath.Join(dir, "a.log")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("2222222")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, s.Append(t.Context(), "a", 6, "w", facts(6, 1)))
	kept, err := os.ReadFile(filepath.Join(dir, "a.torn"))
	require.NoError(t, err)
	assert.Regexp(t, fmt.Sprintf(`^1 bytes from byte %d on, cut off at .*Z:\n17 bytes from byte \d+ on, .*Z:\n2222222$`, ends[3]), string(kept))
}

// A second try whose first one came through cuts nothing off and succeeds.
func TestTornAndAgain(t *testing.T) {
	text, _ := journal(t)
	s := open(t, put(t, append(text, "0000"...)))
	require.NoError(t, s.Append(t.Context(), "a", 3, "w2", facts(3, 2)))
	assert.ErrorIs(t, s.Append(t.Context(), "a", 3, "w1", facts(3, 2)), flow.ErrConflict)
	events, err := collect(s, "a")
	require.NoError(t, err)
	assert.Equal(t, facts(0, 5), events)
}

// While somebody reads a journal that ends in a tear, a writer cuts that off and appends. What the reader sees
// of the one and of the other is no damage.
func TestTornWhileReading(t *testing.T) {
	text, ends := journal(t)
	tear := append(bytes.Clone(text[:ends[1]]), make([]byte, len(text)-ends[1])...)
	for _, after := range []int64{0, 1, 2} {
		for change := 0; ; change++ {
			d := newDrive()
			reads := 0
			d.onRead = func() {
				if reads == change {
					copy(d.get("a.log"), text)
				}
				reads++
			}
			d.put("a.log", bytes.Clone(tear))
			n := after
			for event, err := range stored(d).Read(t.Context(), "a", after) {
				require.NoError(t, err, "changed before reading %d", change)
				n = event.Seq
			}
			require.GreaterOrEqual(t, n, int64(2))
			most := reads
			d.put("a.log", bytes.Clone(tear))
			reads = 0
			for info, err := range stored(d).List(t.Context(), store.Filter{}) {
				require.NoError(t, err)
				require.GreaterOrEqual(t, info.Seq, int64(2))
			}
			if change > max(most, reads) {
				break
			}
		}
	}
}
