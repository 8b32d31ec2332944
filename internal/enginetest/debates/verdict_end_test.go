package debates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// slips lets answers of judges to the calls with one of these names be no answers, as long as it says so.
func slips(p *scripted.Provider, on func() bool, calls ...string) {
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		for _, call := range calls {
			if req.Schema != nil && strings.Contains(req.ID, call) && on() {
				r.Text = "here: " + r.Text
			}
		}
	})
}

// A rule neither ends nor drops away the only verdict: if that fails, the debate is in the error state. Retry gives the verdict after all,
// and Stop ends without one.
func TestAVerdictThatFailsIsAnError(t *testing.T) {
	end := debate.FailureRule{Do: flow.OptionEnd}
	for name, tc := range map[string]struct {
		rules   []debate.FailureRule
		calls   []string // of the judge, which fail
		turns   int
		decided string // who has ended the rounds early
	}{
		"by a rule":                           {rules: []debate.FailureRule{end}, calls: []string{"/verdict"}, turns: 6},
		"by a rule, after an assessment":      {rules: []debate.FailureRule{end}, calls: []string{"judge"}, turns: 2, decided: flow.EndedByRule},
		"by a rule to drop":                   {rules: []debate.FailureRule{{Do: flow.OptionDrop}}, calls: []string{"/verdict"}, turns: 6},
		"by a rule, after the third of three": {rules: []debate.FailureRule{end}, calls: []string{"/r3.assessment", "/verdict"}, turns: 6, decided: flow.EndedByRule},
	} {
		for _, then := range []string{"retry", "stop"} {
			t.Run(name+", then "+then, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Rounds, config.OnFailure, config.Unattended = 3, tc.rules, true
				engine, p := stage.Engine(config)
				mended := false
				slips(p, func() bool { return !mended }, tc.calls...)
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				assert.Equal(t, "verdict.judge", stage.RequireKind(t, err, provider.KindInvalidResponse).Op)
				assert.Equal(t, flow.StateError, record.State)
				assert.Len(t, record.Turns, tc.turns)
				assert.Equal(t, tc.decided, record.EndedEarlyBy)

				mended = true
				if then == "retry" {
					require.NoError(t, session.Retry(t.Context()))
				} else {
					require.NoError(t, session.Stop(t.Context()))
				}
				record = stage.Ended(t, session)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Len(t, record.Turns, tc.turns)
				if then == "retry" {
					assert.NotNil(t, stage.View(record).Verdict)
					assert.Equal(t, tc.decided, record.EndedEarlyBy)
					assert.NotContains(t, stage.View(record).Outcome().Degraded, "there is no verdict")
				} else {
					assert.Nil(t, stage.View(record).Verdict)
					assert.Equal(t, flow.EndedByHost, record.EndedEarlyBy)
					assert.Contains(t, stage.View(record).Outcome().Degraded, "there is no verdict")
				}
			}))
		}
	}
}

// Where a verdict of a panel has failed, the end that a rule says is the end of its judge: the others judge without it.
func TestARuleToEndDropsAJudgeWhoseVerdictFails(t *testing.T) {
	config, engine, p := panelOfThree(1)
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionEnd}}
	stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "verdict.J1"))
	record := stage.Run(t, engine, config)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Equal(t, flow.EndedByRule, record.DroppedBy("J1"))
	assert.Empty(t, record.EndedEarlyBy)
	assert.Len(t, stage.View(record).Verdicts, 2)
	require.Len(t, record.Answers, 1)
	assert.Equal(t, flow.OptionDrop, record.Answers[0].Option)
}

// A person may drop judges of a panel, the last one too. The one that is left judges alone.
func TestJudgesAreDroppedUntilOneIsLeft(t *testing.T) {
	for _, call := range []string{"verdict", "r1.assessment"} {
		t.Run(call, func(t *testing.T) {
			config, engine, p := panelOfThree(2)
			config.Unattended = false
			stage.Befall(p, provider.KindQuota, stage.Requested("judge", call))
			session := stage.Started(t, engine, config)
			for _, name := range []string{"J1", "J2"} {
				record, err := session.Wait(t.Context())
				q := stage.Question(t, record, err)
				assert.Equal(t, call != "verdict", slices.Contains(q.Options, flow.OptionEnd), "dropping says the same")
				assert.Contains(t, q.Options, flow.OptionDrop)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop, By: name}))
			}
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			assert.Equal(t, []string{"J1", "J2"}, record.Dropped())
			assert.Contains(t, q.Options, flow.OptionDrop)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionModel, Model: "test/spare"}))
			record = stage.Ended(t, session)
			require.Len(t, stage.View(record).Verdicts, 1)
			assert.Equal(t, "test/spare", stage.View(record).Verdicts[0].Model)
		})
	}
}

// panelOfThree is a debate with three judges of one model.
func panelOfThree(rounds int) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.TwoDebaters()
	config.Rounds = rounds
	config.Judging.Judges = nil
	for _, name := range []string{"J1", "J2", "J3"} {
		config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Name: name, Model: "test/judge"})
	}
	engine, p := stage.Engine(config)
	return config, engine, p
}
