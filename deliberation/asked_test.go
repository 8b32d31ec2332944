package deliberation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// structured returns the requests for JSON of deliberations that end in each way, by the name of their schema: an agent's vote counts as
// that of the judge.
func structured(t *testing.T) map[string]provider.Request {
	t.Helper()
	out := map[string]provider.Request{}
	for _, change := range []func(*deliberation.Config){
		func(c *deliberation.Config) {
			c.Termination.Kind, c.Clarification.On, c.Unattended = deliberation.TerminationConvergence, true, true
		},
		func(c *deliberation.Config) {
			c.Termination.Kind, c.Synthesis = deliberation.TerminationQuality, deliberation.SynthesisMerge
		},
		func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting },
	} {
		config := three()
		change(&config)
		engine, p := engineFor(nil)
		play(t, engine, config)
		for _, req := range p.Requests() {
			if req.Schema != nil {
				name, _, _ := strings.Cut(req.Schema.Name, "-")
				out[name+" "+callOf(&req)] = req
			}
		}
	}
	return out
}

// TestTextAndSchemaAgree: the instruction of every request names the fields of its schema, in their order, and no schema says it again.
func TestTextAndSchemaAgree(t *testing.T) {
	all := structured(t)
	for _, want := range []string{
		"questions clarify.1.ada", "confidence r1.evaluate", "quality r1.evaluate", "solution synthesis", "solution synthesis.ada", "vote vote.ada",
		"vote vote.judge",
	} {
		assert.Contains(t, all, want)
	}
	for _, req := range all {
		stage.AssertAsked(t, &req)
		assert.NotContains(t, req.Last.Text, "\uE000", "every placeholder is filled")
		assert.NotContains(t, string(req.Schema.JSON), `"description":"`)
	}
}

// TestReasonsComeFirst: what a mark rests on is written before it.
func TestReasonsComeFirst(t *testing.T) {
	want := map[string][]string{
		"questions":  {"questions"},
		"confidence": {"disagreements", "reasoning", "confidence"},
		"quality":    {"requirements", "reasoning", "quality"},
		"vote":       {"reasoning", "ranking"},
		"solution":   {"solution", "requirements", "implementation", "tradeoffs", "recommendations", "openQuestions", "confidence"},
	}
	for name, req := range structured(t) {
		stage.AssertReasonsFirst(t, &req)
		var top []string
		for _, f := range stage.FieldsSent(t, req.Schema.JSON) {
			if !strings.Contains(f.Path, ".") {
				top = append(top, f.Path)
			}
		}
		kind, _, _ := strings.Cut(name, " ")
		assert.Equal(t, want[kind], top, name)
	}
}

// TestAVoteNamesWhomItRanks, in the order in which the voter reads the proposals: in the instruction and in the schema.
func TestAVoteNamesWhomItRanks(t *testing.T) {
	all := structured(t)
	for voter, ids := range map[string]string{"ada": `"ben","cyd"`, "ben": `"cyd","ada"`, "cyd": `"ada","ben"`, "judge": `"ben","cyd","ada"`} {
		req := all["vote vote."+voter]
		require.NotNil(t, req.Schema, voter)
		shown := strings.Split(strings.ReplaceAll(ids, `"`, ""), ",")
		at := -1
		for _, id := range shown {
			next := strings.Index(req.Last.Text, " "+id+": proposal>>>")
			assert.Greater(t, next, at, "%s in the vote of %s", id, voter)
			at = next
		}
		assert.Contains(t, string(req.Schema.JSON), `"enum":[`+ids+`]`, voter)
		assert.Contains(t, req.Last.Text, "the ids of their authors, "+strings.ReplaceAll(ids, ",", ", ")+": the best first", voter)
	}
}

// TestRefineReadsOthersBeforeConvergence: where the judge may find that the agents agree, each refinement shows what the others propose, as
// it stood when the refining began. Otherwise it shows what was said of the agent's own proposal alone.
func TestRefineReadsOthersBeforeConvergence(t *testing.T) {
	const also = "also from their proposals above"
	for name, test := range map[string]struct {
		change func(*deliberation.Config)
		reads  bool
	}{
		"fixed":       {func(*deliberation.Config) {}, false},
		"quality":     {func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationQuality }, false},
		"convergence": {func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationConvergence }, true},
		"fresh proposals": {func(c *deliberation.Config) {
			c.Termination.Kind, c.Proposals = deliberation.TerminationConvergence, deliberation.ProposalsFresh
		}, true},
		"the whole history": {func(c *deliberation.Config) {
			c.Termination.Kind, c.FullHistory = deliberation.TerminationConvergence, new(true)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Rounds = 3
			test.change(&config)
			engine, p := engineFor(nil)
			play(t, engine, config)
			for call, theirs := range map[string][]string{
				"r1.refine.ada": {"r1.propose.ben", "r1.propose.cyd"}, "r2.refine.ada": {"r1.refine.ben", "r1.refine.cyd"},
			} {
				if config.Proposals == deliberation.ProposalsFresh {
					for i := range theirs {
						theirs[i] = call[:2] + ".propose." + theirs[i][len(theirs[i])-3:]
					}
				}
				text := prompt(t, p, call)
				assert.Equal(t, test.reads, strings.Contains(text, also), call)
				for _, id := range theirs {
					assert.Equal(t, map[bool]int{true: 1}[test.reads], strings.Count(text, said(id)), "%s in %s", id, call)
				}
				assert.NotContains(t, text, said(call[:2]+".refine.ben"), "it is written at the same time")
			}
		})
	}
}

// converging is a deliberation by hand whose agents refine for the first time.
func converging(t *testing.T) *flowtest.Hand {
	t.Helper()
	config := three()
	config.Termination.Kind = deliberation.TerminationConvergence
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config)
	ids := []string{"ada", "ben", "cyd"}
	for _, id := range ids {
		h.Say("r1.propose."+id, said("r1.propose."+id))
	}
	for _, id := range ids {
		for _, target := range ids {
			if target != id {
				h.Say("r1.critique."+id+"."+target, "It is thin.")
			}
		}
	}
	return h
}

// TestOthersProposalsAreLeftOutFirst: what a refinement could do without is no reason to cut what it is about. Its instruction does not
// change because another agent is faster.
func TestOthersProposalsAreLeftOutFirst(t *testing.T) {
	h := converging(t)
	whole := h.Prompt("r1.refine.ada")
	assert.Contains(t, whole, "The others' proposals:\n")
	h.Say("r1.refine.ben", said("r1.refine.ben"))
	command, err := h.Command("r1.refine.ada")
	require.NoError(t, err)
	assert.Equal(t, whole, command.Request.Last.Text)

	config := three()
	config.Rounds, config.MaxTokens, config.Termination.Kind = 2, 1024, deliberation.TerminationConvergence
	notes := map[string]string{}
	for window := 12_000; window > 4_500 && notes["short2"] == ""; window -= 200 { // from one that holds all to one that does not hold the rest
		engine, p := engineFor(sized(func(string) int { return replyLength }))
		engine.Models = map[string]flow.Model{"test/agent": {Window: window}}
		play(t, engine, config)
		for _, req := range p.Requests() {
			_, short, ok := strings.Cut(req.ID, "/r1.refine.ada.")
			if !ok {
				continue
			}
			short, _, _ = strings.Cut(short, "/")
			text := req.Last.Text
			notes[short] = text[strings.LastIndex(text, "\n\n"):]
			assert.NotContains(t, text, said("r1.propose.ben"))
			assert.NotContains(t, text, "also from their proposals above", "there are none")
			if short == "short1" {
				assert.Contains(t, text, said("r1.propose.ada"))
				assert.Contains(t, text, said("r1.critique.ben.ada"))
				assert.NotContains(t, text, "[…cut]")
			}
		}
	}
	assert.Contains(t, notes["short1"], "the refinement is made without the others' proposals.")
	assert.Contains(t, notes["short2"], "without the others' proposals, of a part of each text.")
}

// TestOldDeliberationsAreAskedAsBefore: a log of the first version has its own texts, which speak of no others.
func TestOldDeliberationsAreAskedAsBefore(t *testing.T) {
	log := slices.Clone(converging(t).Log)
	for i := range log {
		if start, ok := log[i].Body.(*flow.Start); ok {
			old := *start
			old.FlowVersion, old.Texts = 1, map[string]string{"ask.refine.ada": "Rewrite your latest proposal by what was said of it."}
			log[i].Body = &old
		}
	}
	engine, _ := engineFor(nil)
	core := stage.CoreOf(t, engine, "test", log)
	command, err := core.Command("r1.refine.ada")
	require.NoError(t, err)
	text := command.Request.Last.Text
	assert.True(t, strings.HasSuffix(text, "Rewrite your latest proposal by what was said of it."), text)
	assert.NotContains(t, text, said("r1.propose.ben"))
}

// TestAgentsKnowTheProcess, and that what people have answered binds, where there is anything to answer; and in which language to write.
func TestAgentsKnowTheProcess(t *testing.T) {
	const binds = `under "Clarifications", binds like the problem itself`
	for _, known := range []bool{false, true} {
		config := three()
		if config.Language = "Bahasa Indonesia"; known {
			config.Language = ""
			config.Clarification.Known = []deliberation.KnownAnswer{{Question: "Which database?", Answer: "PostgreSQL"}}
		}
		engine, p := engineFor(nil)
		play(t, engine, config)
		for _, req := range p.Requests() {
			assert.Contains(t, req.System, "3 agents work on the problem below. Each writes a proposal", req.ID)
			assert.Equal(t, known, strings.Contains(req.System, binds), req.ID)
			assert.Contains(t, req.System, map[bool]string{true: "Write in the language of the problem", false: "Write in Bahasa Indonesia"}[known], req.ID)
		}
	}
}
