package file_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The journals of this version are read, and written, as they are for ever.
func TestGolden(t *testing.T) {
	at := time.Date(2026, time.March, 4, 5, 6, 7, 89, time.UTC)
	commits := [][]flow.Event{
		{
			{Seq: 1, At: at, Body: &flow.Start{
				Version: 1, Flow: "notes", Config: flow.Value{JSON: []byte(`{"problem":"Are 2 < 3?"}`)},
				Settings: flow.Settings{Topic: "Are 2 < 3?", Labels: map[string]string{"tenant": "blue"}}, Seed: "secret",
			}},
			{Seq: 2, At: at, Body: &flow.Transition{To: flow.StateInitializing, On: flow.TriggerStart}},
			{Seq: 3, At: at, Body: &flow.Round{N: 1, Of: 2}},
		},
		{{Seq: 4, At: at.Add(time.Second), Body: &flow.Turn{Speaker: "Ada", Text: "Yes.\nÄ \u2028 \x00"}}},
		{
			{Seq: 5, At: at.Add(2 * time.Second), Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}},
			{Seq: 6, At: at.Add(3 * time.Second), Body: &flow.Transition{To: flow.StatePaused}},
		},
	}
	d := newDrive()
	s := stored(d)
	var events []flow.Event
	for i, commit := range commits {
		require.NoError(t, s.Append(t.Context(), "Golden", int64(len(events)), []string{"some host", "", "\xff/2"}[i], commit))
		events = append(events, commit...)
	}
	golden := filepath.Join("testdata", "v1.log")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, d.get("golden+01.log"), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(d.get("golden+01.log")))

	early, err := os.ReadFile(filepath.Join("testdata", "v1-early.log")) // its commits do not say since when the state is as it is
	require.NoError(t, err)
	for _, text := range [][]byte{early, want} {
		d = newDrive()
		d.put("golden+01.log", text)
		s = stored(d)
		read, err := collect(s, "Golden")
		require.NoError(t, err)
		assert.Equal(t, events, read)
		for info, err := range s.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			if len(text) == len(want) {
				assert.Equal(t, at.Add(3*time.Second), info.Since)
			}
			info.Since = time.Time{}
			assert.Equal(t, store.Info{
				ID: "Golden", Flow: "notes", State: flow.StatePaused, Topic: "Are 2 < 3?", Labels: map[string]string{"tenant": "blue"},
				Round: 1, Seq: 6, StartedAt: at, LastAt: at.Add(3 * time.Second),
			}, info)
		}
	}
	require.NoError(t, s.Append(t.Context(), "Golden", 4, "\xff/2", commits[2]), "the second try of its writer")
	assert.ErrorIs(t, s.Append(t.Context(), "Golden", 4, "\xfe/2", commits[2]), flow.ErrConflict)
}
