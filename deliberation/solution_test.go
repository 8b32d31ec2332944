package deliberation_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// TestASynthesizerWithoutRequirements is not confident: no model may leave them out, and it may only below the mark.
func TestASynthesizerWithoutRequirements(t *testing.T) {
	for confidence, ok := range map[float64]bool{40: true, 40.5: false} {
		synctest.Test(t, func(t *testing.T) {
			engine, _ := engineFor(nil)
			engine.Functions = map[string]flow.Function{"own": deliberation.SynthesizerFunc(
				func(context.Context, deliberation.SynthesisTask) (*deliberation.Solution, error) {
					return &deliberation.Solution{Description: "Fine.", Confidence: confidence}, nil
				})}
			config := three()
			config.Synthesis, config.Synthesizer, config.Unattended = deliberation.SynthesisRegistered, "own", true
			if ok {
				_, _, made := solved(play(t, engine, config))
				assert.True(t, made)
			} else {
				r := stuck(t, engine, config)
				require.NotEmpty(t, r.Rejections)
				assert.Equal(t, []string{"requirements: is empty: it lists every requirement of the problem, fulfilled or not"}, r.Rejections[0].Problems)
			}
		})
	}
}
