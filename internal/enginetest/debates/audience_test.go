package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// ballots yields the votes of a record, as "Voter 1 for → against".
func ballots(r *debate.Record) map[string]string {
	out := map[string]string{}
	for _, b := range stage.View(r).Ballots {
		if !b.After {
			out[b.Voter] = string(b.Vote) + " → "
		}
	}
	for _, b := range stage.View(r).Ballots {
		if b.After {
			out[b.Voter] += string(b.Vote)
		}
	}
	return out
}

func TestAnAudienceVotesTwice(t *testing.T) {
	config, engine, source := stage.House("for→against", "against→against", "undecided→for")
	config.Audience.Members[1].Persona = "A bus driver from Leeds."
	record := stage.Run(t, engine, config)
	assert.Equal(t, map[string]string{"Voter 1": "for → against", "Voter 2": "against → against", "Voter 3": "undecided → for"}, ballots(record))
	for _, req := range source.Requests() {
		switch {
		case strings.Contains(req.ID, "vote.before."):
			assert.Empty(t, req.Messages, "the debate has not begun")
		case strings.Contains(req.ID, "vote.after."):
			assert.Len(t, req.Messages, 4, "all that was said")
		default:
			continue
		}
		assert.Contains(t, req.System, config.Topic)
		assert.Equal(t, req.Self == "Voter 2", strings.Contains(req.System, "A bus driver from Leeds."))
		assert.NotContains(t, stage.ReadBy(&req), "test/", "no model is named")
	}
	first, last := 0, 0
	for i, req := range source.Requests() {
		if strings.Contains(req.ID, "vote.before.") {
			first = i
		}
		if req.Schema == nil {
			last = i
			assert.Greater(t, i, 2, "all vote before anybody speaks")
		}
	}
	assert.Equal(t, 2, first)
	assert.Greater(t, last, first)
}

func TestVotesAreSeenByNobody(t *testing.T) {
	config, engine, source := stage.House("for→against", "against→for", "against→for")
	config.Judging.BothOrders = true
	config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Judge: "cato"})
	var mu sync.Mutex
	var tasks []debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		tasks = append(tasks, task)
		return json.RawMessage(stage.WellFormed(task.Kind)), nil
	})}
	record := stage.Run(t, engine, config)
	require.Len(t, stage.View(record).Ballots, 6)
	assert.NotEmpty(t, tasks)
	for _, task := range tasks {
		assert.NotRegexp(t, stage.ReasonOfAVote+"|Voter|undecided", stage.JSON(task))
	}
	for _, req := range source.Requests() {
		assert.NotContains(t, stage.JSON(req), stage.ReasonOfAVote, "%s: not to other voters either", req.ID)
		if req.Schema == nil || req.Schema.Name != "ballot" {
			assert.NotRegexp(t, "Voter|undecided|swing", stage.JSON(req), req.ID)
		}
	}
}

// The shares are in percent of those who voted twice, the gains in percentage points.
func TestSwing(t *testing.T) {
	type shares = map[debate.Vote]float64
	for name, test := range map[string]struct {
		votes               []string
		voters              int
		before, after, gain shares
		winner              debate.Side
	}{
		"a side gains": {
			[]string{"against→for", "for→for", "undecided→against", "undecided→for"},
			4,
			shares{"for": 25, "against": 25, "undecided": 50},
			shares{"for": 75, "against": 25, "undecided": 0},
			shares{"for": 50, "against": 0, "undecided": -50},
			debate.For,
		},
		"the smaller side gains more": {
			[]string{"for→for", "for→for", "undecided→against", "for→for"},
			4,
			shares{"for": 75, "against": 0, "undecided": 25},
			shares{"for": 75, "against": 25, "undecided": 0},
			shares{"for": 0, "against": 25, "undecided": -25},
			debate.Against,
		},
		"who loses less": {
			[]string{"for→undecided", "for→undecided", "against→undecided", "for→for"},
			4,
			shares{"for": 75, "against": 25, "undecided": 0},
			shares{"for": 25, "against": 0, "undecided": 75},
			shares{"for": -50, "against": -25, "undecided": 75},
			debate.Against,
		},
		"a tie of gains": {
			[]string{"undecided→for", "undecided→against"},
			2,
			shares{"for": 0, "against": 0, "undecided": 100},
			shares{"for": 50, "against": 50, "undecided": 0},
			shares{"for": 50, "against": 50, "undecided": -100},
			"",
		},
		"nobody is moved": {
			[]string{"for→for", "for→for", "against→against"},
			3,
			shares{"for": 200.0 / 3, "against": 100.0 / 3, "undecided": 0},
			shares{"for": 200.0 / 3, "against": 100.0 / 3, "undecided": 0},
			shares{"for": 0, "against": 0, "undecided": 0},
			"",
		},
		"who has voted once is left out": {
			[]string{"against→for", "for→-", "-→against", "-→-"},
			1,
			shares{"for": 0, "against": 100, "undecided": 0},
			shares{"for": 100, "against": 0, "undecided": 0},
			shares{"for": 100, "against": -100, "undecided": 0},
			debate.For,
		},
		"nobody has voted twice": {[]string{"for→-", "-→against"}, 0, shares{}, shares{}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, _ := stage.House(test.votes...)
			custom := format.Builtin()[1]
			custom.Name, custom.Decide = "moved", format.BySwing
			config.Format, config.CustomFormat = "", &custom
			record := stage.Run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			outcome := stage.View(record).Outcome()
			require.NotNil(t, outcome.Swing)
			swing := *outcome.Swing
			assert.Equal(t, stage.View(record).Swing(), swing)
			assert.Equal(t, test.voters, swing.Voters)
			assert.InDeltaMapValues(t, test.before, swing.Before, 1e-9)
			assert.InDeltaMapValues(t, test.after, swing.After, 1e-9)
			if test.gain != nil {
				assert.InDeltaMapValues(t, test.gain, swing.Gain, 1e-9)
			}
			assert.Equal(t, test.winner, swing.Winner)
			assert.Equal(t, test.winner, outcome.Side, "the format is decided by it")
			assert.Empty(t, outcome.Winner, "a side has won, not a participant")
			assert.Equal(t, test.winner == "" && test.voters > 0, outcome.Tie)
			assert.Equal(t, format.BySwing, outcome.Decision)
			assert.Contains(t, swing.String(), fmt.Sprintf("of %d voters", test.voters))
		})
	}
}

// Elsewhere the swing is told, and the judges decide.
func TestASwingBesideAVerdict(t *testing.T) {
	config, engine, _ := stage.House("for→against", "for→against")
	outcome := stage.View(stage.Run(t, engine, config)).Outcome()
	assert.Equal(t, "Ada", outcome.Winner)
	require.NotNil(t, outcome.Swing)
	assert.Equal(t, debate.Against, outcome.Swing.Winner)
}

// A vote that fails is left out by a rule, or by a person. Whoever has not voted before is not asked after.
func TestAVoteThatFailsIsLeftOut(t *testing.T) {
	for _, unattended := range []bool{true, false} {
		t.Run(fmt.Sprintf("unattended: %t", unattended), func(t *testing.T) {
			config, engine, source := stage.House("for→against", "-→for", "for→-")
			if config.Unattended = unattended; !unattended {
				config.OnFailure = nil
			}
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			for _, call := range []string{"vote.before.Voter 2", "vote.after.Voter 3"} {
				if unattended {
					break
				}
				q := stage.Question(t, record, err)
				assert.Equal(t, call, q.About[0].Call)
				assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}, q.Options)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionSkip}))
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, map[string]string{"Voter 1": "for → against", "Voter 3": "for → "}, ballots(record))
			assert.Equal(t, 1, stage.View(record).Swing().Voters)
			assert.Equal(t, []string{"Voter 2 has missed a vote (refusal)", "Voter 3 has missed a vote (refusal)"}, stage.View(record).Outcome().Degraded)
			assert.Empty(t, record.Inquiries)
			require.Len(t, record.Answers, 2)
			for _, a := range record.Answers {
				assert.Equal(t, flow.OptionSkip, a.Option)
				assert.Equal(t, unattended, a.Rule)
			}
			asked := 0
			for _, req := range source.Requests() {
				if strings.HasPrefix(stage.CallOf(&req), "vote.") {
					asked++
				}
			}
			assert.Equal(t, 5, asked)
		})
	}
}

func TestVotesThatAreNotAccepted(t *testing.T) {
	for name, bad := range map[string]string{
		"another vote":   `{"vote":"maybe","reasoning":"x"}`,
		"no reasons":     `{"vote":"for","reasoning":" "}`,
		"no vote":        `{"reasoning":"x"}`,
		"a number":       `{"vote":1,"reasoning":"x"}`,
		"capitals":       `{"vote":"FOR","reasoning":"x"}`,
		"one field more": `{"vote":"for","reasoning":"x","confidence":1}`,
		"prose":          `For.`,
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config, engine, source := stage.House("for→for", "for→for")
			config.Audience.Members[0].Fallbacks = []string{"test/spare"}
			answer := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema != nil && req.Schema.Name == "ballot" && req.Model == "voter" && strings.Contains(req.ID, "vote.before.Voter") {
					return scripted.Reply{Text: bad}
				}
				return answer(req)
			}
			record := stage.Run(t, engine, config)
			assert.Len(t, record.Rejections, 4, "each is asked once more")
			assert.Equal(t, map[string]string{"Voter 1": "for → for"}, ballots(record), "who has a fallback has voted by it")
			require.Len(t, record.SkippedCalls, 1)
			assert.Equal(t, "vote.before.Voter 2", record.SkippedCalls[0].Call)
			assert.Equal(t, provider.KindInvalidResponse, record.SkippedCalls[0].Cause)
			for _, req := range source.Requests() {
				assert.NotEqual(t, "vote.after.Voter 2", stage.CallOf(&req), "whoever has not voted before is not asked after")
			}
			for _, b := range stage.View(record).Ballots {
				if b.Voter == "Voter 1" && !b.After {
					assert.Equal(t, "test/spare", b.Model)
				}
			}
		}))
	}
}

// An audience is of models, functions and people, in any mixture.
func TestAMixedAudience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, _ := stage.House("for→against")
		config.Audience.Members = append(config.Audience.Members, debate.Member{Judge: "counter"}, debate.Member{Name: "Pat", Person: true})
		var mu sync.Mutex
		var tasks []debate.JudgeTask
		engine.Judges = map[string]debate.Judge{"counter": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			mu.Lock()
			defer mu.Unlock()
			tasks = append(tasks, task)
			if len(task.Turns) == 0 {
				return json.RawMessage(stage.Paper(debate.VoteUndecided)), nil
			}
			return json.RawMessage(stage.Paper(debate.VoteAgainst)), nil
		})}
		session := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, session)
		assert.Empty(t, record.Turns, "all vote before the debate")
		require.Len(t, record.Inquiries, 1)
		q := record.Inquiries[0]
		assert.Equal(t, debate.KindBallot, q.Kind)
		assert.Equal(t, "Pat", q.To)
		assert.Contains(t, string(q.Schema), "undecided")
		stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "I am for it."}), provider.KindValidation)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: stage.Paper(debate.VoteFor)}))
		record = stage.AwaitsInput(t, session)
		assert.Len(t, record.Turns, 4, "the debate is over")
		require.Len(t, record.Inquiries, 1)
		assert.Equal(t, "vote.after.Pat", record.Inquiries[0].ID)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "vote.after.Pat", Text: stage.Paper(debate.VoteAgainst)}))
		record = stage.Ended(t, session)
		assert.Equal(t, map[string]string{
			"Voter 1": "for → against", "audience-2": "undecided → against", "Pat": "for → against",
		}, ballots(record))
		assert.Equal(t, 3, stage.View(record).Swing().Voters)
		assert.Equal(t, debate.Against, stage.View(record).Swing().Winner)
		require.Len(t, tasks, 2)
		assert.Equal(t, debate.KindBallot, tasks[0].Kind)
		assert.Empty(t, tasks[0].Turns)
		assert.Len(t, tasks[1].Turns, 4)
		assert.Equal(t, "vote.after.audience-2", tasks[1].Call)
	})
}

// A function that fails is tried again and then left out, and not asked after the debate. A person who has given no vote is
// waited for.
func TestAFunctionOfTheAudienceMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, _ := stage.House("for→against")
		config.Audience.Members = append(config.Audience.Members, debate.Member{Judge: "broken"}, debate.Member{Name: "Pat", Person: true})
		engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return nil, errNobody
		})}
		session := stage.Started(t, engine, config)
		record, err := session.Wait(t.Context())
		for range 2 {
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
			require.Len(t, record.Inquiries, 1)
			stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: "No idea."}), provider.KindValidation)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: stage.Paper(debate.VoteUndecided)}))
			record, err = session.Wait(t.Context())
		}
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"Voter 1": "for → against", "Pat": "undecided → undecided"}, ballots(record))
		var skipped []string
		for _, s := range record.SkippedCalls {
			skipped = append(skipped, s.Call)
		}
		assert.Equal(t, []string{"vote.before.audience-2"}, skipped)
		assert.NotNil(t, stage.View(record).Verdict)
	})
}

func TestVotesOutliveTheProcess(t *testing.T) {
	config, engine, source := stage.House("for→against", "undecided→against", "for→for")
	config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Pat", Person: true}}, When: debate.AtEnd}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record := stage.AwaitsInput(t, session)
	require.Len(t, stage.View(record).Ballots, 6, "the audience votes beside the judges")
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	assert.NotEmpty(t, source.Requests())

	_, other, asked := stage.House("against→for", "against→for", "against→for")
	restored, err := stage.Restore(t.Context(), other, data)
	require.NoError(t, err)
	defer restored.Close()
	require.NoError(t, restored.Answer(t.Context(), flow.Answer{Inquiry: "verdict.Pat", Text: stage.ByPerson(debate.KindVerdict, "Ada", "Ben")}))
	after := stage.Ended(t, restored)
	assert.Empty(t, asked.Requests(), "nobody votes twice")
	assert.Equal(t, ballots(record), ballots(after))
	assert.Equal(t, stage.View(record).Swing(), stage.View(after).Swing())
}

// A debate that is cut off between the votes goes on with those that are missing.
func TestMissingVotesAreAskedAfterARestart(t *testing.T) {
	config, engine, _ := stage.House("for→against", "undecided→against")
	config.ID = "votes"
	record := stage.Run(t, engine, config)
	want := stage.Canonical(t, record)
	var all struct {
		Version int            `json:"version"`
		ID      string         `json:"id"`
		Events  []debate.Event `json:"events"`
	}
	require.NoError(t, json.Unmarshal(stage.SnapshotOf(t, engine, "votes"), &all))
	cuts := 0
	for i, event := range all.Events {
		if event.Kind() != debate.EventBallot {
			continue
		}
		cuts++
		_, other, asked := stage.House("for→against", "undecided→against")
		restored, err := stage.Restore(t.Context(), other, stage.Snapshot(t, "votes", all.Events[:i+1]))
		require.NoError(t, err)
		after := stage.Ended(t, restored)
		assert.Equal(t, want, stage.Canonical(t, after))
		for _, req := range asked.Requests() {
			assert.NotEqual(t, body.As[debate.Ballot](event).Call, stage.CallOf(&req), "that vote is known")
		}
		require.NoError(t, restored.Close())
	}
	assert.Equal(t, 4, cuts)
}
