package debates_test

import (
	"fmt"
	"strings"
	"testing"

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
		round  int // the first in which it counts
	}{
		"the judges end it": {func(c *debate.Config) { c.Format = format.FreeForm }, wants(`"shouldContinue":true`, `"shouldContinue":false,"ending":"It is settled."`), debate.EndJudge, 1},
		"convergence": {
			func(c *debate.Config) { c.Format = "convergence-seeking" },
			wants(`"flags":{"convergenceReached":false`, `"ending":"It is settled.","flags":{"convergenceReached":true`), flow.EndConverged, 2,
		},
		"diminishing returns": {
			func(c *debate.Config) { c.Format = "convergence-seeking" },
			wants(`"flags":{"convergenceReached":false,"diminishingReturns":false`,
				`"ending":"It is settled.","flags":{"convergenceReached":false,"diminishingReturns":true`), debate.EndDiminishing, 3,
		},
		"drift": {func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectDrift} }, wants(`"drifting":false`, `"drifting":true`), debate.EndDrift, 1},
	} {
		for _, slipped := range []string{"J1 J2", "J1", ""} {
			t.Run(name+"/"+slipped, stage.Bubbled(func(t *testing.T) {
				config, engine, p := panelOfThree(4)
				tc.change(&config)
				reply := p.Reply
				p.Reply = replacing(func(req *provider.Request) scripted.Reply {
					r := reply(req)
					if req.Schema == nil { // what is said twice is noticed by a detector
						r = play{}.reply(req, nil)
					}
					return r
				}, tc.round, slipped, tc.says)
				record := stage.Run(t, engine, config)
				if slipped == "J1 J2" {
					assert.Len(t, record.SkippedCalls, 2)
					assert.Greater(t, record.Round, tc.round, record.Evidence)
					return
				}
				assert.Equal(t, tc.reason, record.Reason)
				assert.Equal(t, tc.round, record.Round)
				assert.Contains(t, strings.ToLower(record.Evidence), "of 3 judges")
			}))
		}
	}
}

// replacing lets these judges slip in one round, while all others answer otherwise in it.
func replacing(answer func(*provider.Request) scripted.Reply, round int, slipped string, says func(string) string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := answer(req)
		_, name, in := strings.Cut(req.ID, fmt.Sprintf("/r%d.assessment.", round))
		switch name, _, _ = strings.Cut(name, "/"); {
		case !in:
		case strings.Contains(slipped, name):
			r.Text = "here: " + r.Text
		default:
			r.Text = says(r.Text)
		}
		return r
	}
}
