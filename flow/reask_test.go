package flow_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A call that has failed because its answers were rejected takes no more of the round's time: its share does not run on, and it is not
// still to come.
func TestTheShareOfARejectedCallIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := stage.CallsOf(func(c *flow.Call) {
			if c.Round = 1; c.By == "Ada" {
				c.Schema, c.OnFail = "pick", flow.OnFail{Aid: true}
			}
		})
		f := stage.OneState(func(r *debate.Record) []*flow.Call {
			for _, call := range all(r) {
				if !r.Failed(call.ID) {
					return []*flow.Call{call} // one after the other
				}
			}
			return nil
		})
		f.Schemas = map[string]*flow.Schema{"pick": flow.AnswerSchema[struct{ Pick string }]("pick", flow.AnswerOf[struct{ Pick string }]{})}
		f.Timed = []debate.State{stage.Asks}
		f.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
			return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 1, Calls: 3}}, true
		}}
		engine, p, config := stage.WithFlow(f)
		p.Reply = func(req *provider.Request) scripted.Reply {
			if req.Schema != nil {
				return scripted.Reply{Text: "no JSON"}
			}
			if req.Self == "Ben" {
				return scripted.Reply{Text: "Words."}
			}
			// Ada's share is over after 40 minutes, and after 50 that of one whom somebody follows.
			return scripted.Reply{Text: "Words.", Delay: 55 * time.Minute}
		}
		config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Model: "test/debater"})
		config.RoundTimeout, config.TurnTimeout = time.Hour, time.Hour
		record := stage.Run(t, engine, stage.InFlow(engine, config))
		assert.Len(t, record.Rejections, 2)
		assert.Empty(t, record.SkippedCalls)
		assert.Equal(t, []string{"r1 Ben", "r1 Cem"}, stage.Speakers(record))
	})
}

// After an outage of a fallback it is the fallback that is asked, not the model before it, whose answers were rejected.
func TestAfterAnOutageTheFallbackIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Rounds, config.Patience = 1, time.Hour
		config.Judging.When = debate.AtEnd
		config.Judging.Judges[0].Fallbacks = []string{"test/spare"}
		engine, p := stage.Engine(config)
		reply, began := p.Reply, time.Now()
		p.Record = true
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil:
			case req.Model == "judge":
				return scripted.Reply{Text: "no JSON"}
			case time.Since(began) < 10*time.Minute:
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindAPI, Status: 503}}
			}
			return reply(req)
		}
		record := stage.Run(t, engine, config)
		require.NotNil(t, stage.View(record).Verdict)
		judge := 0
		for _, req := range p.Requests() {
			if req.Schema != nil && req.Model == "judge" {
				judge++
			}
		}
		assert.Equal(t, 2, judge)
	})
}

// A log in which an answer is rejected for which nobody has asked cannot be read.
func TestARejectionFitsItsCall(t *testing.T) {
	engine, _, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(*flow.Call) {})))
	h := flowtest.Begin(t, engine, stage.InFlow(engine, config))
	last := h.Log[len(h.Log)-1]
	intent, ok := last.Body.(*flow.Intent)
	require.True(t, ok)
	for name, rejection := range map[string]flow.Rejection{
		"a free reply": {},
		"a fallback":   {Next: "test/spare"},
		"an end":       {Final: true},
	} {
		rejection.Spend = flow.Spend{Call: intent.Call, Attempt: intent.Attempt, Model: intent.Model}
		_, err := kernel.Of(t, engine).NewCore("test", append(stage.StoredLog{Events: h.Log}.Copied(t), flow.Event{Seq: last.Seq + 1, At: last.At, Body: &rejection}))
		require.ErrorContains(t, err, "rejected.call", name)
	}
}

// An attempt that asks again for a rejected answer follows no failed one.
func TestAnAttemptAfterARejectionIsNoRetry(t *testing.T) {
	h := flowtest.Begin(t, pollEngine(), poll{People: []string{"Ada"}})
	h.Say("vote.Ada", `{"yes":false}`)
	h.Fail("vote.Ada", provider.KindRefusal)
	failures, retries := h.Record().Tries()
	assert.Equal(t, []int{1, 0}, []int{failures, retries})
	assert.True(t, strings.HasPrefix(string(h.Record().State), "awaiting"))
}
