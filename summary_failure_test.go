package debate_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestAFailedSummaryFallsBackToSliding(t *testing.T) {
	for name, reply := range map[string]scripted.Reply{
		"refused":  {Text: "No.", Stop: provider.StopRefusal},
		"filtered": {Text: "I", Stop: provider.StopFilter},
		"blank":    {Text: " \n"},
		"key":      {Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}},
		"quota":    {Err: &provider.Error{Kind: provider.KindQuota, Status: 429}},
		"overflow": {Err: errFull},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTalk(14, 6000).summarizes(true)
				d.config.Unattended = nil
				d.summary = func(*provider.Request) scripted.Reply { return reply }
				record := run(t, d.engine, d.config)
				assert.Len(t, record.Turns, 28)
				assert.NotNil(t, view(record).Verdict)
				assert.Empty(t, record.Summaries)
				assert.Empty(t, record.Answers, "nobody is asked")
				last := d.turnsOf()[27]
				assert.Equal(t, oldest, heard(&last)[0])
				assert.Less(t, len(last.Messages), 27)
				assert.Contains(t, kindsOf(record), "context Ben")
				assert.NotEmpty(t, d.summaries())
			})
		})
	}
}

func TestASummaryIsTriedAgainLikeAnyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTalk(10, 6000).summarizes(true)
		d.summary = func(req *provider.Request) scripted.Reply {
			if strings.HasSuffix(req.ID, "/1") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "cut off"}}
			}
			return scripted.Reply{Text: minutes(50)}
		}
		record := run(t, d.engine, d.config)
		require.NotEmpty(t, record.Summaries)
		assert.Equal(t, 2, record.Summaries[0].Attempt)
		assert.NotContains(t, kindsOf(record), "context Ada", "nothing was left out in the meantime")
	})
}

// A summary that the budget has no room for is not what ends a debate: whoever needs one slides. What is
// kept back for the verdict is enough for it.
func TestASummaryThatTheBudgetDoesNotAllow(t *testing.T) {
	dear := debate.Model{Priced: true, Input: debate.USD, Output: debate.USD}
	for name, test := range map[string]struct {
		budget          debate.Budget
		debaters, judge int // windows
	}{
		"hard":          {debate.Budget{Hard: 10 * debate.USD}, 6000, 0},
		"soft and hard": {debate.Budget{Soft: 9 * debate.USD, Hard: 10 * debate.USD}, 6000, 0},
		"verdict":       {debate.Budget{Soft: 9 * debate.USD, Hard: 10 * debate.USD}, 0, 6000},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTalk(12, test.debaters).summarizes(true)
			d.windows(test.debaters, test.judge)
			d.engine.Models["test/summarizer"] = dear
			d.config.Budget = &test.budget
			session, err := d.engine.Start(t.Context(), d.config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.NotNil(t, view(record).Verdict)
			assert.Len(t, record.Turns, 24)
			assert.Empty(t, d.summaries())
		})
	}
}
