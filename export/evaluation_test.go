package export_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// evaluate plays an evaluation by three evaluators: they differ on security, and the third one never answers.
func evaluate(t *testing.T, words string) *export.Document {
	t.Helper()
	d := &export.Document{}
	reply := func(req *provider.Request) scripted.Reply {
		if req.Self == "cyd" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindContentFilter}}
		}
		mark := evaluation.Mark{Reasoning: "It says how. " + words, Score: 8}
		m := evaluation.Marks{
			FunctionalCompleteness: mark, PerformanceScalability: mark, Security: mark, MaintainabilityEvolvability: mark,
			RegulatoryCompliance: mark, Testability: mark, RequirementsFulfilment: mark, Overall: mark,
		}
		if m.Overall.Score = 7; req.Self == "ben" {
			m.Security.Score, m.Overall.Score = 3, 6
		}
		return says(toJSON(m))
	}
	synctest.Test(t, func(t *testing.T) {
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: reply}},
			Flows:     map[string]*flow.Flow{evaluation.FlowName: evaluation.Flow()}, Seed: func() string { return seed },
			Models: map[string]flow.Model{"acme/large": {Priced: true, Input: 3 * flow.USD / 1_000_000}, "acme/small": {Priced: true}},
		}
		session, err := engine.Start(t.Context(), &evaluation.Config{
			ID: "scores", Problem: "Design the sale of concert tickets.\n\nA *popular* concert sells out in a minute. " + words,
			Context: "Today one PostgreSQL does it all. " + words, Solution: "# A queue before the seats\n\nWhoever comes gets a number. " + words,
			Unattended: true, OnFailure: []flow.FailureRule{{Do: flow.OptionSkip}},
			Evaluators: []evaluation.Evaluator{
				{ID: "ada", Model: "acme/large"}, {ID: "ben", Model: "acme/small", Prompt: "You look for holes."}, {ID: "cyd", Model: "acme/small"},
			},
		})
		require.NoError(t, err)
		d.Record, err = session.Wait(t.Context())
		require.NoError(t, err)
		for event, err := range engine.Events(t.Context(), session.ID(), 0) {
			require.NoError(t, err)
			d.Tell(event)
		}
		require.NoError(t, engine.Shutdown(t.Context()))
	})
	return d
}

// TestAnEvaluationIsShownAsWhatItIs: its problem, the solution, and the scores by criterion and evaluator.
func TestAnEvaluationIsShownAsWhatItIs(t *testing.T) {
	d := evaluate(t, "")
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	require.NoError(t, d.HTML(&page))
	golden(t, "evaluation.md", md.Bytes())
	golden(t, "evaluation.html", page.Bytes())
	for _, part := range []string{
		"## Problem", "## Scores by criterion", "## Solution", "## Evaluators", "2 of 3 have answered", "6.5 of 10",
		"the scores differ by 5 at most: Security, from 3 to 8", "| 8 | 3 | – | 5.5 | 2.50 |", "## Reasons of ben",
	} {
		assert.Contains(t, md.String(), part)
	}
	assert.Equal(t, 16, strings.Count(page.String(), `<circle class="dot`), "a dot for each score")
	assert.NotContains(t, md.String(), "Reasons of cyd")
}

// TestAnEvaluationIsHarmless: what models and users wrote stays text.
func TestAnEvaluationIsHarmless(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, evaluate(t, `<script>alert(1)</script><img src=x onerror=alert(1)>`).HTML(&page))
	assert.NotContains(t, page.String(), "<script")
	assert.NotContains(t, page.String(), "<img")
	assert.Contains(t, page.String(), "&lt;script&gt;")
}
