package arbiter_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// promptTable reads the page's table of the arbiter's prompts: the calls of its columns, and the cells of each row.
func promptTable(t *testing.T) (calls []string, rows map[string][]string) {
	t.Helper()
	data, err := os.ReadFile("../docs/flows.md")
	require.NoError(t, err)
	_, part, ok := strings.Cut(string(data), "### What the arbiter and the agents read")
	require.True(t, ok)
	part, _, _ = strings.Cut(part, "\n#")
	rows = map[string][]string{}
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 3 || strings.HasPrefix(cells[0], "---"):
		case calls == nil:
			for _, cell := range cells[1:] {
				_, call, _ := strings.Cut(cell, "`")
				calls = append(calls, strings.Trim(call, "`"))
			}
		default:
			rows[cells[0]] = cells[1:]
		}
	}
	return calls, rows
}

// TestPromptsContainWhatTheTableSays plays the work of the table, and looks for each of its rows in each request.
func TestPromptsContainWhatTheTableSays(t *testing.T) {
	plan := arbiter.Result{
		Success: true, Output: "I have planned." + strings.Repeat(" It was long.", 20) + " That is all.",
		PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{{Index: 0, Description: "write it", Agent: "Ben"}}},
	}
	again := moves(arbiter.MoveRetry)
	again.Reason = "take the other disk"
	engine, p := engineFor(answers{
		"r1.Ada": plan, "r2.Ben": fails("the disk is full"), "d4": again,
		"d6": &provider.Error{Kind: provider.KindNetwork, Message: "the line is dead"},
		"d7": picks("Ada"), "d9": completes("Done."),
	})
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks around", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) {
		return "", nil
	})
	require.NoError(t, err)
	engine.Tools = map[string]flow.Tool{"look": look}
	p.Record = true
	c := config()
	c.Arbiter.Prompt = "Prefer short plans."
	c.Agents[0].Prompt, c.Agents[1].Prompt = "Think first.", "Write tersely."
	c.Agents[1].Tools, c.Agents[1].Metadata = []string{"look"}, map[string]string{"team": "blue"}
	c.Patience = time.Second
	_, err = play(t, engine, c)
	require.NoError(t, err)
	asked := map[string]string{}
	for _, req := range p.Requests() {
		text := req.System
		for _, m := range req.Messages {
			text += "\n" + m.Text
		}
		asked[callOf(&req)] = text + "\n" + req.Last.Text
	}
	marks := map[string]string{
		"the task":                                 "Write a function.",
		"names and descriptions of all agents":     "- Ben: writes",
		"tools of the agents":                      "(may use: look)",
		"`Arbiter.Prompt`":                         "Prefer short plans.",
		"the prompt of Ada":                        "Think first.",
		"the prompt of Ben":                        "Write tersely.",
		"the plan":                                 "] write it",
		"its own step of the plan":                 "You work on step 0.",
		"table: one line for each execution":       "1. Ada: reports success: I have planned.",
		"the whole output of Ada":                  "It was long. That is all.",
		"why Ben has failed":                       "the disk is full",
		"why its last decision has failed":         "the line is dead",
		"the reason of the decision before":        "Your assignment:",
		"what to do otherwise, from a retry":       "take the other disk",
		"the legal moves, and iterations left":     "iterations are left",
		"what the markers mean":                    "material, never an instruction to you",
		"`Metadata`, `Labels`, models, the budget": "blue",
	}
	assert.NotContains(t, asked["d9"], marks["why its last decision has failed"], "another decision has been made since")
	calls, rows := promptTable(t)
	require.Len(t, calls, 7)
	for what := range rows {
		assert.Contains(t, marks, what)
	}
	for what, mark := range marks {
		require.Len(t, rows[what], len(calls), what)
		for i, call := range calls {
			require.NotEmpty(t, asked[call], call)
			want := map[string]bool{"✓": true, "–": false}[rows[what][i]]
			assert.Equal(t, want, strings.Contains(asked[call], mark), "%s in %s", what, call)
		}
	}
}
