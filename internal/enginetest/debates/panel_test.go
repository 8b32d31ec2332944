package debates_test

import (
	"context"
	"encoding/json"
	"errors"
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

// A rule drops judges who fail as long as the quorum is left. Then a person is asked, or it is an error.
func TestAPanelDecidesByItsQuorum(t *testing.T) {
	for name, test := range map[string]struct {
		failing    []string
		quorum     int
		unattended bool
		ruled      int // how many the rule drops; a person drops the others
		winner     string
		degraded   []string
	}{
		"all judge": {unattended: true, winner: "Ada"},
		"one of three fails": {
			failing: []string{"judge-3"}, unattended: true, ruled: 1, winner: "Ada",
			degraded: []string{"judge-3 has judged no further", "2 of 3 judges have given a verdict"},
		},
		"two of three fail, and a person goes on": {
			failing: []string{"judge-2", "judge-3"}, ruled: 1,
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict: fewer than the quorum of 2"},
		},
		"two of three fail, unattended": {failing: []string{"judge-2", "judge-3"}, unattended: true, ruled: 1},
		"two of three fail, and one is enough": {
			failing: []string{"judge-2", "judge-3"}, quorum: 1, unattended: true, ruled: 2, winner: "Ada",
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict"},
		},
		"one of three fails, and all are needed": {
			failing: []string{"judge-1"}, quorum: 3,
			degraded: []string{"judge-1 has judged no further", "2 of 3 judges have given a verdict: fewer than the quorum of 3"},
		},
		"one of three fails, and all are needed, unattended": {failing: []string{"judge-1"}, quorum: 3, unattended: true},
		"all fail": {
			failing: []string{"judge-1", "judge-2", "judge-3"}, ruled: 1,
			degraded: []string{
				"judge-1 has judged no further", "judge-2 has judged no further", "judge-3 has judged no further", "there is no verdict",
			},
		},
		"all fail, unattended": {failing: []string{"judge-1", "judge-2", "judge-3"}, unattended: true, ruled: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := stage.NewCourt(stage.ForAda(), stage.ForAda(), stage.ForBen())
			c.Rules["judge-3"] = stage.ForAda()
			for _, judge := range test.failing {
				delete(c.Rules, judge)
			}
			c.Config.Judging.Quorum = test.quorum
			c.Config.Unattended, c.Config.OnFailure = test.unattended, stage.Dropping()
			session := stage.Started(t, c.Engine, c.Config)
			record, err := session.Wait(t.Context())
			if test.unattended && test.ruled < len(test.failing) {
				failure := stage.RequireKind(t, err, provider.KindRefusal)
				assert.Contains(t, test.failing, failure.Participant, "the one with whom the quorum would be lost")
				assert.NotContains(t, record.Dropped(), failure.Participant)
				assert.Equal(t, flow.StateError, record.State)
				assert.Len(t, record.Dropped(), test.ruled)
				assert.Empty(t, stage.View(record).Outcome().Winner)
				return
			}
			for range len(test.failing) - test.ruled {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				q := record.Inquiries[0]
				assert.Contains(t, test.failing, q.To)
				assert.Contains(t, q.Options, flow.OptionDrop)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop}))
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			outcome := stage.View(record).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.False(t, outcome.Tie, "nobody's votes are level")
			assert.ElementsMatch(t, test.degraded, outcome.Degraded)
			assert.Equal(t, 3-len(test.failing), outcome.Verdicts)
			assert.Equal(t, 3, outcome.Judges)
			require.Len(t, record.Answers, len(test.failing))
			for i, a := range record.Answers {
				assert.Equal(t, i < test.ruled, a.Rule, "the rule comes first")
			}
			assert.Len(t, stage.View(record).Judges(), 3-len(test.failing))
		})
	}
}

// A judge whom a rule drops in a round is not asked again, and the rounds go on with the others' assessments.
func TestAJudgeWhoIsDroppedInARoundJudgesNoFurther(t *testing.T) {
	c := stage.NewCourt(stage.ForAda(), stage.ForAda(), stage.ForBen())
	c.Config.Judging.When, c.Config.Rounds, c.Config.OnFailure = debate.EveryRound, 2, stage.Dropping()
	answer := c.Source.Reply
	c.Source.Reply = func(req *provider.Request) scripted.Reply {
		if stage.CallOf(req) == "r1.assessment.judge-2" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		return answer(req)
	}
	record := stage.Run(t, c.Engine, c.Config)
	assert.Len(t, c.RequestsTo("judge-2"), 1)
	assert.Len(t, stage.View(record).Assessments, 4)
	assert.Len(t, stage.View(record).Verdicts, 2)
	outcome := stage.View(record).Outcome()
	assert.Equal(t, []string{"judge-2 has judged no further", "2 of 3 judges have given a verdict"}, outcome.Degraded)
	assert.Empty(t, outcome.Winner, "one to one")
	assert.True(t, outcome.Tie)
}

func TestJudgesVoteWithoutHearingEachOther(t *testing.T) {
	c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
	c.Config.Judging.When, c.Config.Judging.BothOrders, c.Config.Rounds = debate.EveryRound, true, 3
	record := stage.Run(t, c.Engine, c.Config)
	require.Len(t, stage.View(record).Assessments, 9)
	require.Len(t, stage.View(record).Verdicts, 6)
	assert.Contains(t, stage.JSON(stage.View(record).Assessments), "word of judge-2", "the words are in the record")
	for _, req := range c.Source.Requests() {
		assert.NotContains(t, stage.JSON(req), "word of judge", "%s: nobody reads what a judge has said", req.ID)
	}
}

func TestAPersonJudgesInAPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
		c.Config.Judging.Judges[2] = debate.JudgeConfig{Name: "Pat", Person: true}
		session := stage.Started(t, c.Engine, c.Config)
		record := stage.AwaitsInput(t, session)
		assert.Len(t, stage.View(record).Verdicts, 2, "the models have judged meanwhile")
		require.Len(t, record.Inquiries, 1)
		q := record.Inquiries[0]
		assert.Equal(t, "Pat", q.To)
		assert.Equal(t, debate.KindVerdict, q.Kind)
		assert.Equal(t, "verdict.Pat", q.ID)
		stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: `Ada, clearly.`}), provider.KindValidation)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
		record = stage.Ended(t, session)
		outcome := stage.View(record).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.Equal(t, 3, outcome.Verdicts)
		assert.Equal(t, []debate.Dissent{{Judge: "judge-1", Winner: "Ada", Reasoning: "Because word of judge-1"}}, outcome.Dissent)
	})
}

// A participant who is gone is judged by what was said until then.
func TestWhoIsDroppedIsJudgedAllTheSame(t *testing.T) {
	three := stage.Scored("Ada", 90, 80, 70)
	c := stage.NewCourt(three)
	c.Config.Rounds, c.Config.OnFailure = 2, stage.Dropping()
	answer := c.Source.Reply
	c.Source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "Cyd" && strings.HasPrefix(stage.CallOf(req), "r2.") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		if req.Schema != nil { // as the prompt lists them
			rule := stage.Ruling{Winner: "Ada", Scores: map[string]float64{}}
			for _, name := range listed(req.Last.Text, "Ada", "Ben", "Cyd") {
				rule.Scores[name] = 50
			}
			return scripted.Reply{Text: rule.Verdict("x")}
		}
		return answer(req)
	}
	synctest.Test(t, func(t *testing.T) {
		record := stage.Run(t, c.Engine, c.Config)
		assert.Contains(t, stage.View(record).Outcome().Degraded, "Cyd has taken no further part")
		req := c.RequestsTo("judge-1")[0]
		assert.Contains(t, stage.JSON(req.Messages), "Cyd speaks in round 1", "what was said stays")
		assert.Contains(t, string(req.Schema.JSON), "Cyd", "and is judged")
		assert.Empty(t, record.Rejections, "a judge who does as it is told is accepted")
	})
}

// A panel's record outlives its process in the middle of the votes.
func TestAPanelIsRestoredBetweenItsVotes(t *testing.T) {
	c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
	c.Config.Judging.Judges[1] = debate.JudgeConfig{Name: "Pat", Person: true}
	session, err := c.Engine.Start(t.Context(), c.Config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())

	other := stage.NewCourt(stage.ForBen(), stage.ForBen(), stage.ForBen()) // it would judge otherwise
	restored, err := stage.Restore(t.Context(), other.Engine, data)
	require.NoError(t, err)
	defer restored.Close()
	require.NoError(t, restored.Answer(t.Context(), flow.Answer{Inquiry: "verdict.Pat", Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
	record := stage.Ended(t, restored)
	assert.Equal(t, "Ada", stage.View(record).Outcome().Winner)
	assert.Empty(t, other.Source.Requests(), "nobody is asked twice")
}

var errNobody = errors.New("nobody is there")

// A judge's errors without a kind are retried, and then the rule for failures decides.
func TestAPanelsFunctionMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
		c.Config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "broken"}
		c.Config.OnFailure = stage.Dropping()
		n := 0
		c.Engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			n++
			return nil, errNobody
		})}
		record := stage.Run(t, c.Engine, c.Config)
		assert.Equal(t, 1, n, "an error without a kind is final")
		assert.Equal(t, "Ada", stage.View(record).Outcome().Winner)
		assert.Contains(t, stage.View(record).Outcome().Degraded, "2 of 3 judges have given a verdict")
	})
}
