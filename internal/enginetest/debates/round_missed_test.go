package debates_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// delayed lets somebody's speeches of one round take a minute, as long as it says so.
func delayed(p *scripted.Provider, who string, round int, on func() bool) {
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if on() && req.Self == who && strings.Contains(req.ID, fmt.Sprintf("/r%d.", round)) {
			r.Delay = time.Minute
		}
	})
}

// If somebody without whom there is nothing to judge has said nothing in the whole debate, the time of the last round leads to
// an error and not to a verdict. Retry holds the round again.
func TestADebateIsNotJudgedWithoutTheOnlyOpponent(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		for _, who := range []string{"Ada", "Ben"} {
			t.Run(string(mode)+"/"+who, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Mode, config.Rounds, config.RoundTimeout = mode, 1, 10*time.Second
				engine, p := stage.Engine(config)
				mended := false
				delayed(p, who, 1, func() bool { return !mended })
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				failure := stage.RequireKind(t, err, provider.KindTimeout)
				assert.Equal(t, who, failure.Participant)
				assert.Equal(t, flow.StateError, record.State)
				assert.Empty(t, stage.View(record).Verdicts)
				mended = true
				require.NoError(t, session.Retry(t.Context()))
				record = stage.Ended(t, session)
				assert.ElementsMatch(t, []string{"r1 Ada", "r1 Ben"}, stage.Speakers(record))
				assert.NotNil(t, stage.View(record).Verdict)
				assert.Empty(t, record.SkippedCalls)
			}))
		}
	}
}

// The judge wishes to end a debate in which Ben has said nothing yet: it goes on until he has.
func TestADebateDoesNotEndBeforeBothHaveSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Format, config.Rounds, config.RoundTimeout = "free-form", 4, 10*time.Second
		engine, p := stage.Engine(config)
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Text = strings.ReplaceAll(r.Text, `"shouldContinue":true`, `"shouldContinue":false,"ending":"It is settled."`)
		})
		delayed(p, "Ben", 1, func() bool { return true })
		record := stage.Run(t, engine, config)
		assert.Equal(t, []string{"r1 Ada", "r2 Ada", "r2 Ben"}, stage.Speakers(record))
		assert.Equal(t, debate.EndJudge, record.Reason)
	})
}

// Judges are told who has missed a round: of the round that they assess, and of all rounds in the verdict.
func TestJudgesAreToldWhoHasMissedARound(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		for _, round := range []int{1, 3} {
			t.Run(fmt.Sprintf("round %d, anonymous %t", round, anonymous), stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Rounds, config.RoundTimeout, config.Judging.Anonymous = 3, 10*time.Second, anonymous
				engine, p := stage.Engine(config)
				delayed(p, "Ben", round, func() bool { return true })
				record := stage.Run(t, engine, config)
				require.Len(t, record.SkippedCalls, 1)
				assert.NotNil(t, stage.View(record).Verdict)
				ben := stage.View(record).Hide("Ben")
				note := fmt.Sprintf("Has missed speeches, and is judged by what was said: %s in round %d.", ben, round)
				silent := fmt.Sprintf("Has missed all speeches, and is not to be judged here: %s in round %d.", ben, round)
				told := 0
				for _, req := range p.Requests() {
					assessed := strings.Contains(req.ID, fmt.Sprintf("/r%d.assessment", round))
					if assessed || strings.Contains(req.ID, "/verdict") {
						told++
						assert.Equal(t, assessed, strings.Contains(req.Last.Text, silent), req.Last.Text)
						assert.Equal(t, !assessed, strings.Contains(req.Last.Text, note), req.Last.Text)
						assert.Equal(t, !assessed, slices.Contains(stage.LabelsIn(req.Schema.JSON), ben), "who was silent is not marked")
					} else {
						assert.NotContains(t, req.Last.Text, "missed")
					}
				}
				assert.Equal(t, 2, told)
			}))
		}
	}
}

// TestWhoHasSaidNothingIsInNoVerdict: somebody all of whose speeches were left out is not marked, and cannot win.
func TestWhoHasSaidNothingIsInNoVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds, config.OnFailure = 1, stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
	config.Participants = append(config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	engine, p := stage.Engine(config)
	stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Cyd" })
	record := stage.Run(t, engine, config)
	require.Len(t, record.SkippedCalls, 1)
	assert.Empty(t, record.Rejections)
	require.NotNil(t, stage.View(record).Verdict)
	assert.NotContains(t, stage.View(record).Verdict.Scores, "Cyd")
	for _, req := range p.Requests() {
		if req.Schema != nil {
			assert.ElementsMatch(t, []string{"Ada", "Ben"}, stage.LabelsIn(req.Schema.JSON), req.ID)
			assert.Contains(t, req.Last.Text, "Has missed all speeches, and is not to be judged here: Cyd in round 1.", req.ID)
		}
	}
}

// TestASideThatHasSaidNothingCannotWin: nobody of it is marked, so that it cannot be ahead.
func TestASideThatHasSaidNothingCannotWin(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.Unattended = "free-form", 1, false
	config.Judging.When = debate.AtEnd
	config.Participants = stage.Actors("Ada for", "Ben against", "Cem for", "Dia against")
	engine, p := stage.Ready(config)
	stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return req.Self == "Ben" || req.Self == "Dia" })
	reply, asked := p.Reply, 0
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if req.Schema == nil {
			return r
		}
		assert.ElementsMatch(t, []string{"Ada", "Cem"}, stage.LabelsIn(req.Schema.JSON))
		side := "for"
		if asked++; asked == 1 {
			side = "against"
		}
		var answer map[string]any
		assert.NoError(t, json.Unmarshal([]byte(r.Text), &answer))
		answer["winner"] = map[string]string{"reasoning": "They had the facts.", "side": side}
		r.Text = stage.JSON(answer)
		return r
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	for errors.Is(err, debate.ErrAwaitingInput) {
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionSkip}))
		record, err = session.Wait(t.Context())
	}
	require.NoError(t, err)
	d := stage.View(record)
	require.Len(t, d.SkippedCalls, 2)
	assert.Len(t, d.Rejections, 1, "nobody has spoken for the side against")
	assert.Equal(t, debate.For, d.Outcome().Side)
}
