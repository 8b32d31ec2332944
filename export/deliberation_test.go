package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// tickets is a deliberation about the sale of concert tickets.
func tickets() deliberation.Config {
	return deliberation.Config{
		ID: "tickets", Problem: "Design the sale of concert tickets.\n\nA *popular* concert sells out in a minute.",
		Context: "Today one PostgreSQL does it all.", Rounds: 3,
		Agents: []deliberation.Agent{
			{ID: "ada", Name: "System Architect", Role: deliberation.RoleArchitect, Model: "acme/large", Fallbacks: []string{"acme/small"}},
			{ID: "ben", Role: deliberation.RolePerformance, Model: "acme/small"},
			{ID: "cyd", Role: deliberation.RoleSimplicity, Model: "acme/small", Prompt: "You are plain."},
		},
		Judge: deliberation.Judge{Model: "acme/large"}, Clarification: deliberation.Clarification{On: true, Iterations: 1},
		Termination: deliberation.Termination{Kind: deliberation.TerminationConvergence},
		Proposals:   deliberation.ProposalsFresh, Summaries: deliberation.Summaries{Threshold: 1, MaxLength: 100},
	}
}

// ticketReply is what everybody says; any free text says words.
func ticketReply(words string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		name := ""
		if req.Schema != nil {
			name, _, _ = strings.Cut(req.Schema.Name, "-")
		}
		requirements := []deliberation.Requirement{
			{Text: "no seat is sold twice " + words, Major: true, Fulfilled: true, Note: "by a unique index " + words},
			{Text: "resale", Note: "left out"},
		}
		var answer any
		switch name {
		case "questions":
			answer = map[string]any{"questions": []string{"How many seats are there, asks " + req.Self + "? " + words[:min(len(words), 200)]}}
		case "confidence":
			answer = deliberation.Confidence{Confidence: 72, Reasoning: "They differ on the queue. " + words, Disagreements: []string{"the queue " + words}}
		case "quality":
			answer = deliberation.Quality{Quality: 64, Reasoning: "It lacks resale. " + words, Requirements: requirements}
		case "vote":
			ranking := slices.DeleteFunc([]string{"ada", "ben", "cyd"}, func(id string) bool { return id == req.Self })
			answer = deliberation.Vote{Ranking: ranking, Reasoning: "In this order. " + words}
		case "solution":
			answer = deliberation.Solution{
				Description: "# A queue before the seats\n\nWhoever comes gets a **ticket number**. " + words, Confidence: 82, Requirements: requirements,
				Implementation: []string{"begin with `SELECT … FOR UPDATE` " + words}, Tradeoffs: []string{"waiting for fairness"},
				Recommendations: []string{"measure"}, OpenQuestions: []string{"Who refunds?"},
			}
		default:
			_, call, _ := strings.Cut(req.ID, "/")
			return says("What *" + req.Self + "* says in " + call + ". " + words + strings.Repeat(" More of it.", 100))
		}
		return says(toJSON(answer))
	}
}

// deliberate plays a deliberation in which a person answers the question of Ada and leaves the others open.
func deliberate(t *testing.T, config deliberation.Config, words string) *export.Document {
	t.Helper()
	d := &export.Document{}
	reply := ticketReply(words)
	small := func(req *provider.Request) scripted.Reply { // as small as the smallest request, so that none costs more than was reserved
		r := reply(req)
		r.Usage.Input, r.Usage.CachedInput = 900, 0
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: small}},
			Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()}, Seed: func() string { return seed },
			Models: map[string]flow.Model{"acme/large": {Priced: true, Input: 3 * flow.USD / 1_000_000}, "acme/small": {Priced: true}},
		}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		for d.Record, err = session.Wait(t.Context()); errors.Is(err, flow.ErrAwaitingInput); d.Record, err = session.Wait(t.Context()) {
			for _, q := range d.Record.Inquiries {
				answer := deliberation.NotAnswered
				if strings.Contains(q.ID, ".ada.") {
					answer = "Some 18,000. " + words
				}
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: answer}))
			}
		}
		require.NoError(t, err)
		for event, err := range engine.Events(t.Context(), session.ID(), 0) {
			require.NoError(t, err)
			d.Tell(event)
		}
		require.NoError(t, engine.Shutdown(t.Context()))
	})
	return d
}

// TestADeliberationIsShownAsWhatItIs: its problem, roles, clarifications and solution as text, and nothing of a debate's.
func TestADeliberationIsShownAsWhatItIs(t *testing.T) {
	for name, change := range map[string]func(*deliberation.Config){
		"deliberation": func(*deliberation.Config) {},
		"vote": func(c *deliberation.Config) {
			c.Synthesis, c.Termination.Kind, c.Rounds, c.Context = deliberation.SynthesisVoting, deliberation.TerminationQuality, 2, ""
		},
		"merge": func(c *deliberation.Config) {
			c.Synthesis, c.Termination, c.Rounds = deliberation.SynthesisMerge, deliberation.Termination{}, 1
			c.Clarification = deliberation.Clarification{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := tickets()
			change(&config)
			d := deliberate(t, config, "")
			var md, page bytes.Buffer
			require.NoError(t, d.Markdown(&md))
			require.NoError(t, d.HTML(&page))
			for _, text := range []string{md.String(), page.String()} {
				for _, not := range []string{"verdict", "Verdict", "winner", "Winner", "Nobody", "{\"", "debate", "Participants", "Outcome"} {
					assert.NotContains(t, text, not)
				}
			}
			if name == "deliberation" {
				golden(t, name+".md", md.Bytes())
				golden(t, name+".html", page.Bytes())
			}
			for _, want := range []string{
				"# Design the sale of concert tickets.\n\nDeliberation tickets · 1 January 2000, 00:00:00 UTC\n\n", "## Problem\n\n> Design the sale", "A *popular* concert",
				"## Solution\n\n**By ", "> #### A queue before the seats", "### System Architect\n\nada · Architect · acme/large · then acme/small",
				"| no seat is sold twice | yes | yes | by a unique index |",
			} {
				assert.Contains(t, md.String(), want)
			}
			_, err := structures(d)
			require.NoError(t, err)
		})
	}
}

// TestAnUnfinishedDeliberation has no solution, and says so.
func TestAnUnfinishedDeliberation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: ticketReply("")}},
			Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()},
		}
		session := stage.Started(t, engine, tickets())
		record := stage.AwaitsInput(t, session)
		var md bytes.Buffer
		require.NoError(t, export.Markdown(&md, record))
		assert.Contains(t, md.String(), "## Solution\n\n**There is no solution yet.**")
		assert.Contains(t, md.String(), "The deliberation is not over")
	})
}

// TestAttacksOnDeliberations: hostile texts of models and people change nothing in the structure of the documents.
func TestAttacksOnDeliberations(t *testing.T) {
	t.Parallel()
	for _, method := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting} {
		config := tickets()
		config.Rounds, config.Synthesis = 2, method
		if method == deliberation.SynthesisVoting { // whether a summary is worth its prompt depends on how long the texts are
			config.Summaries = deliberation.Summaries{Off: true}
		}
		want, err := structures(deliberate(t, config, "harmless"))
		require.NoError(t, err)
		for i, name := range slices.Sorted(maps.Keys(attacks())) {
			if i%(2*every) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", method, name), func(t *testing.T) {
				got, err := structures(deliberate(t, config, strings.ToValidUTF8(attacks()[name], "")))
				require.NoError(t, err)
				assert.Equal(t, want, got)
			})
		}
	}
}
