package main

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/provider"
)

// begin starts a review with at most one revision. Nobody answers by themselves.
func begin(t *testing.T, edit func(*Config)) *flowtest.Hand {
	p := func(name string) Person { return Person{name, "test/m"} }
	c := &Config{Subject: "stairs", Author: p("Ada"), Reviewers: []Person{p("Rolf"), p("Ruth")}, Editor: p("Eve"), Revisions: new(1)}
	edit(c)
	return flowtest.Begin(t, &debate.Engine{
		Flows: map[string]*debate.Flow{flowName: reviewFlow()}, Providers: map[string]debate.Provider{"test": script()},
	}, c)
}

func round(h *flowtest.Hand, n, decision string) {
	h.Say(n+".draft.Ada", "A draft.")
	h.Say(n+".review.Ruth", "A review.")
	h.Say(n+".review.Rolf", "Another.")
	h.Say(n+".decision.Eve", `{"decision":"`+decision+`","reasons":"So."}`)
}

func TestNoRevisionIsLeft(t *testing.T) {
	h := begin(t, func(*Config) {})
	round(h, "r1", "revise")
	round(h, "r2", "revise")
	assert.Contains(t, h.Prompt("r2.decision.Eve"), "no revision is left")
	h.Say("r2.decision.Eve", `{"decision":"reject","reasons":"No."}`)
	assert.Contains(t, h.Prompt("letter"), "your decision: reject")
	h.Say("letter", "Dear Ada")
	r := h.Reload()
	assert.Equal(t, flow.StateCompleted, r.State)
	assert.Equal(t, flow.EndReason("reject"), r.Reason)
}

func TestAPersonDoesWithoutAReview(t *testing.T) {
	h := begin(t, func(*Config) {})
	h.Say("r1.draft.Ada", "A draft.")
	h.Fail("r1.review.Rolf", provider.KindRefusal)
	h.Do(flow.Answer{Inquiry: h.Record().Inquiries[0].ID, Option: flow.OptionSkip})
	h.Say("r1.review.Ruth", "A review.")
	assert.Equal(t, deciding, h.Reload().State)
}

func TestAStoppedReviewOwesItsLetter(t *testing.T) {
	h := begin(t, func(c *Config) { c.Unattended = true })
	h.Say("r1.draft.Ada", "A draft.")
	h.Do(flow.Stop{})
	assert.Contains(t, h.Prompt("letter"), "Nobody has decided yet")
	h.Fail("letter", provider.KindRefusal)
	assert.Equal(t, flow.StateError, h.Reload().State)
	h.Do(flow.Retry{})
	h.Say("letter", "Dear Ada")
	assert.Equal(t, flow.StateCompleted, h.Reload().State)
}

func TestTheReviewReadsAsItShould(t *testing.T) {
	var out bytes.Buffer
	engine, model := stage.Choose(func(string) string { return "" }, script())
	synctest.Test(t, func(t *testing.T) { require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model)) })
	assert.Contains(t, out.String(), "Dear ")
}
