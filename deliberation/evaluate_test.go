package deliberation_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// numbers answers the evaluation of each round with a number; the last holds for all further rounds.
func numbers(given ...float64) answers {
	return func(call string, req *provider.Request) (scripted.Reply, bool) {
		if !strings.HasSuffix(call, ".evaluate") {
			return scripted.Reply{}, false
		}
		i := min(len(given)-1, int(call[1]-'1'))
		if req.Schema.Name == "quality" {
			return scripted.Reply{Text: toJSON(deliberation.Quality{
				Requirements: []deliberation.Requirement{{Text: "short links", Major: true, Fulfilled: true}}, Quality: given[i], Reasoning: "so",
			})}, true
		}
		return scripted.Reply{Text: toJSON(deliberation.Confidence{Confidence: given[i], Reasoning: "so", Disagreements: []string{}})}, true
	}
}

func TestTermination(t *testing.T) {
	threshold := func(v float64) *float64 { return &v }
	for name, test := range map[string]struct {
		termination deliberation.Termination
		marks       []float64
		rounds      int
		reason      flow.EndReason
		evidence    string
	}{
		"fixed":            {deliberation.Termination{}, []float64{100}, 4, flow.EndRounds, "all 4 rounds"},
		"convergence":      {deliberation.Termination{Kind: "convergence"}, []float64{79, 80}, 2, flow.EndConverged, "confidence after round 2 is 80"},
		"own threshold":    {deliberation.Termination{Kind: "convergence", Threshold: threshold(0)}, []float64{0}, 1, flow.EndConverged, "the threshold is 0"},
		"never":            {deliberation.Termination{Kind: "convergence", Threshold: threshold(100)}, []float64{99.9}, 4, flow.EndRounds, "all 4 rounds"},
		"quality":          {deliberation.Termination{Kind: "quality"}, []float64{50, 70, 95}, 3, deliberation.EndQuality, "quality after round 3 is 95"},
		"quality too late": {deliberation.Termination{Kind: "quality"}, []float64{50, 70, 75, 95}, 4, flow.EndRounds, "all 4 rounds"},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Rounds, config.Termination = 4, test.termination
			engine, _ := engineFor(numbers(test.marks...))
			r := play(t, engine, config)
			assert.Equal(t, test.rounds, r.Round)
			assert.Equal(t, test.reason, r.Reason)
			assert.Contains(t, r.Evidence, test.evidence)
			asked := view(r).Evaluations()
			want := min(test.rounds, 3)
			if test.termination.Kind == "" {
				want = 0
			}
			assert.Len(t, asked, want, "none is asked in the last round")
			for _, e := range asked {
				assert.Equal(t, test.termination.Kind == "quality", e.Quality != nil)
				assert.Equal(t, test.termination.Kind == "convergence", e.Confidence != nil)
			}
			assert.Empty(t, r.Warnings)
		})
	}
}

// TestANumberIsNeverMadeUp: an answer that stays invalid means that the agents have not converged.
func TestANumberIsNeverMadeUp(t *testing.T) {
	for name, reply := range map[string]scripted.Reply{
		"prose":        {Text: "I am 95 % sure."},
		"out of range": {Text: `{"confidence":101,"reasoning":"so","disagreements":[]}`},
		"nothing":      {Text: `{"reasoning":"so","disagreements":[]}`},
		"a string":     {Text: `{"confidence":"95","reasoning":"so","disagreements":[]}`},
		"broken off":   {Text: `{"confidence":95,"reasoning":"so","disagreements":[]}`, Stop: provider.StopLength},
		"failure":      {Err: &provider.Error{Kind: provider.KindAuthentication}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := three()
			config.Termination.Kind = deliberation.TerminationConvergence
			engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
				return reply, strings.HasSuffix(call, ".evaluate")
			})
			r := play(t, engine, config)
			assert.Equal(t, 2, r.Round)
			assert.Equal(t, flow.EndRounds, r.Reason)
			require.Equal(t, []string{"no-confidence r1.evaluate"}, kinds(r))
			assert.Equal(t, "the judge has given no valid confidence after round 1: the next round begins; amend models.judge", r.Warnings[0].Evidence)
			assert.Empty(t, view(r).Evaluations())
		}))
	}
}

func TestTheSecondAnswerOfTheJudgeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Termination.Kind = deliberation.TerminationQuality
		engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
			bad := deliberation.Quality{Requirements: []deliberation.Requirement{{Text: "short links", Major: true}}, Quality: 95, Reasoning: "so"}
			if !reasked(req) && strings.HasSuffix(call, ".evaluate") {
				return scripted.Reply{Text: toJSON(bad)}, true
			}
			return numbers(90)(call, req)
		})
		r := play(t, engine, config)
		require.Len(t, r.Rejections, 1)
		assert.Contains(t, r.Rejections[0].Problems[0], "at most 40")
		assert.Equal(t, deliberation.EndQuality, r.Reason)
		assert.Empty(t, r.Warnings)
	})
}
