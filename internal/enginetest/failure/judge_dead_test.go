package failure_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// TestADeadJudgeIsDecidedAboutOnce: a person who continues without the only judge, or ends the debate, is asked nothing more about it.
func TestADeadJudgeIsDecidedAboutOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		option       flow.Option // "": the debate is stopped
		when         debate.When
		turns        int
		endedEarlyBy string
		degraded     []string
	}{
		"without the judge": {
			flow.OptionDrop, debate.EveryRound, 6, "", []string{"judge has judged no further", "there is no verdict"},
		},
		"without the verdict": {flow.OptionDrop, debate.AtEnd, 6, "", []string{"judge has judged no further", "there is no verdict"}},
		"the end": {
			flow.OptionEnd, debate.EveryRound, 2, flow.EndedByPerson, []string{"there is no verdict", "missing: the verdict of judge"},
		},
		"a stop": {"", debate.EveryRound, 2, flow.EndedByHost, []string{"there is no verdict", "missing: the verdict of judge"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Unattended, config.Judging.When = false, tc.when
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Befall(p, provider.KindRefusal, stage.Requested("judge", ""))
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			assert.Equal(t, tc.when == debate.EveryRound, slices.Contains(q.Options, flow.OptionEnd), "at a verdict, dropping says the same")
			answers := 0
			if tc.option == "" {
				require.NoError(t, session.Stop(t.Context()))
			} else {
				answers = 1
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: tc.option}))
			}

			record = stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Answers, answers)
			assert.Len(t, record.Turns, tc.turns)
			assert.Equal(t, tc.endedEarlyBy, record.EndedEarlyBy)
			outcome := stage.View(record).Outcome()
			assert.Nil(t, stage.View(record).Verdict)
			assert.Empty(t, outcome.Winner)
			assert.Subset(t, outcome.Degraded, tc.degraded)
		})
	}
}

// TestNoRuleDropsTheLastJudge: only a person may do without any verdict.
func TestNoRuleDropsTheLastJudge(t *testing.T) {
	config := stage.TwoDebaters()
	config.OnFailure = stage.Dropping()
	engine, p := stage.Engine(config)
	stage.Abiding(p)
	stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "verdict"))
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindRefusal)
	assert.Equal(t, flow.StateError, record.State)
	assert.Empty(t, record.Dropped())
}
