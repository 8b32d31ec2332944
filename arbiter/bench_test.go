package arbiter_test

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
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// worker answers for work of 50 iterations: three agents in turn, each of which uses a tool once in each execution.
func worker(delay time.Duration, executions int) func(*provider.Request) scripted.Reply {
	selects := [3]string{toJSON(picks("Ada")), toJSON(picks("Ben")), toJSON(picks("Cem"))}
	done, result := toJSON(completes("Done.")), toJSON(arbiter.Result{Success: true, Output: strings.Repeat("What was done. ", 20)})
	return func(req *provider.Request) scripted.Reply {
		if req.Schema.Name != "result" {
			var n int
			_, _ = fmt.Sscanf(callOf(req), "d%d", &n)
			if n/2 >= executions {
				return scripted.Reply{Text: done, Delay: delay}
			}
			return scripted.Reply{Text: selects[n/2%3], Delay: delay}
		}
		if n := len(req.Messages); len(req.Tools) > 0 && (n == 0 || req.Messages[n-1].ToolResult == nil) {
			return scripted.Reply{Calls: []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}, Delay: delay}
		}
		return scripted.Reply{Text: result, Delay: delay}
	}
}

// crew is the config of that work.
func crew(executions int) arbiter.Config {
	c := config()
	c.ID, c.MaxIterations = "", executions
	c.Agents = append(c.Agents, arbiter.Agent{Name: "Cem", Model: "test/m"})
	for i := range c.Agents {
		c.Agents[i].Tools = []string{"look"}
	}
	return c
}

func look(t testing.TB) flow.Tool {
	t.Helper()
	made, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "It is there.", nil })
	require.NoError(t, err)
	return made
}

func crewEngine(t testing.TB, delay time.Duration, executions int) (*debate.Engine, *scripted.Provider) {
	t.Helper()
	p := &scripted.Provider{Reply: worker(delay, executions)}
	return &debate.Engine{
		Store: &store.Memory{}, Providers: map[string]debate.Provider{"test": p}, Tools: map[string]debate.Tool{"look": look(t)},
		Flows: map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
	}, p
}

func runAll(t testing.TB, engine *debate.Engine, c flow.Config) (calls int) {
	t.Helper()
	session, err := engine.Start(t.Context(), c)
	require.NoError(t, err)
	record := stage.Ended(t, session)
	require.NoError(t, session.Close())
	return record.Spent().Requests + len(record.ToolUses)
}

// speak answers for a debate of the same agents.
func speak(req *provider.Request) scripted.Reply {
	names := []string{"Ada", "Ben", "Cem"}
	switch call := callOf(req); {
	case strings.HasPrefix(call, "verdict"):
		return scripted.Reply{Text: stage.Verdict(names)}
	case strings.Contains(call, "assessment"):
		return scripted.Reply{Text: stage.Judgement(names, true)}
	default:
		return scripted.Reply{Text: strings.Repeat("What was said. ", 20)}
	}
}

// BenchmarkWork measures 50 iterations of three agents with tools. "debates" is the time per call in multiples of that
// of a debate of the same length with a judge, measured in the same run.
func BenchmarkWork(b *testing.B) {
	perCall := func(play func() int) time.Duration {
		calls, begin := 0, time.Now()
		for range 20 {
			calls += play()
		}
		return time.Since(begin) / time.Duration(calls)
	}
	engine, _ := crewEngine(b, 0, 50)
	work := func() int { return runAll(b, engine, crew(50)) }
	talk := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"test": &scripted.Provider{Reply: speak}}}
	spoken := func() int {
		return runAll(b, talk, debate.Config{
			Topic: "Is thrift a virtue?", Format: format.RoundLimited, Rounds: 25, Unattended: true,
			Participants: []debate.Participant{{Name: "Ada", Model: "test/m"}, {Name: "Ben", Model: "test/m"}, {Name: "Cem", Model: "test/m"}},
			Judging:      &debate.Judging{Judges: []debate.JudgeConfig{{Name: "judge", Model: "test/m"}}},
		})
	}
	work()
	spoken()
	var one, other time.Duration
	for b.Loop() {
		one, other = one+perCall(work), other+perCall(spoken)
	}
	b.ReportMetric(float64(one)/float64(other), "debates")
	b.ReportMetric(float64(one.Microseconds())/float64(b.N), "us/call")
}

// TestBytesAreLinearInExecutions compares the log of the first executions with that of later ones.
func TestBytesAreLinearInExecutions(t *testing.T) {
	t.Parallel()
	size := func(executions int) float64 {
		engine, _ := crewEngine(t, 0, executions)
		c := crew(executions)
		c.ID = "work"
		runAll(t, engine, c)
		total := 0
		for event, err := range engine.Store.Read(t.Context(), "work", 0) {
			require.NoError(t, err)
			data, err := json.Marshal(event)
			require.NoError(t, err)
			total += len(data)
		}
		return float64(total)
	}
	early, late := (size(30)-size(10))/20, (size(120)-size(100))/20
	t.Logf("%.0f bytes for an execution of the first thirty, %.0f after a hundred", early, late)
	assert.LessOrEqual(t, late, early*1.05)
}

// TestPace compares the time of work with that of its longest chain of calls, with calls of 100 ms: agents that act at once
// take no longer than one.
func TestPace(t *testing.T) {
	const call = 100 * time.Millisecond
	for _, parallel := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			const executions = 30
			engine, p := crewEngine(t, call, executions)
			if parallel == 3 {
				alone := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					var n int
					if _, _ = fmt.Sscanf(callOf(req), "d%d", &n); req.Schema.Name != "result" && n/2 < executions/parallel {
						return scripted.Reply{Text: toJSON(picks("Ada", "Ben", "Cem")), Delay: call}
					} else if req.Schema.Name != "result" {
						return scripted.Reply{Text: toJSON(completes("Done.")), Delay: call}
					}
					return alone(req)
				}
			}
			c := crew(executions)
			c.Parallel = parallel
			began := time.Now()
			runAll(t, engine, c)
			rounds := executions / parallel
			ideal := time.Duration(rounds*3+1) * call // a decision, and two replies of each agent; one decision more at the end
			pace := float64(time.Since(began)) / float64(ideal)
			t.Logf("%d at once: %.3f of the ideal", parallel, pace)
			assert.LessOrEqual(t, pace, 1.05)
		})
	}
}
