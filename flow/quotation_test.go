package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
)

// An earlier log has the same passage more than once, and up to 40 in a turn. It is read as it stands; no program has written more.
func TestAnEarlierLogHasMoreQuotations(t *testing.T) {
	engine, _, config := stage.WithFlow(wordsAgain())
	log := concluded(t, flowtest.Begin(t, engine, stage.InFlow(engine, config)), nil)
	holding := func(n int) error {
		for i := range log {
			if turn, ok := log[i].Body.(*flow.Turn); ok {
				turn.Quotations = make([]flow.Quotation, n)
			}
		}
		_, err := kernel.Of(t, engine).NewCore("again", log)
		return err
	}
	require.NoError(t, holding(40))
	require.ErrorContains(t, holding(41), "at most 40 are kept")
}
