package debates_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// The providers that can tell are asked about each model before anything is paid, and what they say
// names the field.
func TestValidationAsksTheProviders(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	var asked []string
	p.OnCheck = func(_ context.Context, model string) error {
		asked = append(asked, model)
		if model == "judge" {
			return &provider.Error{Kind: provider.KindAuthentication, Status: 401}
		}
		return nil
	}
	err := engine.Validate(t.Context(), config)
	var failure *debate.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, provider.KindAuthentication, failure.Kind)
	assert.Equal(t, "judging.judges[0].model", failure.Field)
	assert.ElementsMatch(t, []string{"debater", "judge"}, asked, "each model once")
	_, err = engine.Start(t.Context(), config)
	require.ErrorAs(t, err, &failure)
	assert.Zero(t, p.Calls())
}

// A judge has its own time, and time out is told of as such.
func TestAJudgesTimeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Unattended = false
		config.JudgeTimeout, config.Retry = 20*time.Second, &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindTimeout: 0}}
		engine, p := stage.Engine(config)
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Schema != nil {
				r.Delay = time.Minute
			}
		})
		began := time.Now()
		session := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, session)
		require.Len(t, record.Inquiries, 1)
		assert.Equal(t, provider.KindTimeout, record.Inquiries[0].Failure.Kind)
		assert.Equal(t, 20*time.Second, time.Since(began))
	})
}

// What a call took is recorded with what it cost.
func TestTimeIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Delay = 3 * time.Second
		})
		record := stage.Run(t, engine, config)
		for _, turn := range record.Turns {
			assert.Equal(t, 3*time.Second, turn.Took)
		}
		assert.Equal(t, 3*time.Second, stage.View(record).Assessments[0].Took)
		assert.Equal(t, 3*time.Second, stage.View(record).Verdict.Took)
		assert.Equal(t, 10*3*time.Second, record.Duration())
	})
}

// The format's guidance is a part of everybody's system prompt.
func TestGuidanceReachesEverybody(t *testing.T) {
	for _, format := range format.Builtin()[:4] {
		t.Run(format.Name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format = format.Name
			engine, p := stage.Engine(config)
			stage.Run(t, engine, config)
			for _, req := range p.Requests() {
				assert.Contains(t, req.System, format.Guidance, req.ID)
			}
		})
	}
}

// Who is asked to acknowledge the spend may end the rounds instead.
func TestAStopInPlaceOfAnAcknowledgement(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget, config.Unattended = &debate.Budget{Warn: 1, Confirm: true}, false
	engine, _ := stage.Engine(config)
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 1)
	assert.Equal(t, flow.InquiryCost, record.Inquiries[0].ID)
	require.NoError(t, session.Stop(t.Context()))
	record = stage.Ended(t, session)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Equal(t, flow.EndHost, record.Reason)
	assert.Equal(t, flow.EndedByHost, record.EndedEarlyBy)
	assert.Empty(t, record.Inquiries)
}

// A debate from the first edit to its end: positions are found, two rounds are spoken and judged, and
// the judge sees convergence. Nobody wins it.
func TestAWholeDebate(t *testing.T) {
	config := debate.Config{
		Topic: "Should we colonise Mars?", Format: format.ConvergenceSeeker,
		Participants:    []debate.Participant{{Name: "Claude", Model: "test/debater"}, {Name: "Grace", Model: "test/debater"}},
		Judging:         &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}},
		AssignPositions: &debate.AssignPositions{},
	}
	engine, p := stage.Engine(config)
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema != nil && req.Schema.Name == "assign":
			return scripted.Reply{Text: stage.Placed(req, `{"positions":[
				{"position":"A second home for mankind comes first.","persona":"An engineer.","keyArguments":["one basket"]},
				{"position":"The climate of this planet cannot wait.","persona":"A scientist.","keyArguments":["the budget"]}],
				"reasoning":"Both cannot be paid."}`)}
		case req.Schema != nil && strings.Contains(req.ID, "/r2."):
			var answer map[string]any
			if err := json.Unmarshal([]byte(stage.Judgement([]string{"Claude", "Grace"}, false)), &answer); err != nil {
				return scripted.Reply{Err: err}
			}
			answer["flags"] = map[string]bool{"repetitive": true, "drifting": false, "convergenceReached": true}
			return scripted.Reply{Text: stage.JSON(answer)}
		default:
			return reply(req)
		}
	}
	session, err := engine.New(debate.Config{Topic: config.Topic})
	require.NoError(t, err)
	defer session.Close()
	assert.Equal(t, flow.StateConfiguring, session.State())
	require.NoError(t, session.Edit(config))
	require.NoError(t, session.Validate(t.Context()))
	assert.Equal(t, flow.StateReady, session.State())
	require.NoError(t, session.Start(t.Context()))
	record := stage.Ended(t, session)

	assert.Equal(t, []debate.State{
		flow.StateInitializing,
		debate.StateAwaitingResponses, debate.StateJudging, debate.StateRoundComplete,
		debate.StateAwaitingResponses, debate.StateJudging, flow.StateCompleting, flow.StateCompleted,
	}, states(t.Context(), t, session))
	assert.Equal(t, "A second home for mankind comes first.", stage.View(record).Assignment.Positions[0].Position)
	assert.Equal(t, []string{"r1 Claude", "r1 Grace", "r2 Claude", "r2 Grace"}, stage.Speakers(record))
	assert.Equal(t, flow.EndConverged, record.Reason)
	assert.Equal(t, "judge sees convergence in round 2: Nothing is left to say.", record.Evidence)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Empty(t, stage.View(record).Outcome().Winner)
}

// states yields the states that a debate has come to, in order.
func states(ctx context.Context, t *testing.T, session *debate.Session) []debate.State {
	t.Helper()
	var out []debate.State
	for event, err := range session.Events(ctx, 0) {
		require.NoError(t, err)
		if body.As[flow.Transition](event) != nil {
			out = append(out, body.As[flow.Transition](event).To)
		}
	}
	return out
}
