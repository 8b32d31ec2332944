package file_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// A damaged journal is listed with what precedes the damage, as Read yields it, and with its error. No other is harmed,
// and none of this depends on the index.
func TestListOfDamaged(t *testing.T) {
	d := newDrive()
	s := stored(d)
	begin := []flow.Event{
		{Seq: 1, At: time.Unix(1, 0).UTC(), Body: &flow.Start{Settings: flow.Settings{Topic: "Cars", Labels: map[string]string{"k": "v"}}}},
		{Seq: 2, At: time.Unix(2, 0).UTC(), Body: &flow.Transition{To: flow.StateRunning}},
	}
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", begin))
	first := len(d.get("a.log"))
	require.NoError(t, s.Append(t.Context(), "a", 2, "w", []flow.Event{
		{Seq: 3, At: time.Unix(3, 0).UTC(), Body: &flow.Turn{Speaker: "Ada", Text: "trains"}},
		{Seq: 4, At: time.Unix(4, 0).UTC(), Body: &flow.Transition{To: flow.StateCompleted}},
	}))
	sound := d.get("a.log")
	known := store.Info{
		ID: "a", State: flow.StateRunning, Topic: "Cars", Labels: map[string]string{"k": "v"}, Seq: 2,
		StartedAt: time.Unix(1, 0).UTC(), LastAt: time.Unix(2, 0).UTC(), Since: time.Unix(2, 0).UTC(),
	}
	for name, c := range map[string]struct {
		at   int
		want store.Info
	}{
		"the header":      {3, store.Info{ID: "a"}},
		"the start":       {100, store.Info{ID: "a"}},
		"the last commit": {first + 30, known},
		"the last line":   {len(sound) - 5, known},
	} {
		t.Run(name, func(t *testing.T) {
			bad := bytes.Clone(sound)
			bad[c.at] ^= 1
			d := newDrive()
			d.put("a.log", bad)
			for _, id := range []string{"0", "b"} {
				require.NoError(t, stored(d).Append(t.Context(), id, 0, "w", begin))
			}
			for range 2 { // without an index, and with one
				var infos []store.Info
				for info, err := range stored(d).List(t.Context(), store.Filter{}) {
					require.NoError(t, err)
					infos = append(infos, info)
				}
				require.Len(t, infos, 3)
				assert.NoError(t, infos[0].Err)
				assert.NoError(t, infos[2].Err)
				corrupt := new(file.CorruptError)
				require.ErrorAs(t, infos[1].Err, &corrupt)
				assert.Equal(t, "a", corrupt.ID)
				infos[1].Err = nil
				assert.Equal(t, c.want, infos[1])
			}
			states := store.Filter{States: []flow.State{flow.StateCompleted}}
			if listed := told(stored(d), states); c.want.Seq > 0 {
				assert.Empty(t, listed, "what precedes the damage decides")
			} else {
				assert.Len(t, listed, 1, "nothing rules it out")
			}
			assert.Len(t, told(stored(d), store.Filter{Text: "trains"}), 1, "the rest may hold the text")
			assert.Empty(t, told(stored(d), store.Filter{Text: "trains", Labels: map[string]string{"k": "w"}}))
		})
	}
}

// A journal that cannot be opened, or is no file at all, ends no list.
func TestListOfWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "b", 0, "w", facts(0, 1)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a.log"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "b.lease"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "index"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "c.log"), filepath.Join(dir, "c.log")))
	var ids []string
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		require.Error(t, info.Err)
		ids = append(ids, info.ID)
	}
	assert.Equal(t, []string{"a", "b", "c"}, ids)
	require.NoError(t, s.Append(t.Context(), "b", 1, "w", facts(1, 1)))
	require.NoError(t, s.Append(t.Context(), "d", 0, "w", facts(0, 1)))
}

// A journal that is damaged is searched for what is whole once, not by each list. A disk that fails is asked again.
func TestDamageIsInTheIndex(t *testing.T) {
	text, ends := journal(t)
	d := newDrive()
	bad := bytes.Clone(text)
	bad[ends[2]+30] ^= 1
	d.put("a.log", bad)
	var opened []string
	list := func() string {
		opened = nil
		s := &file.Store{Dir: "x"}
		s.SetDisk(opening{d, &opened})
		lines := told(s, store.Filter{})
		require.Len(t, lines, 1)
		return lines[0]
	}
	first := list()
	assert.Contains(t, first, "is damaged in line 7")
	assert.Contains(t, opened, "a.log")
	assert.Equal(t, first, list())
	assert.Equal(t, []string{"index"}, opened)

	d = newDrive()
	d.put("a.log", text)
	d.unreadable = 0
	assert.Contains(t, list(), "input/output error")
	d.unreadable = -1
	assert.NotContains(t, list(), "error")
}
