package deliberation_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// replaced are templates of a host program for all prompts of a deliberation: each says its name, and keeps what is given.
func replaced() map[string]string {
	out := map[string]string{}
	for name := range deliberation.Flow().Prompts {
		out[name] = "[" + name + "] {{.Who}} {{.ID}} {{.Problem}} {{.Context}} {{.Focus}} {{.Others}} {{.Questions}} {{.Words}} {{.MaxLength}} {{.Fields}}"
	}
	out["deliberation.system"] += ` {{template "fence" .}}`
	return out
}

// TestEveryPromptIsTheHostsToReplace, by its name in Engine.Prompts, as those of debates are.
func TestEveryPromptIsTheHostsToReplace(t *testing.T) {
	var seen strings.Builder
	for _, change := range []func(*deliberation.Config){
		func(c *deliberation.Config) {
			c.Termination.Kind, c.Clarification.On = deliberation.TerminationConvergence, true
			c.Unattended = true
		},
		func(c *deliberation.Config) {
			c.Termination.Kind, c.Synthesis = deliberation.TerminationQuality, deliberation.SynthesisMerge
		},
		func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting },
	} {
		config := three()
		config.Rounds = 5
		change(&config)
		engine, p := engineFor(sized(func(string) int { return replyLength }))
		engine.Prompts = replaced()
		assert.Equal(t, flow.StateCompleted, play(t, engine, config).State)
		for _, req := range p.Requests() {
			seen.WriteString(req.System + req.Last.Text)
			assert.Contains(t, req.System, "[deliberation.system]", req.ID)
			assert.NotContains(t, req.System+req.Last.Text, "agents work on the problem below", req.ID)
		}
	}
	names := slices.Sorted(maps.Keys(replaced()))
	assert.Len(t, names, 14)
	for _, name := range names {
		assert.Contains(t, seen.String(), "["+name+"]")
	}
}

// TestOnePromptIsReplaced, and sees its data; the others stay as they are.
func TestOnePromptIsReplaced(t *testing.T) {
	const own = "Criticise it in one sentence. {{.Focus}}"
	engine, p := engineFor(nil)
	engine.Prompts = map[string]string{"deliberation.critique": own}
	play(t, engine, three())
	role, err := deliberation.FindRole(deliberation.RoleArchitect, nil)
	require.NoError(t, err)
	text := prompt(t, p, "r1.critique.ada.ben")
	assert.True(t, strings.HasSuffix(text, "\nCriticise it in one sentence. "+role.Critique), text)
	plain, q := engineFor(nil)
	play(t, plain, three())
	assert.Equal(t, prompt(t, q, "r1.refine.ada"), prompt(t, p, "r1.refine.ada"))
	assert.Equal(t, prompt(t, q, "synthesis"), prompt(t, p, "synthesis"))
}

// TestReplacementsThatAreRefused: before anything is asked.
func TestReplacementsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ name, text, want string }{
		"unknown name":  {"deliberation.ponder", "x", `no template "deliberation.ponder" is known: there are `},
		"unknown field": {"deliberation.refine", "{{.Colour}}", "Colour"},
		"broken":        {"deliberation.merge", "{{", `"deliberation.merge"`},
		"empty":         {"deliberation.merge", " ", "yields no text"},
		"no markers":    {"deliberation.system", "Solve {{.Problem}}{{with .Context}}<<<{{$.Fence}} context>>>{{.}}<<<end {{$.Fence}}>>>{{end}}", "never explains the markers"},
		"no fields":     {"deliberation.vote", "Rank them.", "never says which fields the answer has"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(nil)
			engine.Prompts = map[string]string{test.name: test.text}
			_, err := engine.Start(t.Context(), three())
			require.ErrorContains(t, err, "Prompts")
			require.ErrorContains(t, err, test.want)
		})
	}
}
