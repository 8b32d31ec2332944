package deliberation_test

import (
	"os"
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

const flowsPage = "../docs/internal/flows.md"

// promptRow is a row of the page's table of prompts.
type promptRow struct {
	prompt, call string
	contains     []string
}

// TestPromptsContainWhatTheTableSays holds the prompts to the page, so that nothing is saved by leaving out what
// somebody needs.
func TestPromptsContainWhatTheTableSays(t *testing.T) {
	t.Parallel()
	base := three()
	base.Clarification.On = true
	summarized := func(c *deliberation.Config) {
		c.Rounds, c.Summaries = 5, deliberation.Summaries{Threshold: 1, MaxLength: 100}
	}
	variants := map[string]func(*deliberation.Config){
		"fresh proposal":                        func(c *deliberation.Config) { c.Proposals = deliberation.ProposalsFresh },
		"summary":                               summarized,
		"refinement after a summary":            summarized,
		"solution by the judge, with summaries": summarized,
		"refinement towards convergence":        func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationConvergence },
		"confidence":                            func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationConvergence },
		"quality":                               func(c *deliberation.Config) { c.Termination.Kind = deliberation.TerminationQuality },
		"vote":                                  func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting },
		"solution by vote":                      func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisVoting },
		"merge":                                 func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisMerge },
		"solution by merging":                   func(c *deliberation.Config) { c.Synthesis = deliberation.SynthesisMerge },
	}
	page, err := os.ReadFile(flowsPage)
	require.NoError(t, err)
	table := stage.TableAfter(t, string(page), "prompt", "call in that test")
	require.Len(t, table, 1+16)
	for _, cells := range table[1:] {
		row := promptRow{cells[0], strings.Trim(cells[1], "`"), strings.Split(cells[2], ", ")}
		t.Run(row.prompt, func(t *testing.T) {
			config := base
			if change := variants[row.prompt]; change != nil {
				change(&config)
			}
			r, p := asked(t, config, row.call == "r2.refine.ada")
			text := prompt(t, p, row.call)
			for _, what := range row.contains {
				texts := meant(t, r, row, what)
				require.NotEmpty(t, texts, what)
				for _, want := range texts {
					assert.Equal(t, 1, strings.Count(text, want), "%s: %q", what, want)
				}
			}
			golden(t, "prompts/"+strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(row.prompt)+".txt", text)
		})
	}
}

// asked plays a deliberation in which Ada and Ben ask and a person answers; with findings of an added node, if wanted.
func asked(t *testing.T, config deliberation.Config, findings bool) (*flow.Record, *scripted.Provider) {
	t.Helper()
	engine, p := engineFor(nil)
	own := curious(map[string][]string{"clarify.1.ada": {"How many users?"}, "clarify.2.ben": {"What of Mars?"}})
	p.Reply = script(own)
	if config.Summaries.MaxLength > 0 { // texts that are worth summarising
		p.Reply = script(wordyOr(own))
	}
	if findings {
		require.NoError(t, deliberation.Insert(engine.Flows[deliberation.FlowName], deliberation.StateCritiquing, checking()))
	}
	return answered(t, engine, config), p
}

func wordyOr(own answers) answers {
	pad := sized(func(string) int { return replyLength })
	return func(call string, req *provider.Request) (scripted.Reply, bool) {
		if reply, ok := own(call, req); ok {
			return reply, ok
		}
		return pad(call, req)
	}
}

// meant returns the texts that a name in the table stands for.
func meant(t *testing.T, r *flow.Record, row promptRow, what string) []string {
	t.Helper()
	brings := func(ids ...string) []string {
		for i := range ids {
			ids[i] = said(ids[i])
		}
		return ids
	}
	switch what {
	case "problem":
		return []string{"Design a URL shortener.\nIt takes 100 million links."}
	case "context":
		return []string{"The team runs PostgreSQL."}
	case "clarifications so far":
		return []string{"question of ada>>>\nHow many users?\n", "answer of a person>>>\nAnswered question.1.ada.1.\n"}
	case "clarifications":
		return []string{
			"question of ada>>>\nHow many users?\n", "answer of a person>>>\nAnswered question.1.ada.1.\n",
			"question of ben>>>\nWhat of Mars?\n", "answer of a person>>>\nAnswered question.2.ben.1.\n",
		}
	case "role", "judge":
		return []string{sourceOf(t, r, row)}
	case "own history", "own history since":
		return map[string][]string{
			"r2.propose.ada":   brings("r1.propose.ada", "r1.critique.ben.ada", "r1.critique.cyd.ada"),
			"r2.refine.ada":    brings("r1.propose.ada", "r1.critique.ben.ada", "r1.critique.cyd.ada", "r1.check.ada"),
			"r3.summarize.ada": brings("r1.refine.ada", "r2.critique.ben.ada", "r2.critique.cyd.ada"),
		}[row.call]
	case "own proposal":
		return brings(map[string]string{"r2.propose.ada": "r1.refine.ada", "r2.refine.ada": "r1.refine.ada", "r3.refine.ada": "r2.refine.ada"}[row.call])
	case "target's proposal":
		return brings("r1.refine.ben")
	case "critiques of it":
		round := row.call[:2]
		return brings(round+".critique.ben.ada", round+".critique.cyd.ada")
	case "findings about it":
		return brings("r2.check.ada")
	case "former summary":
		return brings("r2.summarize.ada")
	case "summary":
		return brings("r3.summarize.ada")
	case "others' proposals":
		return brings("r1.refine.ben", "r1.refine.cyd")
	case "all proposals":
		return brings("r1.refine.ada", "r1.refine.ben", "r1.refine.cyd")
	case "others' final proposals":
		return brings("r2.refine.ben", "r2.refine.cyd")
	case "two final proposals":
		return brings("r2.refine.ada", "r2.refine.ben")
	case "winning proposal":
		return brings("r2.refine.ada")
	case "merged proposal":
		return brings("merge.2.1")
	default:
		return whole(r, what)
	}
}

// whole returns what of all rounds a synthesis reads.
func whole(r *flow.Record, what string) []string {
	var out []string
	switch what {
	case "all rounds":
		for _, c := range view(r).Contributions() {
			out = append(out, c.Text)
		}
	case "all final proposals":
		for _, c := range view(r).Contributions() {
			if c.Kind == deliberation.KindRefinement && c.Round == r.Round {
				out = append(out, firstLine(c.Text))
			}
		}
	case "all summaries":
		last := map[string]string{}
		for _, s := range view(r).Summaries() {
			last[s.Agent] = firstLine(s.Text)
		}
		for _, text := range last {
			out = append(out, text)
		}
	}
	return out
}

func firstLine(text string) string {
	before, _, _ := strings.Cut(text, " ü")
	return before
}

func sourceOf(t *testing.T, r *flow.Record, row promptRow) string {
	t.Helper()
	for _, source := range view(r).Prompts() {
		if strings.Contains(row.call+".", "."+source.Who+".") && source.Who != "judge" {
			return source.Text
		}
		if source.Who == "judge" {
			return source.Text
		}
	}
	return ""
}
