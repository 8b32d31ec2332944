package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// verified checks that the flow decides again what the log of a conversation says.
func verified(t *testing.T, engine *debate.Engine, id string) {
	t.Helper()
	_, err := engine.Verify(t.Context(), id)
	require.NoError(t, err)
}

// A debate goes on after its verdict, twice. Those who speak read the verdict, and each verdict stands in the record.
func TestADebateGoesOnAfterItsVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Mo", Judge: "mo"}}}
	engine, p := stage.Engine(config)
	engine.Judges = map[string]debate.Judge{
		"mo": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			for _, note := range task.Notes {
				assert.Empty(t, note.Text, "those who vote are not told the verdict")
			}
			return json.RawMessage(`{"reasoning":"So it seems.","vote":"for"}`), nil
		}),
	}
	original := stage.Run(t, engine, config)
	before := stage.JSON(original)
	id := original.ID
	for i := 1; i <= 2; i++ {
		session, err := engine.Reopen(t.Context(), id, flow.Reopening{Rounds: 2, Person: "pat"})
		require.NoError(t, err)
		record := stage.Ended(t, session)
		require.NoError(t, session.Close())
		id = record.ID
		verified(t, engine, id)
		d := stage.View(record)
		assert.Equal(t, flow.StateCompleted, d.State)
		assert.Equal(t, 3+2*i, d.Round)
		assert.Len(t, d.Turns, 6+4*i)
		require.Len(t, d.Earlier, i)
		assert.Equal(t, 3+2*(i-1), d.Earlier[i-1].Round)
		require.Len(t, d.Earlier[i-1].Verdicts, 1)
		assert.NotEmpty(t, d.Earlier[i-1].Winner)
		assert.Len(t, d.Earlier[i-1].Ballots, 1)
		assert.Len(t, d.Ballots, 2, "before and after")
		require.Len(t, d.Verdicts, 1, "and another one")
		assert.Equal(t, d.Verdict, d.Verdicts[0])
		assert.Contains(t, d.Verdict.Call, "again")
		require.Len(t, d.Notes, i)
		assert.Contains(t, d.Notes[i-1].Text, d.Earlier[i-1].Winner)
		var shown struct {
			Earlier []struct {
				Winner   string            `json:"winner"`
				Verdicts []json.RawMessage `json:"verdicts"`
			} `json:"earlier"`
			Verdicts []json.RawMessage `json:"verdicts"`
		}
		require.NoError(t, json.Unmarshal([]byte(stage.JSON(d)), &shown))
		assert.Len(t, shown.Earlier, i)
		assert.Len(t, shown.Verdicts, 1)
		spoken, judged := 0, 0
		for _, req := range p.Requests() {
			switch ours := strings.HasPrefix(req.ID, id+"/"); {
			case !ours:
			case req.Schema != nil:
				judged++
				assert.NotContains(t, stage.JSON(req), "The earlier verdict", "judges judge anew")
			default:
				spoken++
				assert.Contains(t, stage.JSON(req.Messages), "The earlier verdict")
			}
		}
		assert.Equal(t, []int{4, 3}, []int{spoken, judged})
		for name, told := range map[string]bool{"Ada": true, "judge": false, "Mo": false} {
			assert.Equal(t, told, strings.Contains(stage.JSON(record.Reads(name)), "The earlier verdict"), name)
		}
	}
	assert.Equal(t, before, stage.JSON(stage.StoredRecord(t, engine, original.ID)), "the original stays as it is")
}

// What cannot go on says why.
func TestWhatIsNotReopened(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	over := stage.Run(t, engine, config)
	for field, o := range map[string]flow.Reopening{"rounds": {}, "to": {Ask: "Why?"}} {
		_, err := engine.Reopen(t.Context(), over.ID, o)
		stage.Refused(t, err, field)
	}
	_, err := engine.Reopen(t.Context(), over.ID, flow.Reopening{Ask: "Why?"})
	require.ErrorContains(t, err, "Ada or Ben", "who can be asked")
	_, err = engine.Reopen(t.Context(), over.ID, flow.Reopening{Rounds: -1})
	stage.Refused(t, err, "rounds")

	config = stage.TwoDebaters()
	config.Format, config.Rounds = format.LincolnDouglas, 0
	engine, _ = stage.Engine(config)
	over = stage.Run(t, engine, config)
	_, err = engine.Reopen(t.Context(), over.ID, flow.Reopening{Rounds: 1})
	stage.Refused(t, err, "rounds")
	require.ErrorContains(t, err, format.LincolnDouglas)
}

// One question after the verdict is answered, and nothing else is said or assessed, also if the debate was stopped in the middle of a
// round. The round keeps its phase.
func TestOneQuestionAfterAStop(t *testing.T) {
	judged := stage.TwoDebaters()
	judged.Format = format.RoundLimited
	table, chain := stage.CastFor(stage.Builtin(t, format.Roundtable)), stage.CastFor(stage.Builtin(t, format.Socratic))
	for name, tc := range map[string]struct {
		config debate.Config
		after  time.Duration
		to     string
		calls  []string
	}{
		"in a speech of the second round": {judged, 3500 * time.Millisecond, "Ben", []string{"r2.aside.2.Ben", "again1.verdict.judge"}},
		"before the chair has closed":     {table, 1500 * time.Millisecond, "Speaker-C", []string{"r1.aside.2.Speaker-C"}},
		"in a fixed number of rounds":     {chain, 1500 * time.Millisecond, "Speaker-B", []string{"r1.aside.2.Speaker-B"}},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p := stage.Engine(tc.config)
			stage.Slowly(p)
			session := stage.Started(t, engine, tc.config)
			stage.Pass(tc.after)
			_, err := session.Say(t.Context(), flow.Note{As: "Mo", Text: "Who pays for it?", Ask: tc.to})
			require.NoError(t, err)
			require.NoError(t, session.Stop(t.Context()))
			first := stage.View(stage.Ended(t, session))
			unanswered := fmt.Sprintf(`%s has not answered the question of "Mo" in round %d`, tc.to, first.Round)
			assert.Contains(t, first.Outcome().Degraded, unanswered)
			made := len(p.Requests())
			again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Ask: "And who gains?", To: tc.to})
			require.NoError(t, err)
			d := stage.View(stage.Ended(t, again))
			require.NoError(t, again.Close())
			assert.Equal(t, []any{flow.StateCompleted, first.Round}, []any{d.State, d.Round})
			assert.Equal(t, first.Phase(first.Round), d.Phase(d.Round))
			var calls []string
			for _, req := range p.Requests()[made:] {
				calls = append(calls, stage.CallOf(&req))
				if req.Schema != nil {
					assert.Contains(t, req.Last.Text, "was cut short in round 2")
				}
			}
			assert.Equal(t, tc.calls, calls)
			assert.Empty(t, d.EndedEarlyBy)
			assert.Contains(t, d.Outcome().Degraded, "before it was reopened: "+first.CutShort())
		}))
	}
	synctest.Test(t, func(t *testing.T) { // nor does a round that was cut short become whole
		engine, p := stage.Engine(judged)
		stage.Slowly(p)
		session := stage.Started(t, engine, judged)
		stage.Pass(3500 * time.Millisecond)
		require.NoError(t, session.Stop(t.Context()))
		again, err := engine.Reopen(t.Context(), stage.Ended(t, session).ID, flow.Reopening{Rounds: 2})
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, again.Stop(t.Context()))
		ended := stage.Ended(t, again)
		require.NoError(t, again.Close())
		assert.Equal(t, 3, ended.Round)
		assert.Contains(t, ended.CutShort(), "ended after 1 of 4 rounds")
	})
}

// In every format one participant is asked after the end, and once more after that: also where all speak at once, and more often than the
// format has answers out of turn.
func TestEveryFormatIsReopenedForAQuestion(t *testing.T) {
	configs := map[string]debate.Config{"who speak at once": stage.Simultaneous()}
	for _, f := range format.Builtin() {
		configs[f.Name] = stage.CastFor(f)
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			engine, p := stage.Engine(config)
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema != nil && req.Schema.Name == "ballot" {
					r.Text = `{"reasoning":"So it seems.","vote":"for"}`
				}
			})
			first := stage.Run(t, engine, config)
			id, to := first.ID, config.Participants[1].Name
			for n := range 5 {
				question := fmt.Sprintf("Who pays for it, %d?", n)
				session, err := engine.Reopen(t.Context(), id, flow.Reopening{Ask: question, To: to})
				require.NoError(t, err)
				d := stage.View(stage.Ended(t, session))
				require.NoError(t, session.Close())
				assert.Equal(t, flow.StateCompleted, d.State)
				require.Len(t, d.Turns, len(first.Turns)+n+1)
				require.Len(t, d.Earlier, n+1)
				asked := d.Earlier[n]
				assert.Equal(t, []string{question, to}, []string{asked.Question, asked.To})
				require.NotNil(t, asked.Answer)
				assert.Equal(t, d.Turns[len(d.Turns)-1].Call, asked.Answer.Call)
				id = d.ID
				verified(t, engine, id)
			}
			answers := 0
			for _, req := range p.Requests() {
				if text := req.Last.Text; strings.Contains(text, "you are asked:") {
					answers++
					assert.NotContains(t, text, "Then the debate goes on")
					assert.NotContains(t, text, "After round", "the verdict stands in the note alone")
				}
			}
			assert.Equal(t, 5, answers)
		})
	}
}

// However often a debate goes on, and however small a window is, a question is asked whole. One that has no room is refused, and so is one
// of blanks.
func TestAQuestionAfterTheVerdictIsAskedWhole(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.RoundLimited, 1
	engine, p := stage.Engine(config)
	small := engine.Models["test/debater"]
	small.Window = 16_384
	engine.Models["test/debater"] = small
	id := stage.Run(t, engine, config).ID
	for _, ask := range []string{" \n", strings.Repeat("Why? ", 600)} {
		_, err := engine.Reopen(t.Context(), id, flow.Reopening{Ask: ask, To: "Ben"})
		stage.Refused(t, err, "ask")
	}
	for n := range 5 {
		question := fmt.Sprintf("Who pays for it, %d?\n\n%sAnd when?", n, strings.Repeat("Is it so? ", 95))
		session, err := engine.Reopen(t.Context(), id, flow.Reopening{Ask: question, To: "Ben"})
		require.NoError(t, err)
		d := stage.View(stage.Ended(t, session))
		require.NoError(t, session.Close())
		require.Len(t, d.Earlier, n+1)
		assert.Equal(t, question, d.Earlier[n].Question)
		assert.True(t, strings.HasPrefix(d.Notes[n].Text, "After round 1 "), d.Notes[n].Text)
		asked := false
		for _, req := range p.Requests() {
			said := req.Last.Text
			asked = asked || strings.Contains(said, fmt.Sprintf("Who pays for it, %d?", n)) && strings.Contains(said, "And when?")
		}
		assert.True(t, asked)
		id = d.ID
	}
}

// A debate goes on a day later, although an amendment has lowered its number of rounds, and although its time is bounded.
func TestADebateGoesOnADayLater(t *testing.T) {
	for _, budget := range []flow.Budget{{HardTime: time.Hour}, {SoftTime: time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format, config.Rounds, config.Budget = format.RoundLimited, 4, &budget
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			session := stage.Started(t, engine, config)
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(2)}))
			first := stage.Ended(t, session)
			require.Equal(t, 2, first.Round)
			stage.Pass(24 * time.Hour)
			again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 2})
			require.NoError(t, err)
			d := stage.View(stage.Ended(t, again))
			require.NoError(t, again.Close())
			assert.Equal(t, []any{flow.StateCompleted, 4, ""}, []any{d.State, d.Round, d.EndedEarlyBy})
			assert.Len(t, d.Turns, 8)
			assert.Len(t, d.Verdicts, 1)
		})
	}
}

// A limit that is reached, or that leaves no room for another verdict, is named before anything is paid. Another budget is the mend, also
// the one that an amendment had lowered.
func TestReopeningUnderABudget(t *testing.T) {
	for name, tc := range map[string]struct {
		first, amended *flow.Budget // the latter while Ada speaks
		why            string
	}{
		"a soft limit": {&flow.Budget{SoftCalls: 1000}, &flow.Budget{SoftCalls: 5}, "of 5 calls"},
		"a hard limit": {&flow.Budget{HardCalls: 1000}, &flow.Budget{HardCalls: 10}, "10 of 10 calls"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format, config.Budget = format.RoundLimited, tc.first
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			session := stage.Started(t, engine, config)
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: tc.amended}))
			first := stage.View(stage.Ended(t, session))
			made := len(p.Requests())
			for _, o := range []flow.Reopening{{Rounds: 1}, {Ask: "Who pays?", To: "Ben"}} {
				_, err := engine.Reopen(t.Context(), first.ID, o)
				stage.Refused(t, err, "budget")
				require.ErrorContains(t, err, tc.why)
			}
			assert.Len(t, p.Requests(), made)
			again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 1, Budget: tc.first})
			require.NoError(t, err)
			d := stage.View(stage.Ended(t, again))
			require.NoError(t, again.Close())
			assert.Equal(t, []any{flow.StateCompleted, first.Round + 1, ""}, []any{d.State, d.Round, d.EndedEarlyBy})
		}))
	}

	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.RoundLimited, 1
	engine, p := stage.Engine(config)
	stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) { r.Usage = provider.Usage{Input: 20_000, Output: 1000} })
	first := stage.Run(t, engine, config)
	used := first.Spent().Usage
	tokens := used.Input + used.Output
	_, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 1, Budget: &flow.Budget{HardTokens: tokens + 1}})
	stage.Refused(t, err, "budget")
	require.ErrorContains(t, err, "with what the conclusion may take")
	again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Rounds: 1, Budget: &flow.Budget{HardTokens: 10 * tokens}})
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, stage.Ended(t, again).State)
	require.NoError(t, again.Close())
}

// The one answer has all of the round's time: speeches that nobody holds any more have no part of it. If it takes longer, somebody decides
// what follows, and no other verdict is paid.
func TestTheAnswerAfterTheVerdictHasAllOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Format, config.RoundTimeout, config.TurnTimeout = format.RoundLimited, time.Hour, 2*time.Hour
		engine, p := stage.Engine(config)
		takes := 65 * time.Minute
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			switch {
			case strings.Contains(req.ID, ".aside."):
				r.Delay = takes
			case req.Schema == nil:
				r.Delay = 10 * time.Minute
			}
		})
		session := stage.Started(t, engine, config)
		stage.Pass(15 * time.Minute) // Ben speaks
		require.NoError(t, session.Stop(t.Context()))
		again, err := engine.Reopen(t.Context(), stage.Ended(t, session).ID, flow.Reopening{Ask: "Who pays?", To: "Ada"})
		require.NoError(t, err)
		late, err := again.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindTimeout)
		assert.Equal(t, flow.StateError, late.State)
		assert.Empty(t, stage.View(late).Verdicts)
		takes = 55 * time.Minute
		require.NoError(t, again.Retry(t.Context()))
		d := stage.View(stage.Ended(t, again))
		require.NoError(t, again.Close())
		assert.NotNil(t, d.Earlier[0].Answer)
		assert.Empty(t, d.SkippedCalls)
	})
}

// What is reopened for a question has the answer: a budget with room for another verdict alone is refused.
func TestABudgetHasRoomForTheAnswer(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.RoundLimited, 1
	engine, p := stage.Engine(config)
	first := stage.Run(t, engine, config)
	used := first.Spent().Usage
	least := used.Input + used.Output
	for tokens := least; ; tokens += 200 {
		require.Less(t, tokens, least+1_000_000)
		budget := &flow.Budget{SoftCalls: 1000, HardTokens: tokens}
		made := len(p.Requests())
		again, err := engine.Reopen(t.Context(), first.ID, flow.Reopening{Ask: "Who pays?", To: "Ben", Budget: budget})
		if err != nil {
			require.ErrorContains(t, err, "budget")
			require.Len(t, p.Requests(), made)
			continue
		}
		d := stage.View(stage.Ended(t, again))
		require.NoError(t, again.Close())
		assert.NotNil(t, d.Earlier[0].Answer)
		assert.Empty(t, d.EndedEarlyBy)
		return
	}
}

// What a person was asked about a failed speech when the debate was stopped is owed no longer once it goes on.
func TestADebateThatWasStoppedAtAFailureGoesOn(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Unattended = format.RoundLimited, false
	var gone *stage.Outage
	engine, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
		gone = stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	})
	require.NoError(t, session.Stop(t.Context()))
	first := stage.Ended(t, session)
	require.Equal(t, flow.StateCompleted, first.State)
	gone.Over.Store(true)
	for _, o := range []flow.Reopening{{Rounds: 1}, {Ask: "Who pays?", To: "Ada"}} {
		again, err := engine.Reopen(t.Context(), first.ID, o)
		require.NoError(t, err)
		d := stage.View(stage.Ended(t, again))
		require.NoError(t, again.Close())
		assert.Equal(t, []any{flow.StateCompleted, 2 + o.Rounds}, []any{d.State, d.Round})
		assert.Len(t, d.Verdicts, 1)
	}
}
