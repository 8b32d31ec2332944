package arbiter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Long work fits a small window: older outputs are left out, or a summary stands for them if there is a summarizer.
func TestLongWorkFitsTheWindow(t *testing.T) {
	t.Parallel()
	long := arbiter.Result{Success: true, Output: strings.Repeat("A sentence of the output. ", 150)}
	for _, summarizer := range []string{flow.NoSummarizer, "test/m"} {
		engine, p := engineFor(nil)
		p.Record = true
		p.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil:
				return scripted.Reply{Text: "What was done before."}
			case req.Schema.Name == "result":
				return scripted.Reply{Text: toJSON(long)}
			default:
				return scripted.Reply{Text: toJSON(picks("Ada"))}
			}
		}
		engine.Models = map[string]debate.Model{"test/m": {Window: 12_000}}
		c := config()
		c.MaxIterations, c.Summarizer = 12, summarizer
		w := worked(t, engine, c)
		assert.Equal(t, arbiter.EndIterations, w.Reason)
		cut, summed := false, false
		for _, req := range p.Requests() {
			if callOf(&req) != "r12.Ada" {
				continue
			}
			cut = len(req.Messages) < 11
			for _, m := range req.Messages {
				summed = summed || strings.Contains(m.Text, "What was done before.")
			}
		}
		assert.True(t, cut, summarizer)
		assert.Equal(t, summarizer != flow.NoSummarizer, summed, summarizer)
	}
}

// The outputs of many agents at once fit the arbiter's window: each is cut to its part, and that of one agent to 16 KiB.
func TestOutputsOfManyAgentsAreCut(t *testing.T) {
	t.Parallel()
	long := arbiter.Result{Success: true, Output: strings.Repeat("A sentence of the output. ", 1000)}
	for agents, most := range map[int]int{1: 18 << 10, 20: 80 << 10} {
		names, all := []string{}, answers{"d2": completes("Done.")}
		c := config()
		c.Agents, c.Parallel, c.MaxTokens = nil, agents, 8000
		for i := range agents {
			name := fmt.Sprintf("A%d", i)
			names, c.Agents = append(names, name), append(c.Agents, arbiter.Agent{Name: name, Model: "test/m"})
			all["r1."+name] = long
		}
		all["d1"] = picks(names...)
		engine, p := engineFor(all)
		p.Record = true
		engine.Models = map[string]debate.Model{"test/m": {Window: 40_000}}
		w := worked(t, engine, c)
		assert.Equal(t, arbiter.EndComplete, w.Reason)
		requests := p.Requests()
		last := requests[len(requests)-1].Last.Text
		assert.Equal(t, agents, strings.Count(last, "it was longer, and is cut here"))
		assert.Less(t, len(last), most)
	}
}

// What all flows share reaches the kernel, and so do the files of the task.
func TestSettingsOfWork(t *testing.T) {
	c := config()
	c.Attachments = []flow.File{{Name: "note.txt", Data: []byte("A note."), Type: "text/plain"}}
	c.Documents = []flow.Document{{Name: "paper", Files: []flow.File{{Data: []byte("A paper."), Type: "text/plain"}}}}
	c.Budget, c.Retry, c.Patience = &flow.Budget{HardCalls: 9}, &flow.RetryPolicy{Base: 1}, 7
	c.OnFailure = []flow.FailureRule{{Do: flow.OptionFail}}
	c.Context, c.Summarizer, c.MaxTokens, c.Reserve, c.TurnTimeout, c.MaxIterations = "sliding", "test/m", 100, 200, 8, 20
	c.ToolPolicy, c.Labels = flow.ToolPolicy{Approval: flow.OptionApprove}, map[string]string{"team": "blue"}
	c.Agents[0].Tools, c.Agents[1].Tools = []string{"read", "write"}, []string{"write", "run"}
	assert.Equal(t, flow.Settings{
		ID: "work", Topic: "Write a function.", Documents: []flow.Document{{Files: c.Attachments}, c.Documents[0]}, Rounds: 20,
		Participants: []string{"Ada", "Ben"}, Tools: []string{"read", "write", "run"}, Budget: c.Budget, Retry: c.Retry, Patience: 7,
		OnFailure: c.OnFailure, Context: "sliding", Summarizer: "test/m", MaxTokens: 100, Reserve: 200, TurnTimeout: 8, TruncateTurns: true,
		ToolPolicy: c.ToolPolicy, Labels: c.Labels, Unattended: true,
	}, c.Settings())
	fields := []string{}
	for field := range c.Files() {
		fields = append(fields, field)
	}
	assert.Equal(t, []string{"attachments[0]", "documents[0].files[0]"}, fields)
}
