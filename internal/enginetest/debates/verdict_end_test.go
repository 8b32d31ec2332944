package debates_test

import (
	"strings"
	"testing"
	"testing/synctest"

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
	answer := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := answer(req)
		for _, call := range calls {
			if req.Schema != nil && strings.Contains(req.ID, call) && on() {
				r.Text = "here: " + r.Text
			}
		}
		return r
	}
}

// A verdict that fails leads to the error state, whoever has chosen to end, unless a person has ended the debate at an assessment of
// the same judge before. Retry gives the verdict after all, and Stop ends without one.
func TestAVerdictThatFailsIsAnError(t *testing.T) {
	end := debate.FailureRule{Do: flow.OptionEnd}
	for name, tc := range map[string]struct {
		rules   []debate.FailureRule // nil: a person is asked, and chooses the end
		calls   []string             // of the judge, which fail
		turns   int
		decided string // who has ended the rounds early
	}{
		"by a rule":                           {rules: []debate.FailureRule{end}, calls: []string{"/verdict"}, turns: 6},
		"by a rule, after an assessment":      {rules: []debate.FailureRule{end}, calls: []string{"judge"}, turns: 2, decided: flow.EndedByRule},
		"by a rule to drop":                   {rules: []debate.FailureRule{{Do: flow.OptionDrop}}, calls: []string{"/verdict"}, turns: 6},
		"by a person":                         {calls: []string{"/verdict"}, turns: 6},
		"by a rule, after the third of three": {rules: []debate.FailureRule{end}, calls: []string{"/r3.assessment", "/verdict"}, turns: 6, decided: flow.EndedByRule},
	} {
		for _, then := range []string{"retry", "stop"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := stage.TwoDebaters()
					config.Rounds, config.OnFailure, config.Unattended = 3, tc.rules, tc.rules != nil
					engine, p := stage.Engine(config)
					mended := false
					slips(p, func() bool { return !mended }, tc.calls...)
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					record, err := session.Wait(t.Context())
					for range 4 {
						if len(record.Inquiries) == 0 {
							break
						}
						require.ErrorIs(t, err, debate.ErrAwaitingInput)
						require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionEnd))
						record, err = session.Wait(t.Context())
					}
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
					record, err = session.Wait(t.Context())
					require.NoError(t, err)
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
				})
			})
		}
	}
}

// Two verdicts fail, each for a reason of its own. The first answer leads to the error state, and the second leaves it so.
func TestTwoVerdictsThatAreEndedAreAnError(t *testing.T) {
	config, engine, p := panelOfThree(1)
	config.Unattended = false
	stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool {
		return strings.Contains(req.ID, "/verdict.J1") || strings.Contains(req.ID, "/verdict.J2")
	})
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 2)
	for _, q := range record.Inquiries {
		require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionEnd))
		record, err = session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindRefusal)
		assert.Equal(t, flow.StateError, record.State)
	}
	assert.Len(t, stage.View(record).Verdicts, 1)
}

// A person may drop judges of a panel, the last one too. The one that is left judges alone.
func TestJudgesAreDroppedUntilOneIsLeft(t *testing.T) {
	for _, call := range []string{"verdict", "r1.assessment"} {
		t.Run(call, func(t *testing.T) {
			config, engine, p := panelOfThree(2)
			config.Unattended = false
			stage.Befall(p, provider.KindQuota, stage.Requested("judge", call))
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			for _, name := range []string{"J1", "J2"} {
				record, err := session.Wait(t.Context())
				q := stage.Question(t, record, err)
				assert.Contains(t, q.Options, flow.OptionDrop)
				require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionDrop, name))
			}
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			assert.Equal(t, []string{"J1", "J2"}, record.Dropped())
			assert.Contains(t, q.Options, flow.OptionDrop)
			require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionModel, "test/spare"))
			record, err = session.Wait(t.Context())
			require.NoError(t, err)
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
