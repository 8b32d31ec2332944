package temporal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// A workflow ends with the record that a session makes of the same debate.
func TestADebateFromStartToEnd(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   nil,
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"free form":    func(c *debate.Config) { c.Format = format.FreeForm },
		"no judge":     func(c *debate.Config) { c.Judging = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, change)
			s.run(nil)
			status := s.result()
			assert.Equal(t, flow.StateCompleted, status.State)
			assert.True(t, status.Over)
			record := s.record()
			assert.Equal(t, record.Seq, status.Seq)
			assert.Equal(t, s.undisturbed(), stage.Canonical(t, record))
			require.Zero(t, record.InFlight())
		})
	}
}
