package deliberation_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// TestHowLongTheJudgeMayTake: by its own time-out, else by that of the agents, else by the default; and the same for a
// registered synthesizer.
func TestHowLongTheJudgeMayTake(t *testing.T) {
	for name, test := range map[string]struct {
		turn, judge time.Duration
		want        time.Duration
	}{
		"its own":      {20 * time.Second, 5 * time.Second, 5 * time.Second},
		"the agents'":  {20 * time.Second, 0, 20 * time.Second},
		"longer":       {20 * time.Second, time.Hour, time.Hour},
		"by default":   {0, 0, deliberation.DefaultJudgeTimeout},
		"its own only": {0, 7 * time.Second, 7 * time.Second},
	} {
		for _, registered := range []bool{false, true} {
			t.Run(name, stage.Bubbled(func(t *testing.T) {
				config := three()
				config.Rounds, config.TurnTimeout, config.JudgeTimeout = 1, test.turn, test.judge
				config.Retry = &flow.RetryPolicy{Base: 1, Max: map[flow.Kind]int{provider.KindTimeout: 0}}
				engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
					return scripted.Reply{Delay: 24 * time.Hour}, call == "synthesis"
				})
				kept := &store.Memory{}
				engine.Store = kept
				if registered {
					config.Synthesis, config.Synthesizer, config.Judge = deliberation.SynthesisRegistered, "slow", deliberation.Judge{}
					engine.Functions = map[string]flow.Function{"slow": deliberation.SynthesizerFunc(
						func(ctx context.Context, _ deliberation.SynthesisTask) (*deliberation.Solution, error) {
							<-ctx.Done()
							return nil, ctx.Err()
						})}
				}
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				_, err = session.Wait(t.Context())
				require.Error(t, err, "it waits for a person, or has failed")
				require.NoError(t, session.Close())
				var took time.Duration
				for e, err := range kept.Read(t.Context(), session.ID(), 0) {
					require.NoError(t, err)
					if failure := body.As[flow.Failure](e); failure != nil && failure.Call == "synthesis" && took == 0 {
						took = failure.Took
						assert.Equal(t, provider.KindTimeout, failure.Error.Kind)
					}
				}
				assert.Equal(t, test.want, took)
			}))
		}
	}
}

// TestATimeoutOfNobody is refused.
func TestATimeoutOfNobody(t *testing.T) {
	config := three()
	config.Synthesis, config.Judge, config.JudgeTimeout = deliberation.SynthesisVoting, deliberation.Judge{}, time.Second
	engine, _ := engineFor(nil)
	require.ErrorContains(t, engine.Validate(t.Context(), config), "judgeTimeout: is set, but there is neither")
	config.JudgeTimeout = -1
	require.ErrorContains(t, engine.Validate(t.Context(), config), "judgeTimeout: is negative")
	config.JudgeTimeout = 0
	require.NoError(t, engine.Validate(t.Context(), config))
}
