package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// ruling is what a scripted judge finds: a winner, or nobody if it is empty, and scores.
type ruling struct {
	winner string
	scores map[string]float64
}

// scored makes a ruling for Ada, Ben and Cyd, as far as there are scores.
func scored(winner string, scores ...float64) ruling {
	out := ruling{winner, map[string]float64{}}
	for i, score := range scores {
		out.scores[[]string{"Ada", "Ben", "Cyd"}[i]] = score
	}
	return out
}

// verdict is the ruling as a judge answers. why marks its texts.
func (r ruling) verdict(why string) string {
	points := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.scores)) {
		points = append(points, map[string]any{"participant": name, "mainArguments": []string{why}})
	}
	out := map[string]any{
		"summary": "In sum: " + why, "keyPoints": points, "areasOfAgreement": []string{}, "areasOfDisagreement": []string{},
		"winner": nil, "scores": r.scores, "criteria": map[string]string{"evidence": why}, "qualityScore": 70, "insights": []string{why},
	}
	if r.winner != "" {
		out["winner"] = map[string]string{"participant": r.winner, "reasoning": "Because " + why}
	}
	return toJSON(out)
}

// court is a debate of one round before a panel whose judges rule as rules say, by the call's id
// without its verdict's prefix: "judge-2", "judge-2.swapped". Who has no rule fails for good.
type court struct {
	config debate.Config
	engine *debate.Engine
	source *scripted.Provider
	rules  map[string]ruling
}

// newCourt makes a court whose i-th judge rules as the i-th rule says, in both orders.
func newCourt(rules ...ruling) *court {
	c := &court{config: twoDebaters(), rules: map[string]ruling{}}
	c.config.Rounds = 1
	c.config.Judging = &debate.Judging{When: debate.AtEnd}
	for i, rule := range rules {
		name := fmt.Sprintf("judge-%d", i+1)
		c.config.Judging.Judges = append(c.config.Judging.Judges, debate.JudgeConfig{Name: name, Model: "test/" + name})
		c.rules[name], c.rules[name+".swapped"] = rule, rule
	}
	if len(rules) > 0 && len(rules[0].scores) == 3 {
		c.config.Participants = append(c.config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	}
	c.engine, c.source = engineFor(c.config)
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		name := callOf(req)
		switch {
		case req.Schema == nil:
			return answer(req)
		case req.Schema.Name == "verdict":
			if rule, ok := c.rules[strings.TrimPrefix(name, "verdict.")]; ok {
				return scripted.Reply{Text: rule.verdict("word of " + req.Self)}
			}
		default:
			if _, ok := c.rules[req.Self]; ok {
				return scripted.Reply{Text: strings.ReplaceAll(answer(req).Text, "Both made their case.", "word of "+req.Self)}
			}
		}
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}
	}
	return c
}

// callOf yields the id of the call that a request is for.
func callOf(req *provider.Request) string {
	_, rest, _ := strings.Cut(req.ID, "/")
	call, _, _ := strings.Cut(rest, "/")
	return call
}

// requestsTo yields the requests to those whose names have a prefix.
func (c *court) requestsTo(prefix string) []provider.Request {
	return slices.DeleteFunc(c.source.Requests(), func(req provider.Request) bool { return !strings.HasPrefix(req.Self, prefix) })
}

func forAda() ruling { return scored("Ada", 80, 60) }
func forBen() ruling { return scored("Ben", 60, 80) }
func noOne() ruling  { return scored("", 70, 70) }

func TestAPanelDecidesByItsQuorum(t *testing.T) {
	for name, test := range map[string]struct {
		failing    []string
		quorum     int
		unattended bool
		asked      bool
		winner     string
		degraded   []string
	}{
		"all judge": {winner: "Ada"},
		"one of three fails": {
			failing: []string{"judge-3"}, winner: "Ada",
			degraded: []string{"judge-3 has judged no further", "2 of 3 judges have given a verdict"},
		},
		"two of three fail, and a person goes on": {
			failing: []string{"judge-2", "judge-3"}, asked: true,
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict: fewer than the quorum of 2"},
		},
		"two of three fail, unattended": {
			failing: []string{"judge-2", "judge-3"}, unattended: true,
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict: fewer than the quorum of 2"},
		},
		"two of three fail, and one is enough": {
			failing: []string{"judge-2", "judge-3"}, quorum: 1, winner: "Ada",
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict"},
		},
		"one of three fails, and all are needed": {
			failing: []string{"judge-1"}, quorum: 3, unattended: true,
			degraded: []string{"judge-1 has judged no further", "2 of 3 judges have given a verdict: fewer than the quorum of 3"},
		},
		"all fail": {
			failing: []string{"judge-1", "judge-2", "judge-3"}, unattended: true,
			degraded: []string{"judge-1 has judged no further", "judge-2 has judged no further", "judge-3 has judged no further", "there is no verdict"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(forAda(), forAda(), forBen())
			c.rules["judge-3"] = forAda()
			for _, judge := range test.failing {
				delete(c.rules, judge)
			}
			c.config.Judging.Quorum = test.quorum
			if test.unattended {
				c.config.Unattended = &debate.Unattended{}
			}
			session, err := c.engine.Start(t.Context(), c.config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			if test.asked {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				assert.Contains(t, []string{"verdict.judge-2", "verdict.judge-3"}, record.Inquiries[0].About, "the one with whom the quorum was lost")
				assert.Contains(t, record.Inquiries[0].Options, flow.OptionWithout)
				require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionWithout))
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			outcome := view(record).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.False(t, outcome.Tie, "nobody's votes are level")
			assert.ElementsMatch(t, test.degraded, outcome.Degraded)
			assert.Equal(t, 3-len(test.failing), outcome.Verdicts)
			assert.Equal(t, 3, outcome.Judges)
			assert.Len(t, record.Answers, btoi(test.unattended)+btoi(test.asked)+max(0, len(test.failing)-2), "questions answered")
			assert.Len(t, view(record).Judges(), 3-len(test.failing))
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A judge who fails in a round is not asked again, and the rounds go on with the others' assessments.
func TestAJudgeWhoFailsInARoundJudgesNoFurther(t *testing.T) {
	c := newCourt(forAda(), forAda(), forBen())
	c.config.Judging.When, c.config.Rounds = debate.EveryRound, 2
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		if callOf(req) == "r1.assessment.judge-2" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		return answer(req)
	}
	record := run(t, c.engine, c.config)
	assert.Len(t, c.requestsTo("judge-2"), 1)
	assert.Len(t, view(record).Assessments, 4)
	assert.Len(t, view(record).Verdicts, 2)
	outcome := view(record).Outcome()
	assert.Equal(t, []string{"judge-2 has judged no further", "2 of 3 judges have given a verdict"}, outcome.Degraded)
	assert.Empty(t, outcome.Winner, "one to one")
	assert.True(t, outcome.Tie)
}

func TestJudgesVoteWithoutHearingEachOther(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda())
	c.config.Judging.When, c.config.Judging.BothOrders, c.config.Rounds = debate.EveryRound, true, 3
	record := run(t, c.engine, c.config)
	require.Len(t, view(record).Assessments, 9)
	require.Len(t, view(record).Verdicts, 6)
	assert.Contains(t, toJSON(view(record).Assessments), "word of judge-2", "the words are in the record")
	for _, req := range c.source.Requests() {
		assert.NotContains(t, toJSON(req), "word of judge", "%s: nobody reads what a judge has said", req.ID)
	}
}

func TestAPersonJudgesInAPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(forAda(), forBen(), forAda())
		c.config.Judging.Judges[2] = debate.JudgeConfig{Name: "Pat", Person: true}
		session, err := c.engine.Start(t.Context(), c.config)
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		assert.Len(t, view(record).Verdicts, 2, "the models have judged meanwhile")
		require.Len(t, record.Inquiries, 1)
		q := record.Inquiries[0]
		assert.Equal(t, "Pat", q.To)
		assert.Equal(t, debate.KindVerdict, q.Kind)
		assert.Equal(t, "verdict.Pat", q.ID)
		assert.Len(t, listed(q.Question, "Ada", "Ben"), 2)
		assert.JSONEq(t, string(c.requestsTo("judge-1")[0].Schema.JSON), string(q.Schema), "what models are sent")

		require.NoError(t, session.Answer(t.Context(), q.ID, `Ada, clearly.`), "whether it is well-formed is told like a model's")
		record, err = session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.Len(t, record.Rejections, 1)
		require.Len(t, record.Inquiries, 1)
		again := record.Inquiries[0]
		assert.Equal(t, "verdict.Pat.again", again.ID)
		assert.Contains(t, again.Question, record.Rejections[0].Problems[0])
		require.Error(t, session.Answer(t.Context(), q.ID, forAda().verdict("x")), "that question is settled")
		require.NoError(t, session.Answer(t.Context(), again.ID, forBen().verdict("Pat's reason")))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		outcome := view(record).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.Equal(t, 3, outcome.Verdicts)
		assert.Equal(t, []debate.Dissent{{Judge: "judge-1", Winner: "Ada", Reasoning: "Because word of judge-1"}}, outcome.Dissent)
	})
}

// A participant who is gone is judged no further, and no judge is asked to.
func TestWhoIsDroppedIsNotJudged(t *testing.T) {
	three := scored("Ada", 90, 80, 70)
	c := newCourt(three)
	c.config.Rounds, c.config.Unattended = 2, &debate.Unattended{}
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "Cyd" && strings.HasPrefix(callOf(req), "r2.") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		if req.Schema != nil { // as the prompt lists them
			rule := ruling{"Ada", map[string]float64{}}
			for _, name := range listed(req.Last.Text, "Ada", "Ben", "Cyd") {
				rule.scores[name] = 50
			}
			return scripted.Reply{Text: rule.verdict("x")}
		}
		return answer(req)
	}
	synctest.Test(t, func(t *testing.T) {
		record := run(t, c.engine, c.config)
		assert.Contains(t, view(record).Outcome().Degraded, "Cyd has taken no further part")
		req := c.requestsTo("judge-1")[0]
		assert.Contains(t, toJSON(req.Messages), "Cyd speaks in round 1", "what was said stays")
		assert.NotContains(t, string(req.Schema.JSON), "Cyd")
		assert.Empty(t, record.Rejections, "a judge who does as it is told is accepted")
	})
}

// A panel's record outlives its process in the middle of the votes.
func TestAPanelIsRestoredBetweenItsVotes(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda())
	c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "Pat", Person: true}
	session, err := c.engine.Start(t.Context(), c.config)
	require.NoError(t, err)
	_, err = session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())

	other := newCourt(forBen(), forBen(), forBen()) // it would judge otherwise
	restored, err := other.engine.Restore(t.Context(), data)
	require.NoError(t, err)
	defer restored.Close()
	require.NoError(t, restored.Answer(t.Context(), "verdict.Pat", forBen().verdict("x")))
	record, err := restored.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Ada", view(record).Outcome().Winner)
	assert.Empty(t, other.source.Requests(), "nobody is asked twice")
}

var errNobody = errors.New("nobody is there")

// A judge's errors without a kind are retried, and then another model is asked.
func TestAPanelsFunctionMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(forAda(), forBen(), forAda())
		c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "broken"}
		n := 0
		c.engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			n++
			return nil, errNobody
		})}
		record := run(t, c.engine, c.config)
		assert.Equal(t, 3, n, "as api_error is retried")
		assert.Equal(t, "Ada", view(record).Outcome().Winner)
		assert.Contains(t, view(record).Outcome().Degraded, "2 of 3 judges have given a verdict")
	})
}
