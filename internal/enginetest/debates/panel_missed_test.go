package debates_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A judge who has missed an assessment counts as wishing to continue, and as having noticed nothing: a minority of the panel
// does not end a debate because the others have slipped.
func TestAMissedAssessmentMeansGoOn(t *testing.T) {
	wants := func(from, to string) func(string) string {
		return func(answer string) string { return strings.ReplaceAll(answer, from, to) }
	}
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		says   func(answer string) string // of the judges who wish to end
		reason flow.EndReason
	}{
		"the judges end it": {func(c *debate.Config) { c.Format = format.FreeForm }, wants(`"shouldContinue":true`, `"shouldContinue":false`), debate.EndJudge},
		"convergence":       {func(c *debate.Config) { c.Format = "convergence-seeking" }, wants(`"convergenceReached":false`, `"convergenceReached":true`), flow.EndConverged},
		"diminishing returns": {
			func(c *debate.Config) { c.Format = "convergence-seeking" },
			wants(`"diminishingReturns":false`, `"diminishingReturns":true`), debate.EndDiminishing,
		},
		"drift": {func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectDrift} }, wants(`"drifting":false`, `"drifting":true`), debate.EndDrift},
	} {
		for _, slipped := range []string{"J1 J2", "J1", ""} {
			t.Run(name+"/"+slipped, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config, engine, p := panelOfThree(4)
					tc.change(&config)
					p.Reply = replacing(p.Reply, slipped, tc.says)
					record := stage.Run(t, engine, config)
					if slipped == "J1 J2" {
						assert.Len(t, record.SkippedCalls, 2)
						assert.Greater(t, record.Round, 1, record.Evidence)
						return
					}
					assert.Equal(t, tc.reason, record.Reason)
					assert.Equal(t, 1, record.Round)
					assert.Contains(t, strings.ToLower(record.Evidence), "of 3 judges")
				})
			})
		}
	}
}

// replacing lets these judges slip in the first round, while all others answer otherwise in it.
func replacing(answer func(*provider.Request) scripted.Reply, slipped string, says func(string) string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := answer(req)
		_, name, first := strings.Cut(req.ID, "/r1.assessment.")
		switch name, _, _ = strings.Cut(name, "/"); {
		case !first:
		case strings.Contains(slipped, name):
			r.Text = "here: " + r.Text
		default:
			r.Text = says(r.Text)
		}
		return r
	}
}
