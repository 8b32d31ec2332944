package window_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// brokenSummaries are the replies of a summarizer that nothing but another one helps against.
func brokenSummaries() map[string]scripted.Reply {
	return map[string]scripted.Reply{
		"refused":  {Text: "No.", Stop: provider.StopRefusal},
		"filtered": {Text: "I", Stop: provider.StopFilter},
		"blank":    {Text: " \n"},
		"key":      {Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}},
		"quota":    {Err: &provider.Error{Kind: provider.KindQuota, Status: 429}},
	}
}

// slides checks that a debate of 14 rounds has come to its end without a summary.
func slides(t *testing.T, d *stage.Talk, record *debate.Record) {
	t.Helper()
	assert.Len(t, record.Turns, 28)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Empty(t, record.Summaries)
	last := d.TurnsOf()[27]
	assert.Equal(t, stage.Oldest, stage.Heard(&last)[0])
	assert.Less(t, len(last.Messages), 27)
	assert.Contains(t, kindsOf(record), "context Ben")
	assert.NotEmpty(t, d.Summaries())
}

// A summary that has failed for good is left out only if somebody says so: then whoever would read it slides.
func TestAFailedSummaryIsDecidedAbout(t *testing.T) {
	t.Parallel()
	for name, reply := range brokenSummaries() {
		setup := func() *stage.Talk {
			d := stage.NewTalk(14, 6000).Summarizes(true)
			d.Summary = func(*provider.Request) scripted.Reply { return reply }
			return d
		}
		alone := func(t *testing.T, d *stage.Talk, rules ...debate.FailureRule) (*debate.Record, error) {
			d.Config.Unattended, d.Config.OnFailure = true, rules
			session, err := d.Engine.Start(t.Context(), d.Config)
			require.NoError(t, err)
			defer session.Close()
			return session.Wait(t.Context())
		}
		t.Run(name+", a person goes on without", stage.Bubbled(func(t *testing.T) {
			d := setup()
			d.Config.Unattended, d.Config.OnFailure = false, nil
			session := stage.Started(t, d.Engine, d.Config)
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			assert.Equal(t, flow.KindSummary, q.Kind)
			assert.Equal(t, []flow.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}, q.Options)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionSkip}))
			record = stage.Ended(t, session)
			slides(t, d, record)
			assert.Contains(t, stage.View(record).Outcome().Degraded[0], "summarizer has missed a summary")
		}))
		t.Run(name+", a rule goes on without", stage.Bubbled(func(t *testing.T) {
			d := setup()
			record, err := alone(t, d, debate.FailureRule{Calls: []flow.CallKind{flow.KindSummary}, Do: flow.OptionSkip})
			require.NoError(t, err)
			slides(t, d, record)
		}))
		t.Run(name+", a rule names another model", stage.Bubbled(func(t *testing.T) {
			d := setup()
			d.Summary = func(req *provider.Request) scripted.Reply {
				if req.Model == "judge" {
					return scripted.Reply{Text: stage.Words(50)}
				}
				return reply
			}
			record, err := alone(t, d, debate.FailureRule{Do: flow.OptionModel, Model: "test/judge"})
			require.NoError(t, err)
			assert.NotEmpty(t, record.Summaries)
			assert.Empty(t, stage.View(record).Outcome().Degraded)
		}))
		t.Run(name+", without a rule", stage.Bubbled(func(t *testing.T) {
			d := setup()
			record, err := alone(t, d)
			require.Error(t, err)
			assert.Equal(t, flow.StateError, record.State)
			assert.Equal(t, "summarizer", record.Failure.Participant)
		}))
	}
}

// A summary that is too long for its model is nobody's to decide about: whoever would read it slides.
func TestASummaryThatIsTooLongFallsBackToSliding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stage.NewTalk(14, 6000).Summarizes(true)
		d.Config.Unattended = false
		d.Summary = func(*provider.Request) scripted.Reply { return scripted.Reply{Err: stage.ErrFull} }
		record := stage.Run(t, d.Engine, d.Config)
		slides(t, d, record)
		assert.Empty(t, record.Answers, "nobody is asked")
	})
}

// An outage of the model that summarises is waited for: the verdict rests on as much as without it.
func TestASummaryWaitsForWhatPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := stage.NewTalk(14, 0)
		d.Windows(0, 6000)
		d.Config.Unattended, d.Config.Patience, d.Config.Judging.When = true, 0, debate.EveryRound
		var began time.Time
		d.Summary = func(*provider.Request) scripted.Reply {
			if began.IsZero() {
				began = time.Now()
			}
			if time.Since(began) < 5*time.Minute {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "cut off"}}
			}
			return scripted.Reply{Text: stage.Words(60)}
		}
		record := stage.Run(t, d.Engine, d.Config)
		assert.NotEmpty(t, record.Summaries)
		assert.Empty(t, stage.View(record).Outcome().Unread)
		assert.Empty(t, record.SkippedCalls)
		assert.Contains(t, kindsOf(record), "outage summarizer")
	})
}

func TestASummaryIsTriedAgainLikeAnyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stage.NewTalk(10, 6000).Summarizes(true)
		d.Summary = func(req *provider.Request) scripted.Reply {
			if strings.HasSuffix(req.ID, "/1") {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "cut off"}}
			}
			return scripted.Reply{Text: stage.Words(50)}
		}
		record := stage.Run(t, d.Engine, d.Config)
		require.NotEmpty(t, record.Summaries)
		assert.Equal(t, 2, record.Summaries[0].Attempt)
		assert.NotContains(t, kindsOf(record), "context Ada", "nothing was left out in the meantime")
	})
}

// A summary that the budget has no room for is not what ends a debate: whoever needs one slides. What is
// kept back for the verdict is enough for it.
func TestASummaryThatTheBudgetDoesNotAllow(t *testing.T) {
	t.Parallel()
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
			d := stage.NewTalk(12, test.debaters).Summarizes(true)
			d.Windows(test.debaters, test.judge)
			d.Engine.Models["test/summarizer"] = dear
			d.Config.Budget = &test.budget
			record := stage.Run(t, d.Engine, d.Config)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.Len(t, record.Turns, 24)
			assert.Empty(t, d.Summaries())
		})
	}
}

// A summary without an end is named: it may stand for less than it covers.
func TestASummaryThatWasCutIsNamed(t *testing.T) {
	d := stage.NewTalk(10, 6000).Summarizes(true)
	d.Summary = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Round 1: Ada began", Stop: provider.StopLength}
	}
	record := stage.Run(t, d.Engine, d.Config)
	require.NotEmpty(t, record.Summaries)
	assert.Regexp(t, `^\d+ of \d+ summaries of older turns were cut off`, stage.View(record).Outcome().Degraded[0])
}
