package file_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// The file of an alarm goes with the conversation, and when the conversation is over: no list reads it for ever.
func TestAnAlarmLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for id, end := range map[string]func() error{
		"over": func() error {
			over := flow.Event{Seq: 3, At: time.Unix(3, 0), Body: &flow.Transition{From: flow.StateRunning, To: flow.StateCompleted}}
			return s.Append(t.Context(), "over", 2, "w", []flow.Event{over})
		},
		"deleted": func() error { return s.Delete(t.Context(), "deleted") },
		"removed": func() error { return s.SetAlarm(t.Context(), "removed", 2, 0) },
	} {
		require.NoError(t, s.Append(t.Context(), id, 0, "w", []flow.Event{
			{Seq: 1, At: time.Unix(1, 0), Body: &flow.Start{}},
			{Seq: 2, At: time.Unix(2, 0), Body: &flow.Transition{To: flow.StateRunning}},
		}))
		require.NoError(t, s.SetAlarm(t.Context(), id, 2, time.Hour))
		assert.FileExists(t, filepath.Join(dir, id+".alarm"))
		require.NoError(t, end())
		assert.NoFileExists(t, filepath.Join(dir, id+".alarm"))
	}
}

// An alarm that SetAlarm has acknowledged survives a power loss.
func TestAnAlarmSurvivesAPowerLoss(t *testing.T) {
	d := newDrive()
	s := stored(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", []flow.Event{
		{Seq: 1, At: time.Unix(1, 0), Body: &flow.Start{}},
		{Seq: 2, At: time.Unix(2, 0), Body: &flow.Transition{To: flow.StateAwaitingInput}},
	}))
	require.NoError(t, s.SetAlarm(t.Context(), "a", 2, time.Hour))
	after, listed := stored(d.image(nothing, func() bool { return false })), 0
	for info, err := range after.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		assert.Positive(t, int64(info.Alarm))
		listed++
	}
	assert.Equal(t, 1, listed)
}
