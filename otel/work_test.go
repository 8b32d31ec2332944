package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// laborer answers for arbitrated work: Ada uses a tool, is cut in the middle of her result, and continues it. Ben fails,
// and later does not.
func laborer() func(*provider.Request) scripted.Reply {
	replies := []scripted.Reply{
		{Text: stage.JSON(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada", "Ben"}, Reason: canary})},
		{Text: stage.JSON(arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Reason: canary, Summary: "Done. " + canary})},
	}
	ada := []scripted.Reply{
		{Calls: []provider.ToolCall{{ID: "1", Name: "publish", Arguments: json.RawMessage(`{}`)}}},
		{Text: `{"success":true,"output":"I have`, Stop: provider.StopLength},
		{Text: ` published it. ` + canary + `"}`},
	}
	ben := []scripted.Reply{
		{Err: &provider.Error{Kind: provider.KindRefusal, Message: canary}}, {Text: stage.JSON(arbiter.Result{Success: true, Output: canary})},
	}
	return func(req *provider.Request) scripted.Reply {
		var reply scripted.Reply
		switch req.Self {
		case "Ada":
			reply, ada = ada[0], ada[1:]
		case "Ben":
			reply, ben = ben[0], ben[1:]
		default:
			reply, replies = replies[0], replies[1:]
		}
		if reply.Delay = time.Second; req.Self == "Ben" { // two things at once have no order
			reply.Delay += time.Second / 2
		}
		reply.Usage = provider.Usage{Input: 10, Output: 5}
		return reply
	}
}

// TestTheTraceOfWork plays work with two agents at once, a tool about whose use a person decides twice, controls with reasons, and
// an input.
func TestTheTraceOfWork(t *testing.T) {
	for name, content := range map[string]bool{"work.txt": false, "work-content.txt": true} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder()
			r.Content = content
			synctest.Test(t, func(t *testing.T) { labor(t, r) })
			tree := r.tree(t)
			if !content {
				assert.NotContains(t, tree, "canary")
				assert.NotContains(t, tree, "it is late")
			}
			golden(t, name, tree)
		})
	}
}

func labor(t *testing.T, r *recorder) {
	t.Helper()
	engine := engineOf(laborer())
	engine.Flows = map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()}
	publish, err := flow.NewTool(flow.ToolInfo{Description: "publishes", Approval: true}, func(ctx context.Context, _ flow.ToolUse, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", errors.New("broken off " + canary)
	})
	require.NoError(t, err)
	engine.Tools = map[string]debate.Tool{"publish": publish}
	session, err := engine.Start(t.Context(), arbiter.Config{
		ID: "errand", Task: "Publish it. " + canary, Arbiter: arbiter.Arbiter{Model: "openai/judge"}, Parallel: 2,
		Agents: []arbiter.Agent{{Name: "Ada", Model: "openai/talker", Tools: []string{"publish"}}, {Name: "Ben", Model: "mistral/talker"}},
	})
	require.NoError(t, err)
	for event, err := range r.Watch(t.Context(), session.Events(t.Context(), 0)) {
		require.NoError(t, err)
		if in := body.As[flow.Intent](event); in != nil && in.Tool != "" {
			stage.Pass(time.Second)
			require.NoError(t, session.Control(t.Context(), flow.Pause{Reason: "it is late"}))
			input := flow.Sent{Trigger: arbiter.TriggerForceAgent, Payload: json.RawMessage(`{"agent":"Ben"}`), Reason: "it is late"}
			require.NoError(t, session.Control(t.Context(), input))
			stage.Pass(time.Second)
			require.NoError(t, session.Resume(t.Context()))
		}
		if q := body.As[flow.Inquiry](event); q != nil && q.Use.Attempt == 0 {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionApprove}))
		} else if q != nil {
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionTell}))
		}
	}
	require.NoError(t, session.Close())
}
