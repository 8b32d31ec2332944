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
		"all fail":             {failing: []string{"judge-1", "judge-2", "judge-3"}, ruled: 1},
		"all fail, unattended": {failing: []string{"judge-1", "judge-2", "judge-3"}, unattended: true, ruled: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(forAda(), forAda(), forBen())
			c.rules["judge-3"] = forAda()
			for _, judge := range test.failing {
				delete(c.rules, judge)
			}
			c.config.Judging.Quorum = test.quorum
			c.config.Unattended, c.config.OnFailure = test.unattended, dropping()
			session, err := c.engine.Start(t.Context(), c.config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			if test.unattended && test.ruled < len(test.failing) {
				failure := requireKind(t, err, provider.KindRefusal)
				assert.Contains(t, test.failing, failure.Participant, "the one with whom the quorum would be lost")
				assert.NotContains(t, record.Dropped(), failure.Participant)
				assert.Equal(t, flow.StateError, record.State)
				assert.Len(t, record.Dropped(), test.ruled)
				assert.Empty(t, view(record).Outcome().Winner)
				return
			}
			for range len(test.failing) - test.ruled {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				q := record.Inquiries[0]
				assert.Contains(t, test.failing, q.To)
				assert.Contains(t, q.Options, flow.OptionDrop)
				if len(view(record).Judges()) == 1 {
					requireKind(t, session.Choose(t.Context(), q.ID, flow.OptionDrop), provider.KindValidation)
					return
				}
				require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionDrop))
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
			require.Len(t, record.Answers, len(test.failing))
			for i, a := range record.Answers {
				assert.Equal(t, i < test.ruled, a.Rule, "the rule comes first")
			}
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

// A judge whom a rule drops in a round is not asked again, and the rounds go on with the others' assessments.
func TestAJudgeWhoIsDroppedInARoundJudgesNoFurther(t *testing.T) {
	c := newCourt(forAda(), forAda(), forBen())
	c.config.Judging.When, c.config.Rounds, c.config.OnFailure = debate.EveryRound, 2, dropping()
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
		requireKind(t, session.Answer(t.Context(), q.ID, `Ada, clearly.`), provider.KindValidation)
		require.NoError(t, session.Answer(t.Context(), q.ID, byPerson(debate.KindVerdict, "Ben", "Ada")))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		outcome := view(record).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.Equal(t, 3, outcome.Verdicts)
		assert.Equal(t, []debate.Dissent{{Judge: "judge-1", Winner: "Ada", Reasoning: "Because word of judge-1"}}, outcome.Dissent)
	})
}

// A participant who is gone is judged by what was said until then.
func TestWhoIsDroppedIsJudgedAllTheSame(t *testing.T) {
	three := scored("Ada", 90, 80, 70)
	c := newCourt(three)
	c.config.Rounds, c.config.OnFailure = 2, dropping()
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
		assert.Contains(t, string(req.Schema.JSON), "Cyd", "and is judged")
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
	require.NoError(t, restored.Answer(t.Context(), "verdict.Pat", byPerson(debate.KindVerdict, "Ben", "Ada")))
	record, err := restored.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Ada", view(record).Outcome().Winner)
	assert.Empty(t, other.source.Requests(), "nobody is asked twice")
}

var errNobody = errors.New("nobody is there")

// A judge's errors without a kind are retried, and then the rule for failures decides.
func TestAPanelsFunctionMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(forAda(), forBen(), forAda())
		c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "broken"}
		c.config.OnFailure = dropping()
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
