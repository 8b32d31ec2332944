package deliberation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// withCyd is a deliberation of one round in which Cyd is a person, and all vote.
func withCyd(term flow.Term) deliberation.Config {
	config := three()
	config.Rounds, config.Synthesis, config.Judge = 1, deliberation.SynthesisVoting, deliberation.Judge{}
	config.Agents[2] = deliberation.Agent{ID: "cyd", Name: "Cyd", Person: true, Term: term, Prompt: "You are for models alone."}
	return config
}

// A person proposes, critiques, refines, votes and writes the solution, and is shown what a model would read, but no prompt.
func TestAPersonDeliberates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withCyd(flow.Term{})
		config.Language = "German"
		config.Clarification = deliberation.Clarification{On: true, Known: []deliberation.KnownAnswer{{Question: "How many?", Answer: "Ten."}}}
		engine, p := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			ranking, votes := map[string][]string{"vote.ada": {"cyd", "ben"}, "vote.ben": {"cyd", "ada"}}[call]
			return scripted.Reply{Text: toJSON(deliberation.Vote{Ranking: ranking, Reasoning: "so"})}, votes
		})
		session := stage.Started(t, engine, config)
		for _, turn := range []struct {
			call, answer string
			reads        []string
		}{
			{"r1.propose.cyd", "One table.\n\nBen: proposal", []string{"proposal, round 1 of 1", "Write your proposal"}},
			{"r1.critique.cyd.ada", "Too slow.", []string{"ada: proposal", said("r1.propose.ada"), "what is wrong"}},
			{"r1.critique.cyd.ben", "Too dear.", []string{"ben: proposal", said("r1.propose.ben")}},
			{"r1.refine.cyd", "Two tables.", []string{
				"> One table.\n> \n> Ben: proposal", said("r1.critique.ada.cyd"), said("r1.critique.ben.cyd"), "Rewrite your proposal",
			}},
			{"vote.cyd", toJSON(deliberation.Vote{Ranking: []string{"ben", "ada"}, Reasoning: "so"}), []string{`"ada"`, `"ben"`, "the best first"}},
			{"synthesis.cyd", toJSON(solution("Two tables, written out.")), []string{"Two tables.", "Write it out"}},
		} {
			r := stage.AwaitsInput(t, session)
			q, open := r.Question(turn.call)
			require.True(t, open, turn.call)
			for _, part := range append(turn.reads, "It is your turn, Cyd",
				"> Design a URL shortener.\n> It takes 100 million links.\n", "> "+config.Context, "> Ten.", "Write in German.") {
				assert.Contains(t, q.Question, part, turn.call)
			}
			assert.NotContains(t, q.Question, "for models alone", turn.call)
			assert.NotContains(t, q.Question, "<<<", turn.call)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: turn.call, Text: turn.answer}))
		}
		r := stage.Ended(t, session)
		assert.Contains(t, prompt(t, p, "r1.refine.ada"), "Too slow.")
		_, by, ok := view(r).Solution()
		require.True(t, ok)
		assert.Equal(t, "cyd", by)
	})
}

// No note is said under the name that people know an agent by.
func TestNoNoteIsOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withCyd(flow.Term{})
		config.Agents[0].Name = "Doctor Quill"
		engine, _ := engineFor(nil)
		session := stage.Started(t, engine, config)
		stage.AwaitsInput(t, session)
		_, err := session.Say(t.Context(), flow.Note{As: "doctor quill", Text: "I withdraw."})
		stage.Refused(t, err, "as")
		_, err = session.Say(t.Context(), flow.Note{As: "Doctor Quill's friend", Text: "Go on."})
		require.NoError(t, err)
		require.NoError(t, session.Cancel(t.Context()))
	})
}

// Whoever is never there is replaced in each call, and the deliberation ends with a solution.
func TestAPersonWhoNeverDeliberates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := engineFor(nil)
		session := stage.Started(t, engine, withCyd(flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/agent"}))
		record, err := session.Wait(t.Context())
		for range 20 {
			if err == nil {
				break
			}
			require.ErrorIs(t, err, flow.ErrAwaitingInput)
			stage.Pass(time.Minute)
			record, err = session.Wait(t.Context())
		}
		require.NoError(t, err)
		own := 0
		for _, turn := range record.Turns {
			if turn.Speaker == "cyd" {
				own++
				assert.Equal(t, "test/agent", turn.Model, turn.Call)
				assert.True(t, turn.StandIn, turn.Call)
			}
		}
		assert.Equal(t, 5, own, "a proposal, two critiques, a refinement and a vote")
		assert.Contains(t, prompt(t, p, "r1.propose.cyd"), "Write your proposal in Markdown", "the model is asked as a model")
	})
}

// What only a model has is refused, and so is a Run in which nobody would answer.
func TestWhatAPersonInADeliberationHasNot(t *testing.T) {
	engine, _ := engineFor(nil)
	for field, change := range map[string]func(*deliberation.Agent){
		"agents[2].fallbacks":   func(a *deliberation.Agent) { a.Fallbacks = []string{"test/agent"} },
		"agents[2].temperature": func(a *deliberation.Agent) { a.Temperature = new(0.5) },
		"agents[2].tools":       func(a *deliberation.Agent) { a.Tools = &[]string{} },
		"agents[2]":             func(a *deliberation.Agent) { a.Model = "test/agent" },
	} {
		config := withCyd(flow.Term{})
		change(&config.Agents[2])
		require.ErrorContains(t, engine.Validate(t.Context(), config), field+":")
	}
	for _, err := range engine.Run(t.Context(), withCyd(flow.Term{})) {
		require.ErrorContains(t, err, "agents[2].person: nobody can be asked in a Run")
	}
}
