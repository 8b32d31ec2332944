package log_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// TestAnOldLogHasNoLabels: a debate that has begun without labels in its markers goes on without them, so that its requests stay as they
// were. A debate that begins now has them.
func TestAnOldLogHasNoLabels(t *testing.T) {
	t.Parallel()
	read := func(p interface{ Requests() []provider.Request }) (with, without int) {
		for _, req := range p.Requests() {
			for i := range req.Messages {
				first, _, _ := strings.Cut(req.Messages[i].Enclosed(), "\n")
				if strings.Contains(first, "|") {
					with++
				} else {
					without++
				}
			}
		}
		return with, without
	}
	var log struct {
		ID     string         `json:"id"`
		Events []debate.Event `json:"events"`
	}
	old := scenes()[slices.IndexFunc(scenes(), func(s scene) bool { return !s.whole })]
	require.NoError(t, json.Unmarshal(storedLogs(t)[old.name], &log))
	body.As[flow.Start](log.Events[0]).Views.Marks = false
	first := slices.IndexFunc(log.Events, func(e debate.Event) bool { return !e.At.Equal(log.Events[0].At) })
	synctest.Test(t, func(t *testing.T) {
		config, engine, p := old.set()
		p.Reply = repeating(log.Events, p.Reply)
		session, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, log.ID, log.Events[:first]))
		require.NoError(t, err)
		defer session.Close()
		stage.Ended(t, session)
		with, without := read(p)
		assert.Zero(t, with)
		assert.Positive(t, without)

		_, engine, p = old.set()
		stage.Run(t, engine, config)
		with, without = read(p)
		assert.Positive(t, with)
		assert.Zero(t, without)
	})
}
