package failure_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A reply that ends at the cap on its tokens without a use is asked for again with a larger one, as far as the model and the
// budget allow it.
func TestAReplyThatEndsAtItsCapIsAskedForWithALargerOne(t *testing.T) {
	blank, half := scripted.Reply{Text: " "}, scripted.Reply{Text: `{"shouldContinue": true, "qual`}
	refused := scripted.Reply{Err: &provider.Error{Kind: provider.KindInvalidResponse, Status: 200, Capped: true}}
	for name, test := range map[string]struct {
		call   string
		broken scripted.Reply
		change func(*stage.Talk)
		caps   []int
	}{
		"a speaker whose thoughts take all": {"r2.closing.Ada", blank, nil, []int{400, 800}},
		"a speaker, told by the adapter":    {"r2.closing.Ada", refused, nil, []int{400, 800}},
		"a verdict, told by the adapter":    {"verdict.judge", refused, nil, []int{400, 800}},
		"an assessment":                     {"r1.assessment.judge", half, nil, []int{400, 800}},
		"a verdict":                         {"verdict.judge", half, nil, []int{400, 800}},
		"a blank verdict":                   {"verdict.judge", blank, nil, []int{400, 800}},
		"the model's limit": {"verdict.judge", half, func(d *stage.Talk) {
			row := d.Engine.Models["test/judge"]
			row.MaxOutput = 700
			d.Engine.Models["test/judge"] = row
		}, []int{400, 700}},
		"half of its window": {"verdict.judge", half, func(d *stage.Talk) {
			d.Windows(0, 4400)
			d.Config.MaxTokens, d.Config.Reserve = 1500, 1500
		}, []int{1500, 2200}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			d := stage.NewTalk(2, 0)
			d.Config.Judging.When = debate.EveryRound
			d.Said = func(*provider.Request) int { return 10 }
			if test.change != nil {
				test.change(d)
			}
			d.Thinking("/"+test.call, test.caps[1], test.broken)
			record := stage.Run(t, d.Engine, d.Config)
			assert.Equal(t, test.caps, d.Caps(test.call))
			require.NotNil(t, stage.View(record).Verdict)
			assert.Empty(t, stage.View(record).Outcome().Degraded)
			for _, req := range d.Provider.Requests() {
				if !strings.Contains(req.ID, "/"+test.call) {
					assert.Equal(t, test.caps[0], req.MaxTokens, "no other call has a larger cap: %s", req.ID)
				}
			}
		}))
	}
}

// A cap is raised as far as the budget holds it. That of a turn that was cut in its text stays as it is.
func TestACapIsNotRaisedBeyondTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stage.NewTalk(1, 0)
		d.Engine.Models["test/debater"] = debate.Model{Priced: true, Output: 1_000_000}
		d.Engine.Models["test/judge"] = debate.Model{Priced: true, Output: 1_000_000}
		d.Config.Budget = &debate.Budget{Hard: 1_700_000_000} // three replies of 400 tokens, and one of 500
		reply := d.Provider.Reply
		d.Provider.Reply = func(req *provider.Request) scripted.Reply {
			if strings.HasSuffix(req.ID, "/verdict.judge/1") {
				return scripted.Reply{Text: "{", Stop: provider.StopLength}
			}
			return reply(req)
		}
		d.Usage = func(*provider.Request, string) provider.Usage { return provider.Usage{Input: 1, Output: 400} }
		record := stage.Run(t, d.Engine, d.Config)
		assert.Equal(t, []int{400, 500}, d.Caps("verdict.judge"))
		assert.NotNil(t, stage.View(record).Verdict)
	})
	d := stage.NewTalk(2, 0)
	stage.Altered(d.Provider, func(req *provider.Request, r *scripted.Reply) {
		if strings.Contains(req.ID, "/r1.opening.Ada/") {
			r.Stop = provider.StopLength
		}
	})
	record := stage.Run(t, d.Engine, d.Config)
	assert.True(t, record.Turns[0].Cut)
	assert.Equal(t, []int{400}, d.Caps("r1.opening.Ada"))
}
