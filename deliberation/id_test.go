package deliberation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestIdsAsPeopleWriteThem: a deliberation between such agents is played to its end, by every method.
func TestIdsAsPeopleWriteThem(t *testing.T) {
	ids := []string{"System Architect", "Dr. Zoë O’Neil Jr.", "性能 " + strings.Repeat("x", 61)}
	for _, synthesis := range []string{deliberation.SynthesisJudge, deliberation.SynthesisMerge, deliberation.SynthesisVoting} {
		config := three()
		config.Synthesis, config.Clarification.On, config.Termination.Kind = synthesis, true, deliberation.TerminationQuality
		for i, id := range ids {
			config.Agents[i].ID = id
		}
		engine, _ := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
			switch {
			case strings.HasPrefix(call, "clarify.1."):
				return scripted.Reply{Text: toJSON(map[string]any{"questions": []string{"What of " + req.Self + "?"}})}, true
			case strings.HasPrefix(call, "vote."):
				var ranking []string
				for _, id := range ids {
					if id != req.Self {
						ranking = append(ranking, id)
					}
				}
				return scripted.Reply{Text: toJSON(deliberation.Vote{Ranking: ranking, Reasoning: "so"})}, true
			}
			return scripted.Reply{}, false
		})
		config.ID = "ids-" + synthesis
		answered(t, engine, config)
		session := stage.Reopen(t, engine, config.ID)
		r := stage.Ended(t, session)
		require.NoError(t, session.Close())
		assert.Equal(t, flow.StateCompleted, r.State)
		assert.Empty(t, r.Warnings)
		assert.Len(t, view(r).Contributions(), 3+2*9)
		assert.Len(t, view(r).Clarifications(), 3)
		for _, q := range view(r).Clarifications() {
			assert.Equal(t, "What of "+q.Agents[0]+"?", q.Question)
			assert.True(t, q.Answered)
		}
		_, _, ok := solved(r)
		assert.True(t, ok)
	}
}

// TestIdsThatAreRefused: those that could be taken for another, or for a part of an id of a call.
func TestIdsThatAreRefused(t *testing.T) {
	for id, want := range map[string]string{
		"":                      "is empty",
		"a.b":                   "dot",
		".a":                    "dot",
		"ada.short1":            "dot",
		"ada\nben":              "does not print",
		"<ada>":                 "'<'",
		strings.Repeat("x", 65): "64",
		"BEN":                   "can be confused",
		"Вen":                   "can be confused", // its first letter is Cyrillic
		"Judge":                 "library",
		"person":                "library",
		"synthesizer":           "library",
		"Summarizer":            "library",
	} {
		config := three()
		config.Agents[0].ID = id
		engine, _ := engineFor(nil)
		require.ErrorContains(t, engine.Validate(t.Context(), config), want, id)
	}
}
