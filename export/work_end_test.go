package export_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestWorkThatIsNotComplete says so, and why.
func TestWorkThatIsNotComplete(t *testing.T) {
	approves := func(c *arbiter.Config) { c.Agents[0].Tools, c.Unattended = []string{"publish"}, false }
	publish, err := flow.NewTool(flow.ToolInfo{Description: "publishes", Approval: true},
		func(context.Context, flow.ToolUse, subject) (string, error) { return "published", nil })
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change func(*arbiter.Config)
		host   func(t *testing.T, s *debate.Session)
		fails  bool // the agents
		want   []string
	}{
		"all executions are used": {
			change: func(c *arbiter.Config) { c.MaxIterations = 1 },
			want: []string{
				"**Completed.** The arbiter has made 2 decisions, and the agents 1 execution.\n", "- **Executions:** 1 of at most 1\n",
				"- **Why it ended:** 1 of 1 iterations are used, and the task is not complete",
				"**The task is not complete: all executions are used.**\n\n- **Executions:** 1 successful\n- **Failures:** 0\n- **Decisions:** 2\n",
				"- **Step:** of no plan\n",
			},
		},
		"too many failures": {
			change: func(c *arbiter.Config) { c.MaxFailures = 2 }, fails: true,
			want: []string{
				"**The task is not complete: the work has stopped with an error.**\n\n- **Executions:** 2 failed\n- **Failures:** 2, the last 2 in a row\n",
				"The work can go on.",
			},
		},
		"a person decides": {
			change: func(c *arbiter.Config) { c.Arbiter, c.Unattended = arbiter.Arbiter{Person: true}, false },
			want: []string{
				"- **Arbiter:** a person\n", "**The task is not complete yet.**\n\n- **Executions:** none\n", "### arbiter\n\na person · 0 decisions · $0 · speaking\n",
				"The work is not over: this is how far it has come.",
			},
		},
		"canceled": {
			change: func(c *arbiter.Config) { c.Arbiter, c.Unattended = arbiter.Arbiter{Person: true}, false },
			host:   func(t *testing.T, s *debate.Session) { t.Helper(); require.NoError(t, s.Cancel(t.Context())) },
			want:   []string{"**The task is not complete: the work was canceled.**\n"},
		},
		"stopped by the host": {
			change: func(c *arbiter.Config) { c.Arbiter, c.Unattended = arbiter.Arbiter{Person: true}, false },
			host:   func(t *testing.T, s *debate.Session) { t.Helper(); require.NoError(t, s.Stop(t.Context())) },
			want:   []string{"**The task is not complete: the arbiter has not declared it so.**\n", "- **Decided by:** host\n"},
		},
		"a use waits for approval": {
			change: approves,
			want: []string{
				"- **Executions:** 1 under way\n", "### 1\\. Ada\n\nunder way\n",
				"**Use of a tool, 1: publish**\n\nThere is no result yet.\n\n>     {\"text\":\"double\"}\n",
			},
		},
		"canceled before a use": {
			change: approves,
			host:   func(t *testing.T, s *debate.Session) { t.Helper(); require.NoError(t, s.Cancel(t.Context())) },
			want: []string{
				"- **Executions:** 1 cancelled\n", "### 1\\. Ada\n\ncancelled\n",
				"**Use of a tool, 1: publish**\n\nThe work has ended before there was a result.\n",
			},
		},
		"several at once": {
			change: func(c *arbiter.Config) { c.MaxIterations, c.Parallel = 2, 2 },
			want: []string{
				"- **At once:** 2 agents at most\n", "### 1\\. Ada\n\nsuccessful\n\n- **Round:** 1\n", "### 2\\. Ben\n\nsuccessful\n\n- **Round:** 1\n",
				"### 1\\. select Ada, Ben\n",
			},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			c := arbiter.Config{
				Task: "Double.", Arbiter: arbiter.Arbiter{Model: "acme/m"}, Unattended: true,
				Agents: []arbiter.Agent{{Name: "Ada", Model: "acme/m"}, {Name: "Ben", Model: "acme/m"}},
			}
			test.change(&c)
			engine := &debate.Engine{
				Flows: map[string]*flow.Flow{arbiter.FlowName: arbiter.Flow()}, Tools: map[string]debate.Tool{"publish": publish},
				Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
					switch {
					case len(req.Tools) > 0:
						asks := uses("publish", subject{"double"})
						asks.Delay = 0
						return asks
					case req.Schema.Name == "result":
						return scripted.Reply{Text: toJSON(arbiter.Result{Success: !test.fails, Output: "Well."})}
					}
					names := []string{"Ada", "Ben"}[:max(1, c.Parallel)]
					return scripted.Reply{Text: toJSON(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: names, Reason: "so"})}
				}}},
			}
			session := stage.Started(t, engine, c)
			record, err := session.Wait(t.Context()) // an error of the work is what some cases are about
			if test.host != nil {
				require.ErrorIs(t, err, flow.ErrAwaitingInput)
				test.host(t, session)
				record, err = session.Wait(t.Context())
			}
			require.NotNil(t, record, "%v", err)
			var md bytes.Buffer
			require.NoError(t, export.Markdown(&md, record))
			for _, want := range test.want {
				assert.Contains(t, md.String(), want)
			}
			_, err = structures(&export.Document{Record: record})
			require.NoError(t, err)
		}))
	}
}
