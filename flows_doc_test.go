package debate_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

const flowsPage = "docs/internal/flows.md"

// TestTheDiagramsAreTheFlows: with -update the page gets the diagrams.
func TestTheDiagramsAreTheFlows(t *testing.T) {
	data, err := os.ReadFile(flowsPage)
	require.NoError(t, err)
	page := string(data)
	for heading, f := range map[string]*debate.Flow{
		"Debate": debate.DebateFlow(), "Deliberation": deliberation.Flow(), "Arbiter": arbiter.Flow(),
	} {
		before, rest, ok := strings.Cut(page, "\n## "+heading+"\n")
		require.True(t, ok, heading)
		text, rest, ok := strings.Cut(rest, "```mermaid\n")
		require.True(t, ok, heading)
		drawn, after, ok := strings.Cut(rest, "```\n")
		require.True(t, ok, heading)
		if stage.Update() {
			page = before + "\n## " + heading + "\n" + text + "```mermaid\n" + f.Mermaid() + "```\n" + after
			continue
		}
		assert.Equal(t, f.Mermaid(), drawn, "rewrite it with -update")
	}
	if stage.Update() {
		require.NoError(t, os.WriteFile(flowsPage, []byte(page), 0o600))
	}
}

// TestTheTablesOfTriggersAreTheRules: a cell has its mark if there is a rule for it.
func TestTheTablesOfTriggersAreTheRules(t *testing.T) {
	data, err := os.ReadFile(flowsPage)
	require.NoError(t, err)
	inputs := []flow.Trigger{}
	for _, f := range []*debate.Flow{debate.DebateFlow(), deliberation.Flow(), arbiter.Flow()} {
		inputs = append(inputs, f.Inputs...)
	}
	for _, test := range []struct {
		head  string
		rules []flow.Rule
		rows  []flow.Trigger
	}{
		{
			"control", flow.Lifecycle(),
			[]flow.Trigger{flow.TriggerPause, flow.TriggerResume, flow.TriggerStop, flow.TriggerCancel, flow.TriggerRetry},
		},
		{"input", arbiter.Flow().Rules, inputs},
	} {
		table := stage.TableAfter(t, string(data), test.head)
		require.Len(t, table, 1+len(test.rows))
		for i, row := range table[1:] {
			on := flow.Trigger(strings.Trim(row[0], "`"))
			assert.Equal(t, test.rows[i], on)
			for k, cell := range row[1:] {
				from := flow.State(strings.Trim(table[0][k+1], "`"))
				if from == "states of the flow" {
					from = flow.StateRunning
				}
				taken := slices.ContainsFunc(test.rules, func(r flow.Rule) bool { return r.From == from && r.On == on })
				assert.Equal(t, map[bool]string{true: "✓", false: "–"}[taken], cell, "%s in %s", on, from)
			}
		}
	}
}
